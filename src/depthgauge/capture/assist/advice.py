"""What a session has, what it lacks, and what to do next, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from depthgauge import io
from depthgauge._progress import Progress, no_progress
from depthgauge.capture.assist.assistance import Advice, Assistance, Level, Looked
from depthgauge.capture.assist.boards_seen import GRID, CameraBoards, look_at_boards
from depthgauge.capture.assist.brackets_seen import CameraBrackets, look_at_brackets
from depthgauge.capture.assist.sharpness import texture_sharpness
from depthgauge.capture.calibrate.single_camera import (
    ENOUGH_VIEWS,
    FEWEST_VIEWS,
    GOOD_TILT_DEG,
    LEAST_TILT_DEG,
)
from depthgauge.capture.photographs.compression import brightness_warnings, compression_warnings
from depthgauge.capture.photographs.exposure import (
    MOST_DARK,
    MOST_SATURATED,
    exposure_of,
    levels_of,
    names_of,
)
from depthgauge.errors import BadData, BadFile
from depthgauge.io.photographs.exif import read_exif
from depthgauge.sessions import CAMERAS, Session

_GOOD_COVER = 0.7
"""Share of the image's cells with a corner."""
_BLURRED_PX = 4.0
"""Wider edges of a board are blurred."""
_SOFT = 0.6
"""A photograph with less than this share of the usual sharpness of its kind is blurred."""
_ENOUGH_PATTERNS, _FEW_PATTERNS = 10, 2
_PLACES = (("left", "middle", "right"), ("upper", "middle", "lower"))


def assist(session: Session, work: Path, progress: Progress | None = None) -> Assistance:
    """Looks at all photographs of a session, which may be unfinished.

    Args:
        session: The session.
        work: Its work folder; found corners are stored there for step `calibrate`.
        progress: Called for each photograph.
    """
    say = progress or no_progress
    board, source, boards = look_at_boards(session, work, say)
    kinds = {"passive": session.passive_images, "pattern": session.pattern_images}
    scene: dict[str, dict[str, Looked]] = {}
    for kind, images in kinds.items():
        for camera in CAMERAS:
            if paths := images(camera):
                scene.setdefault(kind, {})[camera] = _looked(kind, camera, paths, say)
    advice: list[Advice] = []
    brackets = _brackets(session, say, advice)
    found = Assistance(session.name, board, source, boards, scene, brackets, ())
    advice += [*_board_advice(session, found), *_scene_advice(found), *_orientations(session)]
    for camera, own in brackets.items():
        advice += _bracket_advice(camera, own)
    order = {"must": 0, "better": 1, "good": 2}
    advice.sort(key=lambda one: order[one.level])
    return replace(found, advice=tuple(advice))


def _brackets(session: Session, say: Progress, advice: list[Advice]) -> dict[str, CameraBrackets]:
    """The brackets of L and R; what keeps them from being merged is added to the advice."""
    try:
        found = {camera: look_at_brackets(session, camera, say) for camera in "LR"}
    except BadData as error:
        advice.append(Advice("must", str(error)))
        return {}
    return {camera: own for camera, own in found.items() if own is not None}


def _looked(kind: str, camera: str, paths: Mapping[str, Path], say: Progress) -> Looked:
    exposures, sharpness, sizes, means, unreadable = {}, {}, {}, {}, {}
    for number, (name, path) in enumerate(paths.items()):
        try:
            image = io.read_image(path)
        except BadFile as error:
            unreadable[name] = str(error)
            continue
        exposures[name] = exposure_of(image)
        sharpness[name] = texture_sharpness(image)
        sizes[name] = (image.shape[1], image.shape[0])
        means[name] = float(levels_of(image).mean(dtype=np.float64))
        say(f"looking at {kind}/{camera}", number + 1, len(paths))
    return Looked(tuple(paths), exposures, sharpness, sizes, means, unreadable, dict(paths))


# --- boards ---------------------------------------------------------------------------------------


def _board_advice(session: Session, found: Assistance) -> Iterator[Advice]:
    for camera in "LR":
        if not session.board_images(camera):
            yield Advice(
                "must",
                f"Photograph the board with camera {camera}: {ENOUGH_VIEWS} poses, tilted in all "
                "directions, in all parts of the image.",
            )
    if session.board is None and any(session.board_images(c) for c in CAMERAS):
        yield Advice(
            "must",
            f"Write the board into session.json ({found.board_source}); the side of a square must "
            "be measured.",
        )
    if found.boards and not session.board_images("C"):
        yield Advice("better", "There is no camera C, so there will be no unbalanced pair.")
    for camera, seen in found.boards.items():
        yield from _camera_advice(camera, seen)
    yield from _common_poses(found)


def _camera_advice(camera: str, seen: CameraBoards) -> Iterator[Advice]:
    count = len(seen.views)
    if seen.not_found:
        names = names_of(list(seen.not_found))
        level: Level = "must" if count < FEWEST_VIEWS else "better"
        yield Advice(
            level,
            f"Camera {camera}: the board is not found in {names}; it must be complete, sharp and "
            "bright, or be the board that session.json names.",
        )
    if count < FEWEST_VIEWS:
        yield Advice(
            "must",
            f"Camera {camera} has {count} usable photographs of the board; take at least "
            f"{FEWEST_VIEWS}, better {ENOUGH_VIEWS}.",
        )
        return
    if count < ENOUGH_VIEWS:
        yield Advice(
            "better", f"Camera {camera}: {count} poses of the board; {ENOUGH_VIEWS} are good."
        )
    tilt = seen.tilt_range_deg()
    if tilt < GOOD_TILT_DEG:
        yield Advice(
            "must" if tilt < LEAST_TILT_DEG else "better",
            f"Camera {camera}: tilts of the board differ by only {tilt:.0f} degrees; tilt it by 20 "
            "to 45 degrees to all four sides.",
        )
    if seen.covered() < _GOOD_COVER:
        yield Advice(
            "better",
            f"Camera {camera}: boards cover {100 * seen.covered():.0f} % of the image; show the "
            f"board {_empty_places(seen)}.",
        )
    if blurred := [p for p, width in seen.edge_px.items() if not width <= _BLURRED_PX]:
        yield Advice(
            "better",
            f"Camera {camera}: the board is blurred in {names_of(blurred)}; hold it still, close "
            "the aperture, or focus again and repeat all photographs.",
        )
    if bright := [p for p, e in seen.exposures.items() if e.saturated > MOST_SATURATED]:
        yield Advice(
            "better",
            f"Camera {camera}: white is saturated in {names_of(bright)}; corners move when white "
            "spills over, so expose less.",
        )


def _empty_places(seen: CameraBoards) -> str:
    """Where no corner is, in words: the third of the image that lacks most first."""
    empty = seen.cells() == 0
    columns, rows = GRID
    found = []
    for i, across in enumerate(_PLACES[0]):
        for j, down in enumerate(_PLACES[1]):
            part = empty[
                rows * j // 3 : rows * (j + 1) // 3, columns * i // 3 : columns * (i + 1) // 3
            ]
            found.append((float(part.mean()), _place(across, down)))
    found = [one for one in sorted(found, key=lambda one: -one[0]) if one[0] > 0.3][:3]
    return "in the " + ", ".join(name for _, name in found)


def _place(across: str, down: str) -> str:
    if across == down == "middle":
        return "middle"
    if across == "middle":
        return f"{down} part"
    return f"{across} part" if down == "middle" else f"{down} {across} corner"


def _common_poses(found: Assistance) -> Iterator[Advice]:
    """Pairs are calibrated from poses that both cameras see."""
    left = set(found.boards["L"].views) if "L" in found.boards else set()
    for camera in ("R", "C"):
        if camera not in found.boards or not left:
            continue
        both = left & set(found.boards[camera].views)
        if len(both) < FEWEST_VIEWS:
            yield Advice(
                "must" if camera == "R" else "better",
                f"Only {len(both)} poses are seen by both L and {camera}; show the board where "
                f"both see it whole, {FEWEST_VIEWS} times at least, and give such photographs the "
                "same name.",
            )


# --- the scene ------------------------------------------------------------------------------------


def _scene_advice(found: Assistance) -> Iterator[Advice]:
    if "passive" not in found.scene:
        yield Advice(
            "must",
            "Photograph the scene as it is with all cameras (passive), before anything is painted "
            "or moved: it cannot be done afterwards.",
        )
    if "pattern" not in found.scene:
        yield Advice(
            "must",
            "After painting, photograph the scene under projected patterns with L and R: ten are "
            "good (`depthgauge make patterns`).",
        )
    for kind, by_camera in found.scene.items():
        yield from _missing_shots(kind, by_camera, found)
        for camera, looked in by_camera.items():
            yield from _photograph_advice(kind, camera, looked, found)


def _missing_shots(
    kind: str, by_camera: Mapping[str, Looked], found: Assistance
) -> Iterator[Advice]:
    wanted = ["L", "R"] + (["C"] if kind == "passive" and "C" in found.boards else [])
    names = {c: _shots(kind, by_camera.get(c)) for c in wanted}
    everything = set.union(*names.values())
    for camera in wanted:
        if lacking := sorted(everything - names[camera]):
            yield Advice(
                "better" if camera == "C" or len(lacking) < len(everything) else "must",
                f"{kind}: camera {camera} lacks {names_of(lacking)}; shots need a photograph of "
                "the same name from every camera.",
            )
    both = len(names["L"] & names["R"])
    if kind == "pattern" and 0 < both < _ENOUGH_PATTERNS:
        level: Level = "must" if both < _FEW_PATTERNS else "better"
        said = "pattern" if both == 1 else "patterns"
        yield Advice(
            level, f"There are {both} {said}; ten are good, and with one there are no error bars."
        )


def _shots(kind: str, looked: Looked | None) -> set[str]:
    """Names that cameras must share; a pattern's exposures may differ between cameras."""
    names = () if looked is None else looked.names
    return {_pattern_of(name) for name in names} if kind == "pattern" else set(names)


def _photograph_advice(
    kind: str, camera: str, looked: Looked, found: Assistance
) -> Iterator[Advice]:
    if looked.unreadable:
        yield Advice(
            "must", f"{kind}/{camera}: cannot be read: {names_of(list(looked.unreadable))}."
        )
    boards = found.boards.get(camera)
    if boards is not None and boards.views:
        odd = [name for name, size in looked.sizes.items() if size != boards.size_px]
        if odd:
            size = "x".join(map(str, boards.size_px))
            yield Advice(
                "must",
                f"{kind}/{camera}: {names_of(odd)} do not have the size of the calibration "
                f"({size}); use the same camera and setting for all photographs.",
            )
    # Some of a bracket's exposures are dark or bright on purpose.
    single = {name: e for name, e in looked.exposures.items() if _pattern_of(name) == name}
    sharpness = {name: sharp for name, sharp in looked.sharpness.items() if name in single}
    usual = float(np.median(list(sharpness.values()))) if sharpness else 0.0
    if soft := [n for n, sharp in sharpness.items() if sharp < _SOFT * usual]:
        yield Advice(
            "better",
            f"{kind}/{camera}: {names_of(soft)} are less sharp than the others; the camera or the "
            "scene moved, or the focus changed.",
        )
    if kind == "pattern":
        means = {name: mean for name, mean in looked.means.items() if name in single}
        lost = compression_warnings(f"{kind}/{camera}", looked.paths.values())
        lost += brightness_warnings(f"{kind}/{camera}", means)
        yield from (Advice("better", text) for text in lost)
    if bright := [n for n, e in single.items() if e.saturated > MOST_SATURATED]:
        yield Advice(
            "better",
            f"{kind}/{camera}: more than {100 * MOST_SATURATED:.0f} % of the pixels are saturated "
            f"in {names_of(bright)}; expose less, or bracket exposures.",
        )
    if dark := [n for n, e in single.items() if e.dark > MOST_DARK]:
        yield Advice(
            "better",
            f"{kind}/{camera}: more than {100 * MOST_DARK:.0f} % of the pixels are nearly black in "
            f"{names_of(dark)}; expose more, or bracket exposures.",
        )


def _bracket_advice(camera: str, own: CameraBrackets) -> Iterator[Advice]:
    place, usual = f"pattern/{camera}", own.usual()
    if own.saturated:
        yield Advice(
            "good",
            f"{place}: {len(own.exposures)} bracketed patterns, exposures {', '.join(usual)}; once "
            f"merged, at most {_percent(own.saturated)} of their pixels are saturated.",
        )
    if bright := [name for name, share in own.saturated.items() if share > MOST_SATURATED]:
        yield Advice(
            "better",
            f"{place}: more than {100 * MOST_SATURATED:.0f} % of the pixels are saturated even in "
            f"the shortest exposure of {names_of(bright)}; add one that is shorter.",
        )
    if dark := [name for name, share in own.dark.items() if share > MOST_DARK]:
        yield Advice(
            "better",
            f"{place}: more than {100 * MOST_DARK:.0f} % of the pixels are nearly black even in "
            f"the longest exposure of {names_of(dark)}; add one that is longer.",
        )
    odd = [name for name, exposures in own.exposures.items() if exposures != usual]
    if odd := [*odd, *own.single]:
        yield Advice(
            "better",
            f"{place}: {names_of(sorted(odd))} do not have the exposures of the other patterns "
            f"({', '.join(usual)}); take the same ones of every pattern.",
        )


def _percent(shares: Mapping[str, float]) -> str:
    return f"{100 * max(shares.values()):.1f} %"


def _pattern_of(name: str) -> str:
    """The pattern of a photograph: `003@0.02` is one exposure of a bracket of 003."""
    return name.partition("@")[0]


def _orientations(session: Session) -> Iterator[Advice]:
    """Photographs of a rig's camera that EXIF turns differently do not fit together."""
    images = (session.board_images, session.passive_images, session.pattern_images)
    for camera in CAMERAS:
        turns: dict[int, int] = {}
        for listed in images:
            for path in listed(camera).values():
                try:
                    turn = read_exif(path).orientation
                except BadFile:
                    continue
                turns[turn] = turns.get(turn, 0) + 1
        if len(turns) > 1:
            counted = ", ".join(f"{count} say {turn}" for turn, count in sorted(turns.items()))
            yield Advice(
                "must",
                f"Camera {camera}: photographs have different EXIF orientations ({counted}), but "
                "a camera on a rig has one; `depthgauge capture import` turns them alike.",
            )
