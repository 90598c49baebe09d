"""The program that reads what strangers sent: `python -m depthgauge.serve.submissions.sandbox`.

It gets a job as JSON on stdin, hides the truth, the site and the network from itself, limits
itself, unpacks the archive, runs the check with the public inputs, and writes every estimate anew
as a plain .npy. Scoring reads only those files. Nothing heavy is imported before the folders are
hidden.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge._confine import CannotHide
from depthgauge._confine.network import close_network
from depthgauge._confine.ways import hide

if TYPE_CHECKING:
    from depthgauge.benchmarks import Protocol
    from depthgauge.types import Estimate, Sample

_FREE_BYTES = 1 << 20
_BYTES_PER_PIXEL = 64
_UNKNOWN_PIXELS = 1 << 22
_IMAGES = ("left_image", "first_image", "image", "views")
_MOST_PROBLEMS = 100


def main() -> None:
    """Does one job: JSON in, JSON out."""
    job = json.load(sys.stdin)
    try:
        if job["hide"]:
            hide([Path(folder) for folder in job["hide"]])
        close_network()
    except (CannotHide, OSError) as error:
        sys.exit(f"the truth cannot be hidden from this process: {error}")
    for name, value in job["limits"].items():
        limit = getattr(resource, f"RLIMIT_{name}")
        resource.setrlimit(limit, (value, value))
    json.dump(check(job), sys.stdout, allow_nan=False)


def check(job: Mapping[str, Any]) -> dict[str, Any]:
    """What is wrong with an archive; writes the estimates of a good one to `estimates`."""
    from depthgauge.benchmarks import make_protocol
    from depthgauge.engine.scoring.check import check_estimates
    from depthgauge.engine.scoring.samples import samples_of
    from depthgauge.serve.submissions.archive import unpack

    protocol = make_protocol(job["protocol"], "the benchmark of a site")
    received, out = Path(job["folder"]) / "received", Path(job["folder"]) / "estimates"
    received.mkdir()
    samples = samples_of(protocol, Path(job["data"]))
    problems = unpack(Path(job["archive"]), received, allowed_files(protocol, samples))
    if problems:
        return {"archive": problems, "check": [], "sparse": {}}
    found = [
        {"sample": f.sample, "problem": f.problem.replace(str(received), "archive"), "do": f.advice}
        for f in check_estimates(protocol, job["data"], received)
        if f.serious
    ]
    sparse: dict[str, float] = {}
    if not found:
        for sample, estimate in _estimates(protocol, samples, received):
            found += _wrong_size(protocol, sample, estimate)
            density = inside_density(protocol, sample, estimate)
            if density < job["least_density"]:
                sparse[sample.id] = round(density, 4)
            _write(out / sample.id, estimate, received / sample.id)
    return {"archive": [], "check": found[:_MOST_PROBLEMS], "sparse": sparse}


def allowed_files(protocol: Protocol, samples: list[Sample]) -> dict[str, int]:
    """The names that an archive may have, with the most bytes of each."""
    from depthgauge.datasets import DATASETS
    from depthgauge.datasets.estimates import estimate_names

    dataset, found = DATASETS[protocol.dataset], {}
    for sample in samples:
        for frame in sample.fresh().frames():
            most = _FREE_BYTES + _BYTES_PER_PIXEL * _pixels(frame)
            for name in estimate_names(dataset, frame.id, protocol.quantity):
                found[name] = _FREE_BYTES if name.endswith(".json") else most
    return found


def _pixels(sample: Sample) -> int:
    shape = _image_shape(sample)
    return _UNKNOWN_PIXELS if shape is None else shape[0] * shape[1]


def _image_shape(sample: Sample) -> tuple[int, int] | None:
    """Height and width of a sample's pictures."""
    for name in _IMAGES:
        if name in sample.inputs:
            shape = sample.inputs[name].shape
            return (int(shape[-3]), int(shape[-2])) if len(shape) > 2 else tuple(shape)
    return None


def _estimates(
    protocol: Protocol, samples: list[Sample], root: Path
) -> Iterator[tuple[Sample, Estimate]]:
    from depthgauge.datasets import DATASETS, read_estimate
    from depthgauge.engine.scoring.samples import locate

    dataset, said = DATASETS[protocol.dataset], protocol.reading.estimate.reading
    for sample in samples:
        for frame in sample.fresh().frames():
            path = locate(dataset, root, frame.id, protocol.quantity, None)
            yield frame, read_estimate(path, dataset, protocol.quantity, said)


def _wrong_size(protocol: Protocol, sample: Sample, estimate: Estimate) -> list[dict[str, str]]:
    """Without the truth, the check cannot know its size; mostly it is that of the picture."""
    from depthgauge.quantities import QUANTITIES

    shape = _image_shape(sample)
    plain = protocol.estimate_resize == "none" and protocol.truth_scale == 1 and not protocol.border
    first = 1 if QUANTITIES[protocol.quantity].main.is_stack else 0  # layers come first
    if shape is None or not plain or not first + 2 <= estimate.values.ndim <= first + 3:
        return []
    height, width = estimate.values.shape[first : first + 2]
    if (height, width) == shape:
        return []
    problem = f"the estimate is {width}x{height}, the picture is {shape[1]}x{shape[0]}."
    return [{"sample": sample.id, "problem": problem, "do": "Write it at the picture's size."}]


def inside_density(protocol: Protocol, sample: Sample, estimate: Estimate) -> float:
    """The share of pixels that would be scored: finite, and inside the allowed range.

    A value outside the range counts as missing when it is scored, so it does here; else a map of
    impossible values with one possible pixel would tell that pixel's truth.
    """
    from depthgauge.engine.scoring.prepare import estimate_range
    from depthgauge.quantities import QUANTITIES
    from depthgauge.types import is_known

    declared = QUANTITIES[protocol.quantity]
    values = declared.map_of({declared.main.name: estimate.values, **estimate.parts})
    known = is_known(values)
    if declared.space is not None and values.ndim == 2:
        low, high = estimate_range(protocol, sample.inputs)
        known &= (values >= low) & (values <= high)
    return float(known.mean()) if known.size else 0.0


def _write(folder: Path, estimate: Estimate, received: Path) -> None:
    from depthgauge.engine.store.estimates import write_parts
    from depthgauge.errors import DepthgaugeError
    from depthgauge.io.beside import read_costs

    write_parts(folder, estimate)
    numbers = {n: v for n, v in estimate.parts.items() if isinstance(v, float)}
    with suppress(DepthgaugeError):  # costs are shown, not scored: wrong ones are left out
        numbers |= read_costs(received)
    if numbers:
        (folder / "estimate.json").write_text(json.dumps(numbers, allow_nan=False))


if __name__ == "__main__":
    main()
