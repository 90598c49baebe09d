"""Spring: what the server's `evaluation.py` computes, on frames whose truth is public.

Its rules, each a named option: the truth has four values per pixel of the image, and the error of a
pixel is the smallest of the four; a pixel with an unknown value among the four is left out; truth
and submission are float16; an outlier is off by more than 3 px and by more than 5 % of the largest
of the four; NaN in a submission is refused; scene flow is divided by the pixels that have all three
truths, but outliers of the others are counted too. All pixels of all frames are pooled. The server
itself scores a secret selection of the pixels of its test frames.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Twin, TwinScores, fill_options
from depthgauge.datasets.pairs.spring import beside, read_spring_mask
from depthgauge.errors import BadData, BadEstimate, WrongShape
from depthgauge.io import read_map
from depthgauge.types import Map, Sample, Score

STEREO_SETS = ("total", "lowdetail", "highdetail", "notsky", "sky", "matched", "unmatched")
FLOW_SETS = (
    *("total", "lowdetail", "highdetail", "rigid", "nonrigid"),
    *("matched", "unmatched", "notsky", "sky"),
)
SPEEDS = ("s0_10", "s10_40", "s40")
_MASKS = {
    "detail": ("lowdetail", "highdetail"),
    "rigid": ("rigid", "nonrigid"),
    "match": ("matched", "unmatched"),
    "sky": ("notsky", "sky"),
}
"""For each map: the set where it is False, and where it is True."""
_ERRORS = {
    "D1": ("1px_D1", "Abs_D1", "D1"),
    "D2": ("1px_D2", "Abs_D2", "D2"),
    "Fl": ("EPE_Fl", "Fl", "1px_Fl", "WAUC_Fl"),
    "SF": ("SF", "1px_SF"),
}
_TASKS = {"stereo": ("D1",), "flow": ("Fl",), "scene_flow": ("SF", "D1", "D2", "Fl")}
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "task": tuple(_TASKS),
    "truth": ("smallest of four",),
    "storage": ("float16", "float32"),
    "nan": ("refused",),
    "scene_flow_count": ("outliers of incomplete pixels too",),
}
_EXPLAINED = {
    "task": "Which maps are scored.",
    "truth": "Every pixel has four true values; its error is the smallest of the errors to them.",
    "storage": "Truth and submission are rounded to float16 first, as they are on the server.",
    "nan": "A submission with NaN is not scored.",
    "scene_flow_count": "Divided by pixels with all three truths; outliers of others count too.",
}
_STEPS = 100
Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluator's quirks by name."""
    return fill_options(given, _OPTIONS)


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The server's names without `err_`, and its sets of pixels."""
    return tuple(
        f"{name}@{pixels}"
        for error in _TASKS[options["task"]]
        for name in _ERRORS[error]
        for pixels in (*_sets_of(error), *SPEEDS)
    )


def _sets_of(error: str) -> tuple[str, ...]:
    return STEREO_SETS if error in ("D1", "D2") else FLOW_SETS


def main(options: Mapping[str, Any]) -> str:
    """What the public tables rank by."""
    return {"stereo": "1px_D1", "flow": "1px_Fl", "scene_flow": "1px_SF"}[
        options["task"]
    ] + "@total"


@dataclass(frozen=True, slots=True)
class _Measured:
    """The errors of one map at every pixel of the image; NaN where the truth is unknown."""

    error: Values
    bad: Flags
    """Beyond 3 px and 5 %."""
    size: Values
    """Mean length of the four truths."""


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """All scores of one frame."""
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    frame = _Frame.of(sample.id, sample.truth["folder"], estimate_path, options["task"])
    kind: type[Any] = np.float16 if options["storage"] == "float16" else np.float32
    scores: dict[str, Score] = {}
    found: dict[str, _Measured] = {}
    for error in ("D1", "D2", "Fl"):
        if error in _TASKS[options["task"]]:
            found[error] = _measure(*frame.maps(error), kind)
            sets = dict(frame.sets(error, found[error].size))
            scores |= dict(_scores(error, found[error], sets))
    if len(found) == 3:
        scores |= dict(_scene_flow(found, frame))
    ordered = {name: scores[name] for name in score_ids(options) if name in scores}
    lacking = {name.rpartition("@")[2] for name in score_ids(options) if name not in scores}
    return TwinScores(ordered, tuple(sorted(lacking)))


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where the files of one frame are."""

    sequence: Path
    frame: str
    camera: str
    view: str
    """Direction and camera; of stereo the camera alone."""
    estimates: Mapping[str, Path]

    @classmethod
    def of(cls, sample_id: str, sequence: Path, path: Path, task: str) -> _Frame:
        """The frame of a sample whose estimate, or its flow, is in this file."""
        view, _, frame = sample_id.rpartition("/")[2].rpartition("_")
        given = {"D1": path, "Fl": path}
        if task == "scene_flow":
            given = {e: _part(path, part) for e, part in _PARTS.items()}
        return cls(sequence, frame, view.rpartition("_")[2], view, given)

    def maps(self, error: str) -> tuple[Path, Path]:
        """The files of a submission and of the truth."""
        kind, view, ending = self._truth(error)
        truth = self.sequence / f"{kind}_{view}" / f"{kind}_{view}_{self.frame}.{ending}"
        return self.estimates[error], truth

    def _truth(self, error: str) -> tuple[str, str, str]:
        kind = {"D1": "disp1", "D2": "disp2", "Fl": "flow"}[error]
        view = self.camera if error == "D1" else self.view
        return kind, view, "flo5" if error == "Fl" else "dsp5"

    def map_(self, name: str) -> Flags | None:
        """A map of the pixels' properties, at the size of the image."""
        path = self.sequence / "maps" / name / f"{name}_{self.frame}.png"
        return read_spring_mask(path).reshape(-1) if path.is_file() else None

    def flags(self, error: str) -> dict[str, Flags | None]:
        """The four maps for an error; None for those that are not there."""
        kind, view, _ = self._truth(error)
        return {
            "detail": self.map_(f"detailmap_{kind}_{view}"),
            "match": self.map_(f"matchmap_{kind}_{view}"),
            "rigid": self.map_(f"rigidmap_{self.view}") if error == "Fl" else None,
            "sky": self.map_(f"skymap_{self.camera}"),
        }

    def sets(self, error: str, size: Values) -> Iterator[tuple[str, Flags]]:
        """The sets of pixels on which an error is scored."""
        yield "total", np.ones(size.shape, bool)
        yield from _divided(self.flags(error))
        yield "s0_10", size < 10
        yield "s10_40", (size >= 10) & (size < 40)
        yield "s40", size >= 40


_PARTS = {"D1": "disparity", "D2": "second_disparity", "Fl": "flow"}


def _part(path: Path, part: str) -> Path:
    """The file of a part: of a submission, or of our own estimates."""
    return path.with_name(f"{part}.npy") if path.suffix == ".npy" else beside(path, part)


def _divided(flags: Mapping[str, Flags | None]) -> Iterator[tuple[str, Flags]]:
    for name, (without, within) in _MASKS.items():
        if (mask := flags[name]) is not None:
            yield without, ~mask
            yield within, mask


def _measure(estimate_path: Path, truth_path: Path, kind: type[Any]) -> _Measured:
    """The smallest of four errors, with the arithmetic of the server."""
    quantity = "flow" if truth_path.suffix == ".flo5" else "disparity"
    estimate = read_map(estimate_path, quantity=quantity, raw=True)
    truth = read_map(truth_path, quantity=quantity, raw=True)
    if np.isnan(estimate).any():
        raise BadEstimate(f"{estimate_path}: has NaN, which Spring's server refuses; fill it.")
    four = _four(truth)
    if four.shape[:2] != estimate.shape[:2]:
        (h, w), (th, tw) = estimate.shape[:2], truth.shape[:2]
        raise WrongShape(
            f"{estimate_path}: is {w}x{h} but the truth is {tw}x{th}; it must be half as large."
        )
    pixels = four.shape[0] * four.shape[1]
    four = four.reshape(pixels, 4, -1).astype(kind)
    given = estimate.reshape(pixels, 1, -1).astype(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=RuntimeWarning)  # all four unknown, or infinite
        if truth.ndim == 3:
            return _vectors(four, given)
        return _numbers(four[..., 0], given[..., 0])


def _four(truth: Map) -> Map:
    """(H, W, 4, C): the four values of each pixel of the image."""
    height, width = (n // 2 for n in truth.shape[:2])
    split = truth[: 2 * height, : 2 * width].reshape(height, 2, width, 2, -1)
    return split.transpose(0, 2, 1, 3, 4).reshape(height, width, 4, -1)


def _vectors(four: NDArray[Any], given: NDArray[Any]) -> _Measured:
    length = np.linalg.norm(four.astype(np.float64), axis=-1)
    error = np.linalg.norm((four - given).astype(np.float64), axis=-1).min(axis=1)
    bad = (error > 3) & (error > 0.05 * length.max(axis=1))
    return _Measured(error, bad, length.sum(axis=1) / 4)


def _numbers(four: NDArray[Any], given: NDArray[Any]) -> _Measured:
    error = np.abs(four.astype(np.float32) - given.astype(np.float32)).min(axis=1)
    error = error.astype(np.float64)
    bad = (error > 3) & (error > 0.05 * np.abs(four).max(axis=1))
    return _Measured(error, bad, (four.sum(axis=1) / four.dtype.type(4)).astype(np.float64))


def _scores(error: str, found: _Measured, sets: Mapping[str, Flags]) -> Iterator[tuple[str, Score]]:
    known = ~np.isnan(found.error)
    columns = {f"1px_{error}": ("%", 100.0 * (found.error > 1)), error: ("%", 100.0 * found.bad)}
    if error == "Fl":
        columns |= {"EPE_Fl": ("px", found.error), "WAUC_Fl": ("%", 100.0 * _weights(found.error))}
    else:
        columns[f"Abs_{error}"] = ("px", found.error)
    for pixels, inside in sets.items():
        used = inside & known
        n = int(used.sum())
        for name, (unit, values) in columns.items():
            total = float(values[used].sum())
            yield f"{name}@{pixels}", Score(total / n if n else np.nan, n, 0, total, unit)


def _weights(error: Values) -> Values:
    """The share of the weights of the thresholds 0.05, 0.1 ... 5 px that an error is within.

    The weight of the i-th threshold is 1 - (i - 1) / 100.
    """
    thresholds = np.arange(1, _STEPS + 1) / 20.0
    weights = 1.0 - np.arange(_STEPS) / _STEPS
    within = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
    first = np.searchsorted(thresholds, error, side="left")  # the first threshold not below it
    return np.asarray(within[first] / weights.sum())


def _scene_flow(found: Mapping[str, _Measured], frame: _Frame) -> Iterator[tuple[str, Score]]:
    """An outlier in any of the three; sets by any of their maps and lengths."""
    parts = [found[error] for error in ("D1", "D2", "Fl")]
    known = ~np.isnan(sum(part.error for part in parts))
    beyond = np.logical_or.reduce([part.error > 1 for part in parts])
    bad = np.logical_or.reduce([part.bad for part in parts])
    flags = [frame.flags(error) for error in ("D1", "D2", "Fl")]
    merged: dict[str, Flags | None] = {"rigid": flags[2]["rigid"], "sky": flags[2]["sky"]}
    for name in ("detail", "match"):
        maps = [mask for f in flags if (mask := f[name]) is not None]
        merged[name] = np.asarray(np.logical_or.reduce(maps)) if len(maps) == 3 else None
    sizes = [np.abs(part.size) for part in parts]
    over40, over10 = (np.logical_or.reduce([s > limit for s in sizes]) for limit in (40, 10))
    sets: dict[str, Flags] = {"total": np.ones(known.shape, bool), **dict(_divided(merged))}
    sets |= {"s0_10": ~over10 & ~over40, "s10_40": over10 & ~over40, "s40": over40}
    for pixels, inside in sets.items():
        used = inside & known
        n = int(used.sum())
        for name, values in (("SF", bad), ("1px_SF", beyond)):
            total = 100.0 * float((values & inside).sum())
            yield f"{name}@{pixels}", Score(total / n if n else np.nan, n, 0, total, "%")


def pool(
    samples: Mapping[str, Mapping[str, Score]], options: Mapping[str, Any]
) -> dict[str, float]:
    """All pixels of all frames together."""
    found = {}
    for score_id in score_ids(options):
        used = [scores[score_id] for scores in samples.values() if score_id in scores]
        pixels = sum(score.count for score in used)
        if pixels:
            found[score_id] = sum(score.total or 0.0 for score in used) / pixels
    return found


SPEC = Twin(
    revision=1,
    main=main,
    higher=("WAUC_Fl",),
    verified=False,
    options=options,
    explained=_EXPLAINED,
    score_ids=score_ids,
    evaluate=evaluate,
    pool=pool,
)
