"""The step that removes values that cannot be trusted and smooths the remaining surfaces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, FilePath, field_validator

from depthgauge import io
from depthgauge._options import CommandLine, Options
from depthgauge._progress import Progress
from depthgauge.capture.calibrate.calibration import read_calibration
from depthgauge.capture.clean.error_bars import Labels, error_variance
from depthgauge.capture.clean.filters import (
    PAPER_WIDTH_PX,
    PLANES_SIGMA_PX,
    SIGMA_DISTANCE_PX,
    SIGMA_PX,
    SMOOTHINGS,
    find_mismatches,
    patch_sizes,
    scaled_window,
)
from depthgauge.capture.clean.manual_edits import ManualEdits, manually_removed, read_manual_edits
from depthgauge.capture.clean.unresolved import beside_unresolved
from depthgauge.capture.rectify.calibration_error import row_variance
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.refine.engine import MeasuredMaps
from depthgauge.capture.refine.step import SIDES, read_measured
from depthgauge.capture.registry import StepPlan, StepSpec, StepTask, step_function
from depthgauge.capture.steps import StepOutput, has_step
from depthgauge.errors import BadData
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.io.text import read_json
from depthgauge.types import Map, Mask, is_known

REASONS = {
    1: "no value",
    2: "variance",
    3: "left-right disagreement",
    4: "isolated",
    5: "by hand",
    6: "low confidence",
}
"""What the codes of `<side>_removed.png` mean; 0 is kept."""
_NO_VALUE, _VARIANCE, _MISMATCH, _ISOLATED, _BY_HAND, _CONFIDENCE = REASONS
_ISOLATED_SHARE = 5e-5
_LEAST_ISOLATED_PX = 8
_UNKNOWN_PATTERNS = 5
Codes = NDArray[np.uint8]
Positive = Annotated[float, Field(gt=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class CleanOptions(Options):
    """What is removed and how the rest is smoothed."""

    sigma_px: Positive = 0.75
    """Pixels with a larger standard deviation are removed; pixels without a standard deviation are
    kept."""
    confidence: Share = 0.5
    """Pixels with a lower confidence are removed."""
    doubtful: Share = 0.8
    """Pixels with a lower confidence are removed if the other view does not confirm them, or beside
    removed ones where no jump is near: something thin is there that the map does not show."""
    left_right_px: Positive = 1.5
    """Largest difference at which the two views agree."""
    isolated_px: Annotated[int, Field(ge=0)] | None = None
    """Patches of fewer pixels are removed; by default 5e-5 of the image, at least 8 pixels."""
    filter: Literal["planes", "plain", "none"] = "planes"
    """`planes` is a bilateral filter that keeps planes and steps of 2 px, `plain` the bilateral
    filter as published, `none` smooths nothing."""
    window_px: Annotated[int, Field(ge=1)] | None = None
    """Window of the filter, odd; by default 35 px in images 4112 px wide, scaled with the width in
    others."""
    filter_sigma_px: Positive | None = None
    """Sigma of the filter's differences; by default 0.5 px for `planes`, and 5 px, scaled with the
    width, for `plain`."""
    filter_distance_px: Positive | None = None
    """Sigma of the filter's distances; by default 50 px, scaled with the width."""
    by_hand: Annotated[FilePath | None, CommandLine(metavar="FILE")] = None
    """Polygons, boxes and points to remove by hand, as JSON."""

    @field_validator("window_px")
    @classmethod
    def _is_odd(cls, value: int | None) -> int | None:
        if value is not None and value % 2 == 0:
            raise ValueError(f"is {value} but must be odd")
        return value


SPEC = StepSpec(
    "clean",
    "Cleaning",
    "Removes uncertain, contradictory, isolated or manually marked values, and smooths the rest.",
    about="""The reason for each removed pixel is stored. This is the filter as published, for
    images of any size:

    \b
      depthgauge capture clean kitchen --filter plain --window-px 35 \\
        --filter-sigma-px 5 --filter-distance-px 50""",
    options=CleanOptions,
    revision=5,
    after=("rectify", "refine"),
    after_if_done=("calibrate", "spacetime"),
)


def plan(task: StepTask, options: CleanOptions) -> StepPlan:
    """Removes what cannot be trusted from both refined maps and smooths the rest.

    Writes disparity and variance of both views and, for each pixel, the reason for its removal
    (`<side>_removed.png`, codes in `REASONS`). A pixel with several reasons
    has the first of: no value, by hand, low confidence, variance, left-right disagreement,
    isolated.

    The variance is that of the smoothed label's error, see `error_bars`; the variance from leaving
    out patterns is in the folder of `refine`. The file `by_hand` is
    read by `manual_edits.read_manual_edits`.

    Raises:
        BadData: An earlier step is not done, or the file of manual edits cannot be read.
    """
    edits = read_manual_edits(options.by_hand) if options.by_hand else ManualEdits()

    def make(folder: Path) -> StepOutput:
        return _make(task.work, folder, edits, options, task.progress)

    return StepPlan(make, files=[options.by_hand] if options.by_hand else [])


clean = step_function(SPEC, plan)


def find_removals(
    maps: dict[str, MeasuredMaps], hand: dict[str, Mask], options: CleanOptions
) -> dict[str, Codes]:
    """Why each pixel of both views is removed; 0 where it is kept.

    Args:
        maps: By `left` and `right`.
        hand: Manual removals by view.
        options: The limits.
    """
    codes = {side: _alone(maps[side], hand[side], options) for side in SIDES}
    left = {side: np.where(codes[side] == 0, maps[side].disparity, np.nan) for side in SIDES}
    for side, other in (SIDES, SIDES[::-1]):
        found = find_mismatches(left[side], left[other], side, options.left_right_px)
        unconfirmed = found["unmatched"] | found["nearer"]
        doubtful = ~(maps[side].confidence >= options.doubtful)
        codes[side][found["farther"] | (unconfirmed & doubtful)] = _MISMATCH
    for side in SIDES:
        kept = np.where(codes[side] == 0, maps[side].disparity, np.nan)
        few = patch_sizes(kept) < _least_patch(options, kept.size)
        codes[side][few & (codes[side] == 0)] = _ISOLATED
    return codes


def smooth(disparity: Map, options: CleanOptions) -> Map:
    """The filter that the options name, with sizes for the map's width."""
    if options.filter == "none":
        return disparity
    share = disparity.shape[1] / PAPER_WIDTH_PX
    usual = PLANES_SIGMA_PX if options.filter == "planes" else SIGMA_PX * share
    window = options.window_px or scaled_window(disparity.shape[1])
    return SMOOTHINGS[options.filter](
        disparity,
        window,
        options.filter_sigma_px or usual,
        options.filter_distance_px or SIGMA_DISTANCE_PX * share,
    )


def _alone(maps: MeasuredMaps, hand: Mask, options: CleanOptions) -> Codes:
    """The reasons that do not depend on other pixels; the first in order is written last."""
    codes = np.zeros(maps.disparity.shape, np.uint8)
    codes[maps.variance > options.sigma_px**2] = _VARIANCE  # not where it is unknown
    least, doubtful = options.confidence, options.doubtful
    beside = beside_unresolved(maps.disparity, maps.confidence, least, doubtful)
    codes[beside | ~(maps.confidence >= least)] = _CONFIDENCE
    codes[hand] = _BY_HAND
    codes[~is_known(maps.disparity)] = _NO_VALUE
    return codes


def _least_patch(options: CleanOptions, pixels: int) -> int:
    if options.isolated_px is not None:
        return options.isolated_px
    return max(_LEAST_ISOLATED_PX, round(_ISOLATED_SHARE * pixels))


def _make(
    work: Path, folder: Path, chosen: ManualEdits, options: CleanOptions, tell: Progress
) -> StepOutput:
    pair = read_pair(work, "LR")
    maps = {side: read_measured(work / "refine", side) for side in SIDES}
    _check(work, pair, maps)
    tell("removing", 0, 3)
    hand = {
        side: manually_removed(chosen, pair, maps[side].disparity, side, maps[side].variance)
        for side in SIDES
    }
    codes = find_removals(maps, hand, options)
    before = {side: _kept(maps[side].disparity, codes[side]) for side in SIDES}
    after = {}
    for number, side in enumerate(SIDES):
        tell(f"smoothing the {side} map", 1 + number, 3)
        after[side] = smooth(before[side], options)
    bars = _error_bars(work, pair, maps, before, after, options)
    figures: dict[str, Any] = {}
    for side in SIDES:
        io.write_map(folder / f"{side}_disparity.npy", after[side])
        io.write_map(folder / f"{side}_variance.npy", bars[side])
        io.write_image(folder / f"{side}_removed.png", codes[side])
        figures[side] = _figures(codes[side], before[side], after[side], bars[side])
    tell("cleaning", 3, 3)
    warnings = _warnings(figures)
    if chosen != ManualEdits() and not any(found.any() for found in hand.values()):
        warnings.append(
            "the file of manual removals does not match any pixel; polygons are in px of the "
            "rectified view, boxes and balls in metres."
        )
    return StepOutput(figures, tuple(warnings))


def _kept(values: Map, codes: Codes) -> Map:
    return np.where(codes == 0, values, np.float32(np.nan))


def _error_bars(
    work: Path,
    pair: RectifiedPair,
    maps: dict[str, MeasuredMaps],
    before: dict[str, Map],
    after: dict[str, Map],
    options: CleanOptions,
) -> dict[str, Map]:
    """Variances of the smoothed labels of both views."""
    patterns, scale = _matched(work)
    calibration = read_calibration(work) if has_step(work, "calibrate") else None
    width = after["left"].shape[1]
    window = 1 if options.filter == "none" else options.window_px or scaled_window(width)
    found = {}
    for side, other in (SIDES, SIDES[::-1]):
        choice = work / "refine" / f"{side}_choice.npy"
        labels = Labels(
            after[side],
            before[side],
            np.where(is_known(before[side]), maps[side].variance, np.float32(np.nan)),
            maps[side].confidence,
            io.read_map(choice) if choice.is_file() else None,
            after[other],
            side,
            patterns,
            window,
            scale,
        )
        rows = row_variance(calibration, pair, after[side]) if calibration else None
        found[side] = error_variance(labels, rows)
    return found


def _matched(work: Path) -> tuple[int, float]:
    """The number of patterns that were matched, and at which scale."""
    path = work / "spacetime" / "patterns.json"
    if not path.is_file():  # maps from another program
        return _UNKNOWN_PATTERNS, 1.0
    try:
        record = read_json(path)
        return max(1, len(record["used"])), float(record["scale"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadData(f"{path}: does not list the patterns; run `capture spacetime`.") from error


def _check(work: Path, pair: RectifiedPair, maps: dict[str, MeasuredMaps]) -> None:
    width, height = pair.left.camera.size_px
    for side, measured in maps.items():
        if measured.disparity.shape != (height, width):
            found = "x".join(str(n) for n in measured.disparity.shape[::-1])
            raise BadData(
                f"{work / 'refine'}: the {side} map is {found} but the rectified image is {width}x"
                f"{height}; run `depthgauge capture refine` again."
            )


def _figures(codes: Codes, before: Map, after: Map, variance: Map) -> dict[str, Any]:
    counts = np.bincount(codes.ravel(), minlength=len(REASONS) + 1)
    kept = codes == 0
    moved = np.abs(after[kept] - before[kept])
    sigmas = np.sqrt(variance[kept & is_known(variance)])
    return {
        "pixels": int(codes.size),
        "kept": int(counts[0]),
        "removed": {name: int(counts[code]) for code, name in REASONS.items()},
        "kept_share_of_known": _ratio(counts[0], codes.size - counts[_NO_VALUE]),
        "median_sigma_px": float(np.median(sigmas)) if sigmas.size else None,
        "smoothed_by_px": float(moved.mean()) if moved.size else None,
    }


def _ratio(part: Any, whole: Any) -> float:
    return float(part) / float(whole) if whole else 0.0


def _warnings(figures: dict[str, Any]) -> list[str]:
    said = []
    for side, numbers in figures.items():
        if numbers["kept"] == 0:
            said.append(f"Nothing of the {side} map was kept; loosen the limits or remove less.")
        elif numbers["kept_share_of_known"] < 0.5:
            share = 100 * numbers["kept_share_of_known"]
            said.append(f"Only {share:.0f} % of the {side} map's values were kept.")
    return said
