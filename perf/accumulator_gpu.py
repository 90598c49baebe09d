"""Sums of an accumulator on a GPU: `python -m perf.accumulator_gpu` where PyTorch sees one.

A batch of 8 maps of 1280x720, five metrics. Times all that an update does with tensors: arranging
them, comparing them, summing them. Prints the time until the call returns, its time when many are
queued, what it starts on the GPU, and how its numbers compare with our CPU kernel's on the same
maps. Where the whole package can be imported, `Accumulator.update` itself is timed as well.
"""

from __future__ import annotations

import time

import numpy as np

from depthgauge.engine.scoring.in_memory.batches import make_batch
from depthgauge.metrics import METRICS
from depthgauge.metrics.fused.torch_terms import Limits, compare_tensors, sum_tensors
from depthgauge.metrics.moments import measure_moments, single_region
from depthgauge.metrics.terms import ErrorKind

CHOSEN = {
    "badpix:1": ("badpix", {"threshold": 1.0}),
    "badpix:3": ("badpix", {"threshold": 3.0}),
    "d1": ("d1", {"threshold": 3.0, "share": 0.05}),
    "mae": ("mae", {}),
    "rms": ("rms", {}),
}
RECIPES = {name: METRICS[metric].recipe(**params) for name, (metric, params) in CHOSEN.items()}
TERMS = tuple(dict.fromkeys(term for recipe in RECIPES.values() for term in recipe.terms))
COUNTS = ("badpix:1", "badpix:3", "d1")
SHAPE = (8, 720, 1280)
CALLS = 200


def maps(seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 60, SHAPE).astype(np.float32)
    # Quarters, so that many errors lie exactly on a threshold.
    estimate = truth + rng.integers(-20, 21, SHAPE).astype(np.float32) / np.float32(4)
    truth[rng.random(SHAPE) < 0.3] = np.nan
    estimate[rng.random(SHAPE) < 0.05] = np.nan
    return estimate, truth, np.nan_to_num(truth) > 20


def sums(estimate, truth, masks):
    given = {"ids": None, "scenes": None, "items": None}
    batch = make_batch(estimate, truth, masks, "disparity", estimate.device, **given)
    pixels = compare_tensors(batch.estimate, batch.truth, ErrorKind.DIFFERENCE, Limits())
    return sum_tensors(pixels, [None, *batch.masks.values()], TERMS)


def timed(call, sets):
    """Milliseconds of a call: until it returns (median), and in a queue (mean); inputs rotate."""
    import torch

    for n in range(20):
        call(*sets[n % len(sets)])
    torch.cuda.synchronize()
    returned = []
    begin = time.perf_counter()
    for n in range(CALLS):
        start = time.perf_counter()
        call(*sets[n % len(sets)])
        returned.append(time.perf_counter() - start)
    torch.cuda.synchronize()
    queued = (time.perf_counter() - begin) / CALLS
    return f"{1e3 * np.median(returned):.3f} ms until it returns, {1e3 * queued:.3f} ms queued"


def started(call, given):
    """Kernels and copies of a call; one that waited for the GPU would raise."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.set_sync_debug_mode("error")
    try:
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
            call(*given)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    events = {event.key: event for event in found.key_averages()}
    copies = {name: e.count for name, e in events.items() if name.startswith("Memcpy")}
    launched = events["cudaLaunchKernel"].count
    return f"{launched} kernels, copies {copies or 'none'}, no wait"


def compare(found, estimate, truth, mask):
    """Largest relative difference of the metrics; counts must be equal."""
    apart, equal = 0.0, 0
    for n in range(SHAPE[0]):
        for region, inside in enumerate((None, mask[n])):
            plane = single_region(inside, truth[n])
            moments = measure_moments(estimate[n], truth[n], plane, TERMS)
            row = found[n, region]
            for name, (metric, params) in CHOSEN.items():
                terms = RECIPES[name].terms
                state = moments.state("region", terms)
                assert (row[0], row[1]) == (state.count, state.missing)
                ours = row[[2 + TERMS.index(term) for term in terms]]
                if name in COUNTS:
                    assert ours[0] == state.sums[0], (n, region, name)
                    equal += 1
                theirs = METRICS[metric].finish(state, **params)
                mine = METRICS[metric].finish(
                    type(state)(state.count, state.missing, ours), **params
                )
                apart = max(apart, abs(mine / theirs - 1))
    return f"{equal} counts over thresholds are equal, metrics differ by {apart:.1e} at most"


def main() -> None:
    import torch

    arrays = maps()
    sets = [[torch.as_tensor(values, device="cuda") for values in maps(seed)] for seed in range(4)]
    print(torch.cuda.get_device_name(), "torch", torch.__version__, SHAPE, *CHOSEN)
    plain = [(estimate, truth, {}) for estimate, truth, _ in sets]
    print("one region:", timed(sums, plain))
    print("two regions:", timed(sums, [(e, t, {"front": m}) for e, t, m in sets]))
    print("one region starts:", started(sums, plain[0]))
    found = sums(*sets[0][:2], {"front": sets[0][2]}).cpu().numpy()
    print(compare(found, *arrays))
    try:
        import depthgauge as dg

        accumulator = dg.Accumulator(list(CHOSEN), quantity="disparity")
    except ImportError as error:
        print(f"Accumulator.update itself was not timed: {error}")
        return
    print("update:", timed(accumulator.update, [(e, t) for e, t, _ in sets]))


if __name__ == "__main__":
    main()
