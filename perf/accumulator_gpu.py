"""Updates on a GPU: `python -m perf.accumulator_gpu [STATE]` where PyTorch sees one.

A batch of 8 maps of 1280x720, five metrics. Prints the time until `update` returns, the time of an
update when many are queued, and what it starts on the GPU. STATE is a file for the sums and a hash
of the maps; `python -m perf.accumulator_gpu --compare STATE`, on any machine, scores the same maps
on the CPU and prints how far the numbers are apart.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path

import numpy as np

import depthgauge as dg

METRICS = ["badpix:1", "badpix:3", "d1", "mae", "rms"]
SHAPE = (8, 720, 1280)
UPDATES = 200


def maps(seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 60, SHAPE).astype(np.float32)
    # Quarters, so that many errors lie exactly on a threshold.
    steps = rng.integers(-20, 21, SHAPE).astype(np.float32) / np.float32(4)
    estimate = truth + steps
    truth[rng.random(SHAPE) < 0.3] = np.nan
    estimate[rng.random(SHAPE) < 0.05] = np.nan
    return estimate, truth, np.nan_to_num(truth) > 20


def hash_of(arrays):
    return hashlib.sha256(b"".join(values.tobytes() for values in arrays)).hexdigest()


def scored(estimate, truth, mask):
    accumulator = dg.Accumulator(METRICS, regions=["front"], quantity="disparity")
    accumulator.update(estimate, truth, front=mask)
    return accumulator


def compare(path):
    """The scores of the same maps on the CPU, beside those of the GPU."""
    stored = json.loads(Path(path).read_text())
    arrays = maps()
    assert stored["maps"] == hash_of(arrays), "the maps are others: another version of NumPy?"
    ours = scored(*arrays).compute()
    theirs = dg.Accumulator(METRICS, regions=["front"], quantity="disparity")
    theirs.load_state_dict(stored["state"])
    apart, counts = 0.0, 0
    for name, scores in theirs.compute().samples.items():
        for score_id, score in scores.items():
            expected = ours.samples[name][score_id]
            assert score.device == "cuda"
            assert (score.count, score.missing) == (expected.count, expected.missing)
            if score.unit == "%":
                assert score.value == expected.value, (name, score_id)
                counts += 1
            apart = max(apart, abs(score.value / expected.value - 1))
    print(f"{counts} counts over thresholds are equal; means differ by {apart:.1e} at most")


def timed(estimate, truth, **masks):
    """Milliseconds of an update: until it returns (median), and with the queue (mean)."""
    import torch

    accumulator = dg.Accumulator(METRICS, regions=tuple(masks), quantity="disparity")
    for _ in range(10):
        accumulator.update(estimate, truth, **masks)
    torch.cuda.synchronize()
    accumulator.reset()
    calls = []
    begin = time.perf_counter()
    for _ in range(UPDATES):
        start = time.perf_counter()
        accumulator.update(estimate, truth, **masks)
        calls.append(time.perf_counter() - start)
    torch.cuda.synchronize()
    queued = (time.perf_counter() - begin) / UPDATES
    return 1e3 * float(np.median(calls)), 1e3 * queued


def kernels(estimate, truth):
    """How many kernels an update starts, and how many copies and waits it makes."""
    from torch.profiler import ProfilerActivity, profile

    accumulator = dg.Accumulator(METRICS, quantity="disparity")
    accumulator.update(estimate, truth)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
        accumulator.update(estimate, truth)
    counts = {event.key: event.count for event in found.key_averages()}
    names = ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize")
    device_us = sum(event.self_device_time_total for event in found.key_averages())
    return {name: counts.get(name, 0) for name in names}, device_us


def main() -> None:
    import torch

    if sys.argv[1:2] == ["--compare"]:
        compare(sys.argv[2])
        return
    arrays = maps()
    estimate, truth, front = (torch.as_tensor(values, device="cuda") for values in arrays)
    print(torch.cuda.get_device_name(), "torch", torch.__version__, SHAPE, METRICS)
    print("update: {:.3f} ms until it returns, {:.3f} ms queued".format(*timed(estimate, truth)))
    both = timed(estimate, truth, front=front)
    print("with a second region: {:.3f} ms until it returns, {:.3f} ms queued".format(*both))
    found, on_device = kernels(estimate, truth)
    print(f"kernels, copies, waits: {found}; {on_device:.0f} us on the device")
    if sys.argv[1:]:
        state = scored(estimate, truth, front).state_dict()
        Path(sys.argv[1]).write_text(json.dumps({"maps": hash_of(arrays), "state": state}))


if __name__ == "__main__":
    main()
