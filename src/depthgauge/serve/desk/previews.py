"""What a page gets to see of a drawing: its surfaces in 3D, as tints, and what to fix, where.

Layout, little-endian: a whole number of 4 bytes, the length of the JSON text that follows it; the
text (UTF-8, padded with spaces to a multiple of 4 together with the number); then, only with more
surfaces than a payload has colours, 2 bytes with the number of the surface of each pixel; then the
payload of `depthgauge.annotate.payload`.

The JSON text has `schema` (1), `revision` (of the records), `labels` (how many bytes the numbers
have), `surfaces` (for each smooth surface its `number`, `shape`, `continuous`, a place `at_px`, its
`marks` and `normals` by id) and `problems` (`text`, `at_px` or null), or null for a draft.
Coordinates are pixels of the photograph.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from depthgauge.annotate.quality.loose_ends import loose_ends
from depthgauge.annotate.quality.problems import Enlarged, Problem, located_problems, middle_of
from depthgauge.annotate.reconstruct.hand_normals import inside_of
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction, scaled
from depthgauge.annotate.records.annotation import Annotation
from depthgauge.annotate.session import Session

SCHEMA = 1
_COLOURS = 15
_MOST_SURFACES = 400
"""More are not described one by one; a page could not show them."""


def preview_of(session: Session, revision: int, *, with_problems: bool) -> bytes:
    """Everything that a page shows of a drawing.

    Args:
        session: The drawing; it is reconstructed here.
        revision: How many events of the records it has.
        with_problems: Whether to look for what should be fixed, which a draft does not need.

    Raises:
        Cancelled: A later one was asked for.
    """
    annotation = session.annotation
    update = session.update()
    made = update.reconstruction
    small = _reduced(annotation, made)
    view = _enlarged(annotation, made)
    count = int(made.segmentation.smooth.max(initial=0))
    labels = made.segmentation.smooth.astype("<u2").tobytes() if count > _COLOURS else b""
    header = {
        "schema": SCHEMA,
        "revision": revision,
        "labels": len(labels),
        "surfaces": _surfaces(small, made, view),
        "problems": _problems(annotation, small, made, view) if with_problems else None,
    }
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + labels + update.payload()


def _reduced(annotation: Annotation, made: Reconstruction) -> Annotation:
    width, _ = made.camera.size_px
    return scaled(annotation, min(1.0, width / annotation.picture.width_px))


def _enlarged(annotation: Annotation, made: Reconstruction) -> Enlarged:
    width, height = made.camera.size_px
    return Enlarged(annotation.picture.width_px / width, annotation.picture.height_px / height)


def _surfaces(small: Annotation, made: Reconstruction, view: Enlarged) -> list[dict[str, Any]]:
    parts = made.segmentation
    normals: dict[int, list[str]] = {}
    for name, mark in small.normals.items():
        if np.isfinite(mark.at_px).all():
            normals.setdefault(parts.smooth_at(mark.at_px), []).append(name)
    marks: dict[int, list[str]] = {}
    for name, number in parts.marks.items():
        marks.setdefault(number, []).append(name)
    found = []
    for number in list(parts.shapes)[:_MOST_SURFACES]:
        inside = inside_of(parts, number)
        if inside is None:
            continue
        x, y = inside.at_px
        found.append(
            {
                "number": number,
                "shape": parts.shapes[number],
                "continuous": int(parts.continuous[y, x]),
                "at_px": view.at(x, y),
                "marks": marks.get(number, []),
                "normals": normals.get(number, []),
            }
        )
    return found


def _problems(
    annotation: Annotation, small: Annotation, made: Reconstruction, view: Enlarged
) -> list[dict[str, Any]]:
    found = [
        *located_problems(small, made.segmentation, view),
        *loose_ends(small, made.segmentation, view),
        *_contradictions(annotation, made),
    ]
    return [{"text": problem.text, "at_px": problem.at_px} for problem in found]


def _contradictions(annotation: Annotation, made: Reconstruction) -> list[Problem]:
    """Depth orders that do not hold, each at its line."""
    return [
        Problem(
            f"The depth order of stroke '{name}' does not hold; check which side is closer, here "
            "and where its surfaces meet again.",
            middle_of(annotation.strokes[name]),
        )
        for name in made.violated
        if name in annotation.strokes
    ]
