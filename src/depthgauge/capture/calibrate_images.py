"""Cameras and pairs from photographs of a board, with or without a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from depthgauge import io
from depthgauge.capture._joint import refine_rig
from depthgauge.capture._pairs import PairFit, calibrate_pair
from depthgauge.capture._rig_checks import check_rig, check_sizes, single_warnings
from depthgauge.capture._single import Single, calibrate_single
from depthgauge.capture.boards import Corners, find_corners, turned_alike
from depthgauge.capture.calibration import Calibration, with_poses
from depthgauge.capture.steps import Progress
from depthgauge.errors import BadData, Misuse
from depthgauge.sessions import Board

OUTLIER_FACTOR = 6.0
Views = Mapping[str, Mapping[str, Corners]]
"""Found corners by camera and pose."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A calibration with all that was seen on the way to it."""

    calibration: Calibration
    singles: Mapping[str, Single]
    """By camera: its views with their residuals, and what was dropped."""
    pairs: Mapping[str, PairFit]
    not_found: Mapping[str, tuple[str, ...]]
    """Poses by camera in which the board was not found."""
    warnings: tuple[str, ...]


def calibrate_images(
    images: Mapping[str, Mapping[str, Path]],
    board: Board,
    *,
    outlier_factor: float = OUTLIER_FACTOR,
    joint: bool = True,
    progress: Progress | None = None,
) -> Calibrated:
    """Calibrates L, R and, where it is given, C from photographs of a board.

    Args:
        images: Files by camera (`L`, `R`, `C`) and pose; equal poses were taken at once.
        board: The board.
        outlier_factor: Views that stand out by more robust standard deviations are dropped.
        joint: Refine all cameras and pairs together at the end.
        progress: Told about each photograph.

    Raises:
        BadData: The photographs do not determine L or R, or contradict each other.
    """
    found = find_views(images, board, progress=progress)
    return calibrate_views(found, board, listed=images, outlier_factor=outlier_factor, joint=joint)


def find_views(
    images: Mapping[str, Mapping[str, Path]], board: Board, *, progress: Progress | None = None
) -> dict[str, dict[str, Corners]]:
    """The board's corners in all photographs in which it is found.

    Raises:
        BadData: A camera's photographs are of different sizes.
    """
    total = sum(len(paths) for paths in images.values())
    found: dict[str, dict[str, Corners]] = {name: {} for name in images}
    sizes: dict[str, dict[str, tuple[int, int]]] = {name: {} for name in images}
    done = 0
    for name, paths in images.items():
        for pose, path in paths.items():
            image = io.read_image(path)
            sizes[name][path.name] = (image.shape[1], image.shape[0])
            check_sizes(name, sizes[name])
            corners = find_corners(image, board)
            if corners is not None:
                found[name][pose] = corners
            done += 1
            if progress:
                progress("looking for the board", done, total)
    return found


def calibrate_views(
    views: Views,
    board: Board,
    *,
    listed: Mapping[str, Mapping[str, object]] | None = None,
    outlier_factor: float = OUTLIER_FACTOR,
    joint: bool = True,
) -> Calibrated:
    """As `calibrate_images`, from corners that were found already.

    Args:
        views: Corners by camera and pose.
        board: The board.
        listed: All poses that were looked at; those without corners are reported.
        outlier_factor: As there.
        joint: As there.
    """
    if not {"L", "R"} <= set(views) or not set(views) <= {"L", "C", "R"}:
        raise Misuse(f"a rig has the cameras L, R and perhaps C, found {', '.join(views)}")
    if not outlier_factor > 0:
        raise Misuse(f"outlier_factor is above 0, found {outlier_factor}")
    alike = _numbered_alike(views, board)
    not_found = {
        name: tuple(pose for pose in (listed or views)[name] if pose not in alike[name])
        for name in alike
    }
    singles, pairs, warnings = _one_by_one(alike, board, outlier_factor)
    if joint:
        singles, pairs = refine_rig(singles, pairs, board)
    cameras = {name: single.camera for name, single in singles.items()}
    poses = {name: fit.pose for name, fit in pairs.items()}
    for name, single in singles.items():
        warnings += single_warnings(name, single, not_found[name], board)
    warnings += check_rig(cameras, poses, singles)
    calibration = Calibration(with_poses(cameras, poses), poses)
    return Calibrated(calibration, singles, pairs, not_found, tuple(warnings))


def _one_by_one(
    views: Views, board: Board, factor: float
) -> tuple[dict[str, Single], dict[str, PairFit], list[str]]:
    """Each camera, then each pair; without C where its views do not suffice."""
    singles = {n: calibrate_single(n, views[n], board, outlier_factor=factor) for n in ("L", "R")}
    pairs = {"LR": _pair("LR", singles, board, factor)}
    if not views.get("C"):
        return singles, pairs, ["there is no camera C: the pair LC is left out"]
    try:
        with_c = singles | {"C": calibrate_single("C", views["C"], board, outlier_factor=factor)}
        return with_c, pairs | {"LC": _pair("LC", with_c, board, factor)}, []
    except BadData as error:  # L and R are good without it
        return singles, pairs, [f"the pair LC is left out: {error}"]


def _pair(name: str, singles: Mapping[str, Single], board: Board, factor: float) -> PairFit:
    first, second = singles[name[0]], singles[name[1]]
    views = tuple({p: v.corners for p, v in single.views.items()} for single in (first, second))
    cameras = (first.camera, second.camera)
    return calibrate_pair(name, cameras, (views[0], views[1]), board, outlier_factor=factor)


def _numbered_alike(views: Views, board: Board) -> dict[str, dict[str, Corners]]:
    """Boards that look the same after a turn get the numbers that they have in L."""
    left = views["L"]
    return {
        name: {
            pose: turned_alike(corners, left[pose], board) if pose in left else corners
            for pose, corners in by_pose.items()
        }
        for name, by_pose in views.items()
    }
