"""What the light-field benchmark checks in a submission, and what it fails to check."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from depthgauge._shorten import first_few
from depthgauge.benchmarks.twins import Fault
from depthgauge.benchmarks.twins._hci4d_maps import wrong_size
from depthgauge.datasets._hci4d.scenes import BENCHMARK, DISPARITY_RANGES, IMAGE_SIZE
from depthgauge.errors import BadFile, DepthgaugeError
from depthgauge.io import map_size, read_map
from depthgauge.types import Map, Sample

_MAPS, _RUNTIMES = "disp_maps", "runtimes"
_HEAD_BYTES = 4096
_MANY_OUTSIDE = 0.05
_WHOLE = "submission"


def check_submission(root: Path, samples: Mapping[str, Sample]) -> Iterator[Fault]:
    """Every problem in a submission, in the order of the scenes.

    Args:
        root: The folder that is zipped and sent.
        samples: The scenes in the data by name; if there are none, the twelve scenes of the
            benchmark are expected.
    """
    nested = _nested(root)
    if nested is not None:
        yield Fault(
            _WHOLE,
            f"{_MAPS}/ and {_RUNTIMES}/ are inside {nested.name}/; "
            "the evaluator expects them at the top.",
            f"Zip what is in {nested.name}/, not the folder itself.",
        )
        root = nested
    for name in (_MAPS, _RUNTIMES):
        if not (root / name).is_dir():
            yield Fault(_WHOLE, f"there is no folder {name}/.", "Add it, one file per scene.")
    scenes = tuple(samples) or BENCHMARK
    for scene in scenes:
        if (root / _MAPS).is_dir():
            yield from _check_map(root / _MAPS / f"{scene}.pfm", scene, samples.get(scene))
        if (root / _RUNTIMES).is_dir():
            yield from _check_runtime(root / _RUNTIMES / f"{scene}.txt", scene)
    yield from _check_others(root, scenes)


def read_runtime(path: Path) -> float:
    """The number of seconds on the first line; any number is accepted.

    Raises:
        BadFile: The first line is not a number.
    """
    line = _head(path).partition(b"\n")[0]
    try:
        text = line.decode("ascii").strip()
        # Only Python reads 1_000.
        return float("no number" if "_" in text else text)
    except ValueError:
        shown = line[:40].decode("latin-1").strip()
        raise BadFile(
            f"{path}: expected the runtime in seconds on the first line, found {shown!r}."
        ) from None


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError as error:
        raise BadFile(f"{path}: cannot be read: {error.strerror or error}.") from None


def _nested(root: Path) -> Path | None:
    """The only subfolder, if it is the submission."""
    if (root / _MAPS).is_dir() or (root / _RUNTIMES).is_dir():
        return None
    inside = [path for path in root.iterdir() if path.is_dir()]
    return next((p for p in inside if (p / _MAPS).is_dir() or (p / _RUNTIMES).is_dir()), None)


def _check_map(path: Path, scene: str, sample: Sample | None) -> Iterator[Fault]:
    if not path.is_file():
        yield Fault(scene, f"there is no {_MAPS}/{path.name}.", "Every scene needs a map.")
        return
    try:
        if why := _unreadable(path):
            advice = "Write lines 'Pf', '512 512', '-1', then float32 values."
            yield Fault(scene, f"{path.name}: {why}", advice)
            return
        found, wanted = map_size(path)[:2], _size(sample)
        values = read_map(path, quantity="disparity", raw=True)
    except DepthgaugeError as error:
        yield Fault(scene, str(error), "Write the map again.")
        return
    if found != wanted:
        problem, advice = wrong_size(found, wanted)
        yield Fault(scene, f"{path.name} {problem}", advice)
        return
    yield from _check_values(values, scene, sample)


def _size(sample: Sample | None) -> tuple[int, int]:
    if sample is None or sample.truth is None or "disparity_path" not in sample.truth:
        return IMAGE_SIZE
    height, width, _ = map_size(sample.truth["disparity_path"])
    return height, width


def _unreadable(path: Path) -> str:
    """Why the evaluator's own reader rejects a header; ours accepts more."""
    lines = [line.rstrip() for line in _head(path).split(b"\n", 20)]
    lines = [line for line in lines if not line.startswith(b"#")][:3]
    if len(lines) < 3:
        return "its header is cut off."
    kind, size, scale = lines
    if kind != b"Pf":
        return f"it begins with {kind[:10]!r}, but the evaluator reads only Pf (one channel)."
    parts = size.split(b" ")
    if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return f"its second line is {size[:30]!r}, not 'width height' with one space between."
    try:
        known = float(scale) != 0
    except ValueError:
        known = False
    return "" if known else f"its third line is {scale[:30]!r}, not a number other than 0."


def _check_values(values: Map, scene: str, sample: Sample | None) -> Iterator[Fault]:
    unknown, infinite = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    if unknown:
        yield Fault(
            scene,
            f"{unknown} pixels are NaN, which the evaluator counts as right.",
            "Write an estimate at every pixel; all other benchmarks count NaN as wrong.",
        )
    if infinite:
        yield Fault(
            scene,
            f"{infinite} pixels are infinite and count as wrong.",
            "Write an estimate at every pixel.",
        )
    allowed = _range(scene, sample)
    known = values[np.isfinite(values)]
    if allowed is None or not known.size:
        return
    low, high = allowed
    outside = float(np.mean((known < low) | (known > high)))
    if outside:
        yield Fault(
            scene,
            f"{100 * outside:.3g} % of the values are outside {low:g} to {high:g} px, the scene's "
            f"range; they go from {known.min():.3g} to {known.max():.3g}.",
            "Is it the disparity between neighbouring views, positive in front of the focus plane?",
            serious=outside > _MANY_OUTSIDE,
        )


def _range(scene: str, sample: Sample | None) -> tuple[float, float] | None:
    if sample is not None and "disparity_range" in sample.inputs:
        found: tuple[float, float] = sample.inputs["disparity_range"]
        return found
    return DISPARITY_RANGES.get(scene)


def _check_runtime(path: Path, scene: str) -> Iterator[Fault]:
    if not path.is_file():
        yield Fault(scene, f"there is no {_RUNTIMES}/{path.name}.", "Every scene needs a runtime.")
        return
    try:
        seconds = read_runtime(path)
    except BadFile as error:
        yield Fault(scene, str(error), "Write the seconds, e.g. 12.5.")
        return
    if not 0 < seconds < math.inf:
        yield Fault(
            scene,
            f"the runtime is {seconds:g} s, whose logarithm cannot be shown.",
            "Write the seconds that the method took.",
        )


def _check_others(root: Path, scenes: tuple[str, ...]) -> Iterator[Fault]:
    """Files that do not belong to a submission; the evaluator ignores them."""
    expected = {f"{_MAPS}/{scene}.pfm" for scene in scenes}
    expected |= {f"{_RUNTIMES}/{scene}.txt" for scene in scenes} | {_MAPS, _RUNTIMES}
    found = {path.relative_to(root).as_posix() for path in root.rglob("*")}
    others = sorted(found - expected)
    if others:
        yield Fault(
            _WHOLE,
            f"not part of a submission: {first_few(others, 5)}.",
            "Leave them out of the archive.",
            serious=False,
        )
