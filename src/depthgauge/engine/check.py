"""What is wrong with a folder of estimates, before anything is scored: all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.datasets import DATASETS, Dataset
from depthgauge.datasets.estimates import SUFFIXES
from depthgauge.engine.evaluate import locate
from depthgauge.errors import BadData, DepthgaugeError
from depthgauge.io import read_image, read_map
from depthgauge.types import Inputs, Map, Sample

# Factors by which people store disparity and depth: KITTI's PNG, OpenCV's fixed point, half and
# quarter size, Booster's PNG, millimetres.
_FACTORS = {
    256.0: "the 16-bit PNG code without the division by 256?",
    64.0: "the 16-bit PNG code without the division by 64?",
    16.0: "OpenCV's fixed point without the division by 16?",
    1000.0: "millimetres instead of metres?",
    2.0: "values of half size that were multiplied twice?",
    4.0: "values of quarter size that were multiplied twice?",
    0.5: "a half-size map that was enlarged without scaling its values?",
    0.25: "a quarter-size map that was enlarged without scaling its values?",
    0.001: "kilometres instead of metres?",
    1 / 256: "a value that was divided by 256 twice?",
}
_LOW_DENSITY = 0.5


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of one sample."""

    sample: str
    problem: str
    advice: str
    serious: bool = True
    """Whether it costs points; else it only looks odd."""


def check_estimates(
    benchmark: str | Path | Protocol,
    data: str | Path | None,
    estimates: str | Path,
    *,
    name: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Finding]:
    """Every problem of every sample, in the order of the samples.

    Without the dataset's folder every map in the estimates folder is looked at by itself: nobody
    knows then which are missing and what size they should have.
    """
    protocol = find_benchmark(benchmark)
    dataset = DATASETS[protocol.dataset]
    root = Path(estimates)
    if not root.is_dir():
        raise BadData(f"{root}: there is no such folder of estimates.")
    samples = _samples(protocol, dataset, data, root)
    findings: list[Finding] = []
    for done, (sample, path) in enumerate(samples, start=1):
        findings += _check_sample(protocol, dataset, sample, root, name, path)
        if progress is not None:
            progress(sample.id, done, len(samples))
    return findings


def _samples(
    protocol: Protocol, dataset: Dataset, data: str | Path | None, root: Path
) -> list[tuple[Sample, Path | None]]:
    """The samples to look at, with the file where it is known already."""
    if data is not None:
        return [(sample, None) for sample in dataset.samples(Path(data), protocol.split)]
    files = sorted(path for suffix in SUFFIXES for path in root.rglob(f"*.{suffix}"))
    if not files:
        raise BadData(f"{root}: no map in it; expected one of {', '.join(SUFFIXES)}.")
    return [(Sample(str(path.relative_to(root)), Inputs({}), None), path) for path in files]


def _check_sample(
    protocol: Protocol,
    dataset: Dataset,
    sample: Sample,
    root: Path,
    name: str | None,
    path: Path | None,
) -> Iterator[Finding]:
    try:
        path = path or locate(dataset, root, sample.id, protocol.quantity, name)
        estimate = read_map(path, quantity=protocol.quantity)
    except DepthgaugeError as error:
        yield Finding(sample.id, str(error), "Write the estimate again.")
        return
    yield from _check_type(sample.id, path)
    present = np.isfinite(estimate)
    if not present.any():
        yield Finding(
            sample.id,
            f"{path.name} has no finite value.",
            "NaN and infinity mean missing; write numbers where there is an estimate.",
        )
        return
    density = float(present.mean())
    if density < _LOW_DENSITY:
        yield Finding(
            sample.id,
            f"{path.name} has values at {100 * density:.1f} % of its pixels.",
            f"Missing pixels cost '{protocol.missing}'; fill them if your method can.",
            serious=False,
        )
    yield from _check_size(protocol, sample, estimate, path)
    yield from _check_values(protocol, sample, estimate)


def _check_type(sample: str, path: Path) -> Iterator[Finding]:
    if path.suffix == ".npy":
        dtype = np.load(path, mmap_mode="r").dtype
        if dtype.kind != "f":
            yield Finding(
                sample,
                f"{path.name} holds {dtype}, which has no NaN for missing and no fractions.",
                "Write float32.",
                serious=False,
            )
    # Read as an image, 8 bits stay bytes and 16 bits become fractions.
    elif path.suffix == ".png" and read_image(path).dtype == np.uint8:
        yield Finding(
            sample,
            f"{path.name} is an 8-bit PNG: whole values up to 255 only.",
            "Write a 16-bit PNG (value * 256) or PFM.",
        )


def _check_size(protocol: Protocol, sample: Sample, estimate: Map, path: Path) -> Iterator[Finding]:
    expected = _expected_size(protocol, sample)
    if expected is None:
        return
    height, width = expected
    size = estimate.shape[:2]
    inner = (height - 2 * protocol.crop, width - 2 * protocol.crop)
    if size in ((height, width), inner):
        return
    factor = height / size[0]
    allowed = {"none": (), "block": (2.0, 4.0)}.get(protocol.estimate_resize)
    if allowed is None or (factor in allowed and width == factor * size[1]):
        return
    yield Finding(
        sample.id,
        f"{path.name} is {size[1]}x{size[0]} but {width}x{height} is expected.",
        "Write the map at that size"
        + (", or at exactly 1/2 or 1/4 of it." if allowed else ", values scaled accordingly."),
    )


def _expected_size(protocol: Protocol, sample: Sample) -> tuple[int, int] | None:
    if sample.truth is not None and protocol.quantity in sample.truth:
        height, width = sample.truth[protocol.quantity].shape[:2]
        return height, width
    if "left_image" in sample.inputs:
        height, width = sample.inputs["left_image"].shape[:2]
        return height, width
    return None


def _check_values(protocol: Protocol, sample: Sample, estimate: Map) -> Iterator[Finding]:
    """Sign and scale, judged by the truth where it is there, else by the range of the inputs."""
    if protocol.quantity not in ("disparity", "depth") or protocol.align.kind != "none":
        return
    middle = float(np.nanmedian(estimate))
    if middle < 0 and protocol.quantity in ("disparity", "depth"):
        yield Finding(
            sample.id,
            f"more than half of the values are negative (median {middle:.3g}).",
            "Disparity is positive here, d = x_left - x_right; was the sign turned?",
        )
        return
    typical = _typical(protocol, sample)
    if typical is None or middle == 0:
        return
    if 0 < middle <= 1 < typical / 8 and float(np.nanmax(estimate)) <= 1:
        yield Finding(
            sample.id,
            f"all values are between 0 and 1 while about {typical:.3g} is usual here.",
            "Values are expected in px or m, not normalised.",
        )
        return
    for factor, question in _FACTORS.items():
        if 0.8 < middle / (typical * factor) < 1.25 and not 0.67 < middle / typical < 1.5:
            yield Finding(
                sample.id,
                f"values are about {factor:g} times what is usual (median {middle:.3g}).",
                f"Is this {question}",
                serious=False,
            )
            return


def _typical(protocol: Protocol, sample: Sample) -> float | None:
    if sample.truth is None or protocol.quantity not in sample.truth:
        return None
    truth = sample.truth[protocol.quantity]
    return float(np.nanmedian(truth)) if np.isfinite(truth).any() else None
