"""One object: its eight photographs become rectified pictures and points that belong together."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._canonical import hash_json
from depthgauge._shorten import first_few
from depthgauge.capture.resample import resample
from depthgauge.capture.steps import StepOutput, file_hash
from depthgauge.capture.tags.corrections import Corrections, read_corrections
from depthgauge.capture.tags.detect import find_tags
from depthgauge.capture.tags.points import (
    PAIRS,
    ObjectPoints,
    TagPoints,
    View,
    inside_or_nan,
    points_from_json,
    points_to_json,
)
from depthgauge.capture.tags.stillness import Stillness, compare_pictures
from depthgauge.errors import BadData, WrongShape
from depthgauge.geometry.disparity import depth_from_disparity
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.io.text import parse_json
from depthgauge.sessions.tags import (
    TAGGED_TIMES,
    VIEWS,
    TagNote,
    TagObject,
    read_annotations,
    write_annotations,
)
from depthgauge.types import Image

POINTS: Final = "points.json"
STILLNESS: Final = "stillness.json"
TEMPLATE: Final = "annotations.toml"
FOUND_REVISION: Final = 1
"""Raised whenever the search for tags may give other corners."""
DOCUMENT_RANGE: Final = (20, 500)
"""Correspondences of a pair of pictures in the document."""
_DOCUMENT_WIDTH_PX = 960
"""The document's mean row difference, 0.36 px, is of pictures of this width."""
_STILL = (((0, 1), "before"), ((3, 2), "after"))
"""Times without and with tags between which nothing may move."""
Points = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ObjectTask:
    """What is made of an object, and how."""

    thing: TagObject
    pair: RectifiedPair
    row_limit_px: float
    motion_limit_px: float
    kept: Path
    """A folder that stores the tags of each photograph, by its content."""
    again: bool
    """Search every photograph, even those in `kept`."""
    progress: Callable[[str, int, int], None]

    def make(self, folder: Path) -> StepOutput:
        """Writes the rectified pictures, `points.json` and, where notes are missing, a template.

        Raises:
            BadData: A photograph is missing, damaged or has another size, there are no tags, or
                none is seen in two photographs that belong together.
        """
        require_photographs(self.thing)
        notes = read_notes(self.thing)
        found: dict[View, dict[int, list[Points]]] = {}
        for done, view in enumerate(VIEWS):
            self.progress(f"{self.thing.name}: {view[0]}_{view[1]}", done, len(VIEWS))
            tags = self._rectify(folder, view)
            if view[0] in TAGGED_TIMES:
                found[view] = tags
        points = self._points(found, notes)
        _write(folder / POINTS, points_to_json(points))
        _write_template(folder / TEMPLATE, points, notes)
        still = stillness(folder, points, self.motion_limit_px)
        _write(folder / STILLNESS, {name: one.to_json() for name, one in still.items()})
        self.progress(self.thing.name, len(VIEWS), len(VIEWS))
        figures = object_figures(points, found, still, self.pair)
        return StepOutput(figures, tuple(_warnings(self.thing, points, notes, figures)))

    def _rectify(self, folder: Path, view: View) -> dict[int, list[Points]]:
        """Writes the rectified picture; the tags of the photograph, in px of that picture."""
        path = self.thing.images[view]
        photograph = io.read_image(path)
        lens = self._lens(view[1])
        io.write_image(folder / f"{view[0]}_{view[1]}.png", rectified(path, photograph, lens))
        tags: dict[int, list[Points]] = {}
        if view[0] in TAGGED_TIMES:
            found = found_tags(path, photograph, self.kept, again=self.again)
            for identity, corners in corrected(found, read_corrections(self.thing.folder), view):
                tags.setdefault(identity, []).append(lens.from_raw(corners))
        return tags

    def _lens(self, camera: int) -> RectifiedView:
        return self.pair.right if camera else self.pair.left

    def _points(
        self, found: Mapping[View, Mapping[int, list[Points]]], notes: Mapping[int, TagNote]
    ) -> ObjectPoints:
        everything = sorted({identity for tags in found.values() for identity in tags})
        if not everything:
            raise BadData(
                f"{self.thing.folder}: no tag of the family tag36h11 was found in the photographs "
                "of times 1 and 2; check that the tags are sharp and at least 15 px wide."
            )
        repeated = {
            identity: [view for view, tags in found.items() if len(tags.get(identity, ())) > 1]
            for identity in everything
        }
        repeated = {identity: views for identity, views in repeated.items() if views}
        tags = [
            self._tag(identity, found, notes) for identity in everything if identity not in repeated
        ]
        points = ObjectPoints(tags, self.row_limit_px, repeated)
        if not any(points.pairs(name, annotated=False) for name in PAIRS):
            listed = first_few([str(identity) for identity in everything], 8)
            raise BadData(
                f"{self.thing.folder}: tags were found ({listed}), but none by both cameras or at "
                "both times, so nothing corresponds."
            )
        return points

    def _tag(
        self,
        identity: int,
        found: Mapping[View, Mapping[int, list[Points]]],
        notes: Mapping[int, TagNote],
    ) -> TagPoints:
        corners = {
            view: inside_or_nan(tags[identity][0], self._lens(view[1]).camera.size_px)
            for view, tags in found.items()
            if identity in tags
        }
        positions = {
            time: triangulated(
                corners[time, 0], corners[time, 1], self.pair, row_limit_px=self.row_limit_px
            )
            for time in TAGGED_TIMES
            if (time, 0) in corners and (time, 1) in corners
        }
        return TagPoints(identity, notes.get(identity, TagNote()), corners, positions)


def require_photographs(thing: TagObject) -> None:
    """Raises BadData where some of the eight are not there, or are there twice."""
    if thing.doubled:
        raise BadData(
            f"{thing.doubled[0]}: another file shows the same view, {thing.doubled[0].stem}; keep "
            "one of them."
        )
    if missing := thing.missing():
        raise BadData(
            f"{thing.folder}: the photograph{'s' * (len(missing) > 1)} {', '.join(missing)} "
            f"{'are' if len(missing) > 1 else 'is'} missing; an object needs all eight, 0_0 to 3_1."
        )


def found_tags(
    path: Path, photograph: Image, kept: Path, *, again: bool = False
) -> list[tuple[int, Points]]:
    """The tags of a photograph; found once, however often annotations change.

    Args:
        path: The photograph's file.
        photograph: Its pixels.
        kept: A folder that stores the tags of each photograph, by its content.
        again: Search, even if they are stored.
    """
    file = kept / f"{hash_json([file_hash(path), FOUND_REVISION])[:32]}.json"
    if file.is_file() and not again:
        with suppress(OSError, TypeError, ValueError):  # damaged: it is searched again
            rows = parse_json(file.read_text(encoding="utf-8"))
            return [(int(k), np.array(px, np.float64).reshape(4, 2)) for k, px in rows]
    found = [(tag.identity, tag.corners) for tag in find_tags(photograph)]
    kept.mkdir(parents=True, exist_ok=True)
    text = json.dumps([[identity, corners.tolist()] for identity, corners in found])
    io.write_text(file, text + "\n")
    return found


def corrected(
    found: list[tuple[int, Points]], corrections: Corrections, view: View
) -> list[tuple[int, Points]]:
    """The tags of a photograph after what a person corrected there."""
    said = corrections.get(view, {})
    kept = [(tag, corners) for tag, corners in found if tag not in said]
    return [*kept, *((tag, corners) for tag, corners in said.items() if corners is not None)]


def read_notes(thing: TagObject) -> dict[int, TagNote]:
    """The annotations of an object; empty where there is no such file."""
    return read_annotations(thing.annotations) if thing.annotations.is_file() else {}


def rectified(path: Path, photograph: Image, lens: RectifiedView) -> Image:
    """The rectified picture of a photograph.

    Raises:
        BadData: It does not have the size of the calibration.
    """
    try:
        return resample(lens, photograph, how="spline")
    except WrongShape as error:
        raise BadData(f"{path}: {error}.") from None


def triangulated(
    left: Points, right: Points, pair: RectifiedPair, *, row_limit_px: float
) -> Points:
    """(n, 3) positions in the axes of the rectified left camera, from (n, 2) px in both pictures.

    NaN where the rows differ by more than the limit, or the disparity is not positive.
    """
    rig = pair.rig()
    camera = rig.cameras["left"]
    disparity = left[:, 0] - right[:, 0]
    z = depth_from_disparity(
        disparity, camera.focal_px[0], rig.baseline_m, rig.principal_offset_px
    ).astype(np.float64)
    slopes = (left - np.array(camera.centre_px)) / np.array(camera.focal_px)
    near = np.abs(right[:, 1] - left[:, 1]) <= row_limit_px
    found = np.column_stack([slopes * z[:, None], z])
    return np.asarray(np.where(near[:, None], found, np.nan))


def stillness(folder: Path, points: ObjectPoints, limit_px: float) -> dict[str, Stillness]:
    """Whether something moved while tags were put on or taken off, by camera and time."""
    found = {}
    for (plain, tagged), when in _STILL:
        for camera, side in enumerate(("left", "right")):
            view = (tagged, camera)
            tags = [t.corners_px[view] for t in points.tags if view in t.corners_px]
            one, other = (io.read_image(folder / f"{t}_{camera}.png") for t in (plain, tagged))
            found[f"{when} {side}"] = compare_pictures(one, other, tags, limit_px=limit_px)
    return found


def object_figures(
    points: ObjectPoints,
    found: Mapping[View, Mapping[int, list[Points]]],
    still: Mapping[str, Stillness],
    pair: RectifiedPair,
) -> dict[str, Any]:
    """What step.json says about an object."""
    rows = points.rows_px()
    lost = points.losses()
    return {
        "tags": len(points.tags),
        "tags_found": {f"{t}_{c}": sum(map(len, tags.values())) for (t, c), tags in found.items()},
        "correspondences": {name: len(points.pairs(name)) for name in PAIRS},
        "points": points.table(),
        "rows": row_figures(rows, points.row_limit_px, pair.left.camera.size_px[0]),
        "still": {name: one.figures() for name, one in still.items()},
        "lost": {why: len(tags) for why, tags in lost.items()},
    }


def row_figures(rows: Points, limit_px: float, width_px: int) -> dict[str, Any]:
    """Statistics of row differences of stereo pairs, before the exclusion and after it."""
    size = np.abs(rows)
    kept = size[size <= limit_px]
    scale = _DOCUMENT_WIDTH_PX / width_px
    return {
        "pairs": len(size),
        "excluded": int(len(size) - len(kept)),
        "mean_px": _or_none(np.mean, kept),
        "mean_at_960_px": None if not kept.size else float(kept.mean() * scale),
        "median_px": _or_none(np.median, kept),
        "p95_px": _or_none(lambda v: np.percentile(v, 95), kept),
        "mean_signed_px": _or_none(np.mean, rows[size <= limit_px]),
    }


def _or_none(measure: Callable[[Points], Any], values: Points) -> float | None:
    return float(measure(values)) if values.size else None


def _warnings(
    thing: TagObject,
    points: ObjectPoints,
    notes: Mapping[int, TagNote],
    figures: Mapping[str, Any],
) -> list[str]:
    said = []
    name = thing.name
    if not notes:
        said.append(
            f"{name}: there is no annotations.toml; fill in {TEMPLATE} of the object's work folder "
            f"and put it into {thing.folder}"
        )
    elif missing := [str(tag.identity) for tag in points.tags if not tag.note.filled_in]:
        listed = first_few(missing, 8)
        said.append(f"{name}: tags without material and layer are left out: {listed}")
    if unseen := sorted(set(notes) - {tag.identity for tag in points.tags} - set(points.repeated)):
        listed = first_few([str(identity) for identity in unseen], 8)
        said.append(f"{name}: annotated tags were not found: {listed}")
    if points.repeated:
        twice = first_few([str(identity) for identity in sorted(points.repeated)], 8)
        said.append(f"{name}: identities occur twice in a photograph and are left out: {twice}")
    for where, one in figures["still"].items():
        if one["verdict"] == "moved":
            said.append(
                f"{name}: something moved while tags were put on or taken off ({where}: "
                f"{one['details_moved']} of {one['details']} details)"
            )
        elif one["verdict"] != "still":
            said.append(f"{name}: too few details to tell whether something moved ({where})")
    if notes:
        said += _count_warnings(name, figures["correspondences"])
    return said


def _count_warnings(name: str, counts: Mapping[str, int]) -> list[str]:
    fewest, most = DOCUMENT_RANGE
    odd = [f"{pair} {n}" for pair, n in counts.items() if not fewest <= n <= most]
    if not odd:
        return []
    return [f"{name}: correspondences of a pair are usually {fewest} to {most}: {', '.join(odd)}"]


def _write_template(path: Path, points: ObjectPoints, notes: Mapping[int, TagNote]) -> None:
    """A file to fill in, with what is known already; none where nothing is missing."""
    if all(tag.note.filled_in for tag in points.tags):
        path.unlink(missing_ok=True)
        return
    write_annotations(path, {**notes, **{tag.identity: tag.note for tag in points.tags}})


def read_points(folder: Path) -> ObjectPoints:
    """The points of an object that is done.

    Raises:
        BadData: The file is missing or damaged.
    """
    return _read(folder / POINTS, points_from_json)


def read_stillness(folder: Path) -> dict[str, Stillness]:
    """How details of an object's pictures moved, by time and camera.

    Raises:
        BadData: The file is missing or damaged.
    """
    return _read(
        folder / STILLNESS,
        lambda data: {name: Stillness.from_json(one) for name, one in data.items()},
    )


def _read(path: Path, use: Callable[[Any], T]) -> T:
    try:
        return use(parse_json(path.read_text(encoding="utf-8")))
    except (OSError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise BadData(f"{path}: cannot be read: {error!r}; run `capture tags --again`.") from error


def _write(path: Path, data: Mapping[str, Any]) -> None:
    io.write_text(path, json.dumps(data, indent=1, allow_nan=False) + "\n")
