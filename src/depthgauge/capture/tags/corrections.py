"""What a person corrected in the tags that were found: `corrections.json` beside the photographs.

    {"schema": 1, "views": {"1_0": {"20": [[x, y], [x, y], [x, y], [x, y]], "31": null}}}

Corners are in px of the photograph, in the order of `TAG_CORNERS`, in place of whatever was found
of this tag there; `null` leaves it out there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.tags.points import View
from depthgauge.errors import BadData
from depthgauge.io.text import read_json
from depthgauge.sessions.tags import TAGGED_TIMES, VIEWS

FILE = "corrections.json"
SCHEMA = 1
Points = NDArray[np.float64]
Corrections = Mapping[View, Mapping[int, Points | None]]
TAGGED_VIEWS = {
    f"{time}_{camera}": (time, camera) for time, camera in VIEWS if time in TAGGED_TIMES
}
"""The four photographs with tags, by name."""


def write_corrections(path: Path, corrections: Corrections) -> None:
    """Writes the file that `read_corrections` reads."""
    views = {
        f"{time}_{camera}": {
            str(tag): None if corners is None else np.asarray(corners).tolist()
            for tag, corners in sorted(tags.items())
        }
        for (time, camera), tags in sorted(corrections.items())
    }
    text = json.dumps({"schema": SCHEMA, "views": views}, indent=1, allow_nan=False)
    io.write_text(path, text + "\n")


def read_corrections(folder: Path) -> dict[View, dict[int, Points | None]]:
    """The corrections of an object's folder; empty if there is no such file.

    Raises:
        BadData: The file says something else.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        data = read_json(path)
        if data["schema"] != SCHEMA:
            raise ValueError(f"expected schema {SCHEMA}, found {data['schema']!r}")
        return {
            TAGGED_VIEWS[name]: {int(tag): _corners(said) for tag, said in tags.items()}
            for name, tags in data["views"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadData(f"{path}: is no file of corrected tags ({error}).") from None


def _corners(said: object) -> Points | None:
    if said is None:
        return None
    corners = np.array(said, np.float64)
    if corners.shape != (4, 2) or not np.isfinite(corners).all():
        raise ValueError("a tag has four corners [x, y]")
    return corners
