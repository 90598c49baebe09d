"""Objects with tags as scenes of a dataset in LayeredFlow's layout."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from depthgauge import io
from depthgauge._options import Options, signature_from
from depthgauge.capture.export import _folder_aside
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.tags.one_object import read_points
from depthgauge.capture.tags.points import PAIRS, ObjectPoints
from depthgauge.capture.tags.session import FOLDER
from depthgauge.datasets import layeredflow
from depthgauge.datasets._layeredflow.points import Annotation, Place, Tag
from depthgauge.datasets._paths import inside
from depthgauge.datasets._test_splits import folder_of_truth, is_test_split
from depthgauge.errors import BadData, CannotWrite, DepthgaugeError

_VIEWS = ((1, 0), (1, 1), (2, 0), (2, 1))
"""Of the four lists of points: camera + 2 * (time > 1)."""
_PICTURES = ("0_0", "0_1", "3_0", "3_1")


class TagExportOptions(Options):
    """Where scenes go."""

    split: Literal["val", "test"] = "val"
    """`test` has pictures and cameras, but no truth."""
    with_truth: Path | None = None
    """Of split `test`: a folder outside of the dataset's that gets the scenes with their truth."""
    overwrite: bool = False
    """Replace scenes of the same name."""


@dataclass(frozen=True, slots=True)
class ExportedTags:
    """What was written."""

    scenes: tuple[str, ...]
    failed: Mapping[str, str]
    """Objects that were not written, and why."""


@signature_from(TagExportOptions)
def export_tags(
    work: Path, names: Sequence[str], out: Path, options: TagExportOptions
) -> ExportedTags:
    """Writes objects as scenes that the dataset `layeredflow` and the public scripts read.

    A scene has the rectified pictures without tags `0_0.png`, `0_1.png`, `3_0.png`, `3_1.png`,
    its points, and its cameras in `calib/<scene>.json`. Only annotated corners are written.

    Args:
        work: The work folder of a session, with step `tags` done.
        names: The objects.
        out: The dataset's folder; it can hold objects of several sessions.
        options: Where they go.

    Raises:
        Misuse: The truth would be written beside published images.
    """
    kept = folder_of_truth(out, options.split, options.with_truth)
    written, failed = [], {}
    for name in names:
        try:
            for folder in (out, kept) if kept else (out,):
                _require_room(folder, name, options)
            if kept is not None:
                _write(work, name, kept, options, with_truth=True)
            _write(work, name, out, options, with_truth=not is_test_split(options.split))
            written.append(name)
        except (DepthgaugeError, OSError) as error:
            failed[name] = str(error)
    return ExportedTags(tuple(written), failed)


def _write(
    work: Path, name: str, out: Path, options: TagExportOptions, *, with_truth: bool
) -> None:
    folder = work / FOLDER / name
    points = read_points(folder)
    if not any(points.pairs(pair) for pair in PAIRS):
        raise BadData(
            f"{folder}: no corner is annotated, so there is nothing to write; fill in its "
            "annotations.toml and put it beside the object's photographs."
        )
    place = inside(out, f"{options.split}/{name}")
    images = {picture: io.read_image(folder / f"{picture}.png") for picture in _PICTURES}
    with _folder_aside(out) as aside:  # an old scene stays until the new one is complete
        made = layeredflow.write_scene(
            aside,
            name,
            images,
            _places(points, "flow"),
            _places(points, "stereo"),
            _annotations(points),
            rig=read_pair(work, "LR").rig(),
            split=options.split,
        )
        if not with_truth:
            (made / layeredflow.TRUTH_FILE).unlink()
        shutil.rmtree(place, ignore_errors=True)
        cameras = f"{layeredflow.RIG_FOLDER}/{name}.json"
        for part in (f"{options.split}/{name}", cameras):
            (out / part).parent.mkdir(parents=True, exist_ok=True)
            os.replace(aside / part, out / part)


def _require_room(out: Path, name: str, options: TagExportOptions) -> None:
    place = inside(out, f"{options.split}/{name}")
    if place.exists() and not options.overwrite:
        raise CannotWrite(
            f"{place}: holds a scene already; say --overwrite (overwrite=True) to replace it."
        )


def _places(points: ObjectPoints, kind: str) -> list[list[Place]]:
    """The corners in the four pictures; those of a pair are in one order."""
    found: dict[tuple[int, int], list[Place]] = {view: [] for view in _VIEWS}
    for name, views in PAIRS.items():
        if name.startswith(kind):
            for pair in points.pairs(name):
                tag = (pair.tag.identity, pair.corner)
                for view, (u, v) in zip(views, (pair.first, pair.second), strict=True):
                    found[view].append(Place(tag, float(u), float(v)))
    return list(found.values())


def _annotations(points: ObjectPoints) -> dict[Tag, Annotation]:
    """Of every corner that is annotated; layers from 0, as in the public files."""
    return {
        (tag.identity, corner): Annotation(
            bool(tag.usable[corner]), tag.note.material, tag.note.layer - 1
        )
        for tag in points.tags
        if tag.note.filled_in
        for corner in range(4)
    }
