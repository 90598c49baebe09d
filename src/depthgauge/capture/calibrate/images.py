"""Cameras and pairs from photographs of a board, with or without a session."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from depthgauge import io
from depthgauge._canonical import hash_json
from depthgauge._progress import Progress
from depthgauge.capture.calibrate import boards
from depthgauge.capture.calibrate.boards import Corners, find_corners, turned_alike
from depthgauge.capture.calibrate.calibration import Calibration, Pose, with_poses
from depthgauge.capture.calibrate.camera_pairs import PairFit, calibrate_pair
from depthgauge.capture.calibrate.joint import refine_rig
from depthgauge.capture.calibrate.single_camera import Single, calibrate_single, single_warnings
from depthgauge.capture.steps import file_hash
from depthgauge.errors import BadData, BadFile, Misuse
from depthgauge.io.text import parse_json
from depthgauge.sessions import Board
from depthgauge.types import Camera

OUTLIER_FACTOR = 6.0
Views = Mapping[str, Mapping[str, Corners]]
"""Corners by camera and pose."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardViews:
    """What was found in the photographs."""

    views: dict[str, dict[str, Corners]]
    """Corners by camera and pose, where the board was found."""
    left_out: dict[str, dict[str, str]]
    """Why a photograph could not be used, by camera and pose."""


@dataclass(frozen=True, slots=True, eq=False)
class RigCalibration:
    """A calibration with everything that was found on the way."""

    calibration: Calibration
    singles: Mapping[str, Single]
    """Views with their residuals, and what was dropped, by camera."""
    pairs: Mapping[str, PairFit]
    not_found: Mapping[str, tuple[str, ...]]
    """Poses in which the board was not found, by camera."""
    warnings: tuple[str, ...]


def calibrate_images(
    images: Mapping[str, Mapping[str, Path]],
    board: Board,
    *,
    outlier_factor: float = OUTLIER_FACTOR,
    joint: bool = True,
    progress: Progress | None = None,
) -> RigCalibration:
    """Calibrates L, R and, if given, C from photographs of a board.

    Args:
        images: Files by camera (`L`, `R`, `C`) and pose; equal poses were taken at once.
        board: The board.
        outlier_factor: Views that stand out by more than this many robust standard deviations are
            dropped.
        joint: Refine all cameras and pairs together at the end.
        progress: Called for each photograph.

    Raises:
        BadData: The photographs do not determine L or R, or contradict each other.
    """
    found = find_views(images, board, progress=progress)
    return calibrate_views(
        found.views,
        board,
        listed=images,
        left_out=found.left_out,
        outlier_factor=outlier_factor,
        joint=joint,
    )


def find_views(
    images: Mapping[str, Mapping[str, Path]],
    board: Board,
    *,
    kept: Path | None = None,
    again: bool = False,
    progress: Progress | None = None,
) -> BoardViews:
    """The board's corners in all photographs in which it is found.

    Photographs that cannot be read are left out, and so are those whose size differs from that of
    most photographs of the camera.

    Args:
        images: Files by camera and pose.
        board: The board.
        kept: A folder that stores what was found in each photograph as soon as it is done, by the
            photograph's content; stored photographs are not searched again.
        again: Search every photograph, even those in `kept`.
        progress: Called for each photograph.
    """
    total = sum(len(paths) for paths in images.values())
    found = BoardViews({}, {})
    done = 0
    for name, paths in images.items():
        seen: dict[str, Corners] = {}
        left_out = found.left_out.setdefault(name, {})
        for pose, path in paths.items():
            try:
                seen[pose] = _seen(Path(path), board, kept, again)
            except BadFile:
                left_out[pose] = "cannot be read"
            done += 1
            if progress:
                progress("looking for the board", done, total)
        left_out |= _odd_sizes(seen)
        found.views[name] = {
            pose: corners
            for pose, corners in seen.items()
            if len(corners.ids) and pose not in left_out
        }
    return found


def _odd_sizes(seen: Mapping[str, Corners]) -> dict[str, str]:
    """Poses whose photographs do not have the most common size; a camera has one size."""
    sizes = Counter(corners.size_px for corners in seen.values())
    usual = sizes.most_common(1)[0][0] if sizes else (0, 0)
    return {
        pose: f"is {corners.size_px[0]}x{corners.size_px[1]}, not {usual[0]}x{usual[1]}"
        for pose, corners in seen.items()
        if corners.size_px != usual
    }


def _seen(path: Path, board: Board, kept: Path | None, again: bool) -> Corners:
    """The corners in one photograph, none if there is no board; stored or found.

    Raises:
        BadFile: It cannot be read.
    """
    if kept is None:
        return _look(path, board)
    try:
        content = file_hash(path)
    except BadData as error:
        raise BadFile(str(error)) from None
    key = {"image": content, "board": board.to_json(), "detector": boards.REVISION}
    file = kept / f"{hash_json(key)}.json"
    known = None if again else _read_corners(file)
    if known is not None:
        return known
    corners = _look(path, board)
    with suppress(OSError):  # writing gives the better error
        kept.mkdir(exist_ok=True)
    plain = {"size_px": corners.size_px, "ids": corners.ids.tolist()}
    io.write_text(file, json.dumps({**plain, "corners_px": corners.pixels.tolist()}) + "\n")
    return corners


def _look(path: Path, board: Board) -> Corners:
    image = io.read_image(path)
    nothing = Corners(np.zeros((0, 2)), np.zeros(0, np.intp), (image.shape[1], image.shape[0]))
    return find_corners(image, board) or nothing


def _read_corners(file: Path) -> Corners | None:
    """None if there are none, or if the file is damaged; they are searched again."""
    try:
        data = parse_json(file.read_text(encoding="utf-8"))
        ids = np.asarray(data["ids"], np.intp)
        width, height = (int(side) for side in data["size_px"])
        pixels = np.asarray(data["corners_px"], np.float64).reshape(len(ids), 2)
    except (OSError, KeyError, TypeError, ValueError):
        return None
    return Corners(pixels, ids, (width, height))


def calibrate_views(
    views: Views,
    board: Board,
    *,
    listed: Mapping[str, Mapping[str, object]] | None = None,
    left_out: Mapping[str, Mapping[str, str]] | None = None,
    outlier_factor: float = OUTLIER_FACTOR,
    joint: bool = True,
) -> RigCalibration:
    """Like `calibrate_images`, but from corners that were already found.

    Args:
        views: Corners by camera and pose.
        board: The board.
        listed: All poses that were searched; those without corners are reported.
        left_out: Poses that could not be read, and why; they are reported as dropped.
        outlier_factor: As in `calibrate_images`.
        joint: As in `calibrate_images`.
    """
    if not {"L", "R"} <= set(views) or not set(views) <= {"L", "C", "R"}:
        raise Misuse(f"a rig has the cameras L, R and optionally C, found {', '.join(views)}")
    if not outlier_factor > 0:
        raise Misuse(f"outlier_factor must be above 0, found {outlier_factor}")
    alike = _numbered_alike(views, board)
    listed, left_out = listed or views, left_out or {}
    not_found = {
        name: tuple(p for p in listed[name] if p not in {*alike[name], *left_out.get(name, {})})
        for name in alike
    }
    singles, pairs, warnings = _one_by_one(alike, left_out, board, outlier_factor)
    covariance = None
    if joint:
        singles, pairs, covariance = refine_rig(singles, pairs, board)
    cameras = {name: single.camera for name, single in singles.items()}
    poses = {name: fit.pose for name, fit in pairs.items()}
    for name, single in singles.items():
        warnings += single_warnings(name, single, not_found[name], len(listed[name]), board)
    warnings += check_rig(cameras, poses, singles)
    calibration = Calibration(with_poses(cameras, poses), poses, covariance)
    return RigCalibration(calibration, singles, pairs, not_found, tuple(warnings))


def _one_by_one(
    views: Views, left_out: Mapping[str, Mapping[str, str]], board: Board, factor: float
) -> tuple[dict[str, Single], dict[str, PairFit], list[str]]:
    """Each camera, then each pair; without C if its views do not suffice."""

    def single(name: str) -> Single:
        gone = left_out.get(name)
        return calibrate_single(name, views[name], board, outlier_factor=factor, left_out=gone)

    singles = {name: single(name) for name in ("L", "R")}
    pairs = {"LR": _pair("LR", singles, board, factor)}
    if "C" not in views:
        return singles, pairs, ["there is no camera C: the pair LC is left out"]
    try:
        with_c = singles | {"C": single("C")}
        return with_c, pairs | {"LC": _pair("LC", with_c, board, factor)}, []
    except BadData as error:  # L and R are good without it
        return singles, pairs, [f"the pair LC is left out: {error}"]


def _pair(name: str, singles: Mapping[str, Single], board: Board, factor: float) -> PairFit:
    first, second = singles[name[0]], singles[name[1]]
    views = tuple({p: v.corners for p, v in single.views.items()} for single in (first, second))
    cameras = (first.camera, second.camera)
    return calibrate_pair(name, cameras, (views[0], views[1]), board, outlier_factor=factor)


def _numbered_alike(views: Views, board: Board) -> dict[str, dict[str, Corners]]:
    """Boards that look the same after a turn get the same numbers as in L."""
    left = views["L"]
    return {
        name: {
            pose: turned_alike(corners, left[pose], board) if pose in left else corners
            for pose, corners in by_pose.items()
        }
        for name, by_pose in views.items()
    }


_MOST_TURN_DEG = 20.0
_BASELINES_M = (0.005, 2.0)


def check_rig(
    cameras: Mapping[str, Camera], pairs: Mapping[str, Pose], singles: Mapping[str, Single]
) -> list[str]:
    """Rejects cameras that do not stand side by side; returns warnings about the rest.

    Raises:
        BadData: Left and right are swapped, or a pair is not side by side.
    """
    if cameras["L"].size_px != cameras["R"].size_px:
        left, right = ("x".join(map(str, cameras[n].size_px)) for n in "LR")
        raise BadData(
            f"cameras L and R have pictures of different sizes, {left} and {right}, but the "
            "balanced pair needs equal sizes; check whether one of the folders is that of camera C."
        )
    warnings = []
    for name, pose in pairs.items():
        _need_right_of_left(name, pose)
        warnings += _pair_warnings(name, pose, singles)
    if "LC" in pairs and not pairs["LC"].place_m[0] < pairs["LR"].place_m[0]:
        warnings.append(
            f"camera C stands {pairs['LC'].place_m[0]:.3f} m right of L, beyond R at "
            f"{pairs['LR'].place_m[0]:.3f} m; it is expected between them"
        )
    return warnings


def _need_right_of_left(name: str, pose: Pose) -> None:
    x, y, z = (float(v) for v in pose.place_m)
    if x < 0 and abs(x) >= max(abs(y), abs(z)):
        raise BadData(
            f"camera {name[1]} stands {-x:.3f} m to the left of L; left and right seem to be "
            f"swapped: exchange the folders of {name[0]} and {name[1]}."
        )
    if x < max(abs(y), abs(z)):
        raise BadData(
            f"camera {name[1]} stands at {x:.3f} {y:.3f} {z:.3f} m (right, down, forward) of L, "
            "but the cameras of a rig stand side by side; check whether the pictures were rotated."
        )


def _pair_warnings(name: str, pose: Pose, singles: Mapping[str, Single]) -> list[str]:
    warnings = []
    turn = math.degrees(math.acos(np.clip((np.trace(pose.rotation) - 1) / 2, -1, 1)))
    if turn > _MOST_TURN_DEG:
        warnings.append(f"pair {name}: its cameras are turned by {turn:.0f} degrees to each other")
    low, high = _BASELINES_M
    if not low <= pose.baseline_m <= high:
        warnings.append(
            f"pair {name}: its baseline of {pose.baseline_m:.4g} m is unusual; check that "
            "square_m is the side of a square in metres"
        )
    alone = max(singles[camera].rms_px for camera in name)
    if pose.rms_px > 3 * alone and pose.rms_px > 0.3:
        warnings.append(
            f"pair {name}: its error is {pose.rms_px:.2f} px but each camera alone has "
            f"{alone:.2f} px; check that pictures of the same name were taken at once"
        )
    return warnings
