"""The step that removes what cannot be trusted and smooths the surfaces that are left."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.clean.edge_variance import edge_variance
from depthgauge.capture.clean.filters import (
    PAPER_WIDTH_PX,
    PLANES_SIGMA_PX,
    SIGMA_DISTANCE_PX,
    SIGMA_PX,
    SMOOTHINGS,
    find_mismatches,
    patch_sizes,
    scaled_window,
    smoothed_variance,
)
from depthgauge.capture.clean.manual_edits import ByHand, read_by_hand, removed_by_hand
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.refine.step import SIDES, Measured, read_measured
from depthgauge.capture.steps import Made, Progress, Step, do_step, read_step
from depthgauge.errors import BadData, Misuse
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.sessions import Session
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
_REVISION = 2
_FILTERS: dict[bool, Literal["planes", "none"]] = {True: "planes", False: "none"}
Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class Cleaning:
    """What is removed and how the rest is smoothed."""

    sigma_px: float = 0.75
    """Pixels whose variance is above its square are removed; an unknown variance removes none."""
    confidence: float = 0.5
    """Pixels below it are removed."""
    doubtful: float = 0.8
    """Pixels below it are removed where the other view does not confirm them."""
    left_right_px: float = 1.5
    """Views that differ by more disagree."""
    isolated_px: int | None = None
    """Patches of fewer pixels are removed; None: 5e-5 of the image, at least 8 pixels."""
    filter: Literal["planes", "plain", "none"] = "planes"
    """`planes` keeps planes and steps of 2 px, `plain` is the bilateral filter as published."""
    window_px: int | None = None
    """Of the filter; None: 35 px in images that are 4112 px wide, in proportion in others."""
    filter_sigma_px: float | None = None
    """Of the filter's differences; None: 0.5 px for `planes`, 5 px in proportion for `plain`."""
    filter_distance_px: float | None = None
    """Sigma of the filter's distances; None: 50 px in proportion."""

    def __post_init__(self) -> None:
        for name in ("sigma_px", "left_right_px", "filter_sigma_px", "filter_distance_px"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise Misuse(f"{name} is above 0, found {value}")
        if not 0 <= self.confidence <= 1 or not 0 <= self.doubtful <= 1:
            raise Misuse(
                f"confidences are from 0 to 1, found {self.confidence} and {self.doubtful}"
            )
        if self.filter not in (*SMOOTHINGS, "none"):
            raise Misuse(f"filter is 'planes', 'plain' or 'none', found {self.filter!r}")
        if self.isolated_px is not None and self.isolated_px < 0:
            raise Misuse(f"isolated_px is 0 or more, found {self.isolated_px}")
        if self.window_px is not None and (self.window_px < 1 or self.window_px % 2 == 0):
            raise Misuse(f"window_px is odd and at least 1, found {self.window_px}")


def clean(
    session: Session,
    work: Path,
    *,
    sigma_px: float = Cleaning.sigma_px,
    confidence: float = Cleaning.confidence,
    doubtful: float = Cleaning.doubtful,
    left_right_px: float = Cleaning.left_right_px,
    isolated_px: int | None = None,
    by_hand: Path | None = None,
    filter: bool | Literal["planes", "plain", "none"] = True,
    window_px: int | None = None,
    filter_sigma_px: float | None = None,
    filter_distance_px: float | None = None,
    progress: Progress | None = None,
    again: bool = False,
) -> Step:
    """Removes what cannot be trusted from both refined maps and smooths what is left.

    Writes disparity and variance of both views and, for each pixel, why it was removed
    (`<side>_removed.png`, codes in `REASONS`). A pixel that several reasons would take has the
    first of: no value, by hand, low confidence, variance, left-right disagreement, isolated.

    The variance is reduced by what smoothing took away of the noise, see `smoothed_variance`; that
    before it is in the folder of `refine`.

    Args:
        session: The session.
        work: Its work folder, with `refine` done.
        sigma_px: Pixels with a larger standard deviation are removed.
        confidence: Pixels with a lower confidence are removed.
        doubtful: Pixels with a lower confidence are removed where the other view does not confirm
            them.
        left_right_px: Views that differ by more disagree.
        isolated_px: Patches of fewer pixels are removed; None: 5e-5 of the image, at least 8.
        by_hand: A file of what a person wants removed, see `depthgauge.capture.clean.manual_edits`.
        filter: `planes` (or True) keeps planes and steps, `plain` is the bilateral filter as
            published, `none` (or False) smooths nothing.
        window_px: Of the filter; None: 35 px in images 4112 px wide, in proportion in others.
        filter_sigma_px: Of the filter's differences; None: 0.5 px for `planes`, for `plain` 5 px
            in proportion.
        filter_distance_px: Sigma of the filter's distances; None: 50 px in proportion.
        progress: Told what is being done.
        again: Do it even if nothing has changed.

    Raises:
        BadData: A step before is not done, or the file of removals cannot be read.
        Misuse: An option is out of its range.
    """
    del session  # all steps are called alike
    options = Cleaning(
        sigma_px,
        confidence,
        doubtful,
        left_right_px,
        isolated_px,
        _FILTERS[filter] if isinstance(filter, bool) else filter,
        window_px,
        filter_sigma_px,
        filter_distance_px,
    )
    chosen = read_by_hand(by_hand) if by_hand else ByHand()

    def make(folder: Path) -> Made:
        return _make(work, folder, chosen, options, progress)

    return do_step(
        work,
        "clean",
        make,
        options={**dataclasses.asdict(options), "by_hand": by_hand.name if by_hand else None},
        after=[read_step(work, name) for name in ("rectify", "refine")],
        files=[by_hand] if by_hand else [],
        revision=_REVISION,
        again=again,
    )


def find_removals(
    maps: dict[str, Measured], hand: dict[str, Mask], options: Cleaning
) -> dict[str, Codes]:
    """Why each pixel of both views is removed; 0 where it is kept.

    Args:
        maps: By `left` and `right`.
        hand: What a person wants removed, by view.
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


def smooth(disparity: Map, variance: Map, options: Cleaning) -> tuple[Map, Map, float]:
    """The filter that the options name, with sizes for the map's width.

    Returns:
        Disparity, variance, and the factor by which the noise's variance was reduced.
    """
    if options.filter == "none":
        return disparity, variance, 1.0
    share = disparity.shape[1] / PAPER_WIDTH_PX
    usual = PLANES_SIGMA_PX if options.filter == "planes" else SIGMA_PX * share
    window = options.window_px or scaled_window(disparity.shape[1])
    smoothed = SMOOTHINGS[options.filter](
        disparity,
        window,
        options.filter_sigma_px or usual,
        options.filter_distance_px or SIGMA_DISTANCE_PX * share,
    )
    return smoothed, *smoothed_variance(variance, smoothed - disparity, window)


def _alone(maps: Measured, hand: Mask, options: Cleaning) -> Codes:
    """The reasons that need no other pixel; the first in order is written last."""
    codes = np.zeros(maps.disparity.shape, np.uint8)
    codes[maps.variance > options.sigma_px**2] = _VARIANCE  # not where it is unknown
    codes[~(maps.confidence >= options.confidence)] = _CONFIDENCE
    codes[hand] = _BY_HAND
    codes[~is_known(maps.disparity)] = _NO_VALUE
    return codes


def _least_patch(options: Cleaning, pixels: int) -> int:
    if options.isolated_px is not None:
        return options.isolated_px
    return max(_LEAST_ISOLATED_PX, round(_ISOLATED_SHARE * pixels))


def _make(
    work: Path, folder: Path, chosen: ByHand, options: Cleaning, progress: Progress | None
) -> Made:
    tell = progress or (lambda *_: None)
    pair = read_pair(work, "LR")
    maps = {side: read_measured(work / "refine", side) for side in SIDES}
    _check(work, pair, maps)
    tell("removing", 0, 3)
    hand = {side: removed_by_hand(chosen, pair, maps[side].disparity, side) for side in SIDES}
    codes = find_removals(maps, hand, options)
    figures: dict[str, Any] = {}
    for number, side in enumerate(SIDES):
        tell(f"smoothing the {side} map", 1 + number, 3)
        kept = codes[side] == 0
        before = np.where(kept, maps[side].disparity, np.float32(np.nan))
        spread = np.where(kept, maps[side].variance, np.float32(np.nan))
        after, spread, factor = smooth(before, spread, options)
        spread = spread + edge_variance(after, _radius(options, after.shape[1]))
        io.write_map(folder / f"{side}_disparity.npy", after)
        io.write_map(folder / f"{side}_variance.npy", spread)
        io.write_image(folder / f"{side}_removed.png", codes[side])
        figures[side] = {**_figures(codes[side], before, after, spread), "variance_factor": factor}
    tell("cleaning", 3, 3)
    warnings = _warnings(figures)
    if chosen != ByHand() and not any(found.any() for found in hand.values()):
        warnings.append(
            "the file of what to remove by hand meets no pixel; polygons are in px of the "
            "rectified view, boxes and balls in metres."
        )
    return Made(figures, tuple(warnings))


def _radius(options: Cleaning, width: int) -> int:
    """Of the filter's window; 0 without a filter."""
    if options.filter == "none":
        return 0
    return (options.window_px or scaled_window(width)) // 2


def _check(work: Path, pair: RectifiedPair, maps: dict[str, Measured]) -> None:
    width, height = pair.left.camera.size_px
    for side, measured in maps.items():
        if measured.disparity.shape != (height, width):
            found = "x".join(str(n) for n in measured.disparity.shape[::-1])
            raise BadData(
                f"{work / 'refine'}: the {side} map is {found}, the rectified image {width}x"
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
