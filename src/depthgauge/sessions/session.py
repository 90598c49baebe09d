"""A session's files, found by their names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge.errors import BadData
from depthgauge.io.text import parse_json
from depthgauge.sessions.board import Board

CAMERAS = ("L", "C", "R")
"""From left to right: high resolution, wide and lower resolution, high resolution."""
SCHEMA = 1
META = "session.json"
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".ppm", ".pgm")
"""Endings of pictures in a session; RAW and HEIC become one of them by `capture import`."""


@dataclass(frozen=True, slots=True)
class Session:
    """A capture session on disk; pictures are listed here and read when they are used."""

    folder: Path
    name: str
    board: Board | None
    """The calibration board; None if session.json does not say it: calibration then finds its
    number of corners, and the size of its squares must be given."""
    simulated: bool = False
    labels_on: str = "raw"
    """What the label maps were drawn on: the `raw` left photograph or the `rectified` one."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """How it was made: for people, not used by any step."""

    def board_images(self, camera: str) -> dict[str, Path]:
        """The board's pictures by pose; equal poses of two cameras were taken at once."""
        return self._pictures("calibration", camera)

    def passive_images(self, camera: str) -> dict[str, Path]:
        """The scene's pictures by illumination: `im0`, `im1` ..."""
        return self._pictures("passive", camera)

    def pattern_images(self, camera: str) -> dict[str, Path]:
        """The painted scene's pictures by projected pattern."""
        return self._pictures("pattern", camera)

    def label_file(self, name: str) -> Path | None:
        """The label map `materials` or `surfaces`; None if there is none."""
        path = self.folder / "labels" / f"{name}.png"
        return path if path.is_file() else None

    def with_board(self, board: Board) -> Session:
        """The same session with another board."""
        return replace(self, board=board)

    def known_board(self) -> Board:
        """The calibration board.

        Raises:
            BadData: session.json does not say it.
        """
        if self.board is None:
            raise BadData(
                f"{self.folder / META}: has no board; `depthgauge capture calibrate` looks for "
                "one and says what to write."
            )
        return self.board

    @property
    def truth_folder(self) -> Path:
        """Where a simulated session keeps its truth; no step before the audit reads it."""
        return self.folder / "truth"

    def _pictures(self, kind: str, camera: str) -> dict[str, Path]:
        folder = self.folder / kind / camera
        if not folder.is_dir():
            return {}
        found: dict[str, Path] = {}
        for path in sorted(folder.iterdir(), key=lambda p: natural(p.stem)):
            if path.suffix.lower() not in PICTURES or path.name.startswith("."):
                continue
            if path.stem in found:
                raise BadData(f"{path}: {found[path.stem].name} has the same name; keep one.")
            found[path.stem] = path
        return found


def open_session(folder: Path | str) -> Session:
    """The session in a folder.

    Raises:
        BadData: There is no readable session.json of this schema.
    """
    folder = Path(folder)
    path = folder / META
    if not path.is_file():
        raise BadData(
            f"{folder}: there is no {META}; a capture session needs one beside its folders "
            "calibration, passive and pattern (see docs/capture.md)."
        )
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise BadData(f"{path}: expected schema {SCHEMA}, found {data['schema']!r}.")
        found = data.get("board")
        board = None if found is None else Board.from_json(found)
    except KeyError as error:
        raise BadData(f"{path}: the session's description lacks {error}.") from error
    except (OSError, TypeError, ValueError) as error:
        raise BadData(f"{path}: this is not a session's description ({error}).") from error
    return Session(
        folder=folder,
        name=str(data.get("name", folder.name)),
        board=board,
        simulated=data.get("simulated", False) is True,
        labels_on=_labels_on(path, data.get("labels_on", "raw")),
        notes=data.get("notes", {}),
    )


def write_session(session: Session) -> None:
    """Writes session.json; the pictures are added by the caller."""
    data = {
        "schema": SCHEMA,
        "name": session.name,
        "board": None if session.board is None else session.board.to_json(),
        "simulated": session.simulated,
        "labels_on": session.labels_on,
        "notes": dict(session.notes),
    }
    io.write_text(session.folder / META, json.dumps(data, indent=2) + "\n")


def _labels_on(path: Path, value: object) -> str:
    if value not in ("raw", "rectified"):
        raise BadData(f"{path}: labels_on must be 'raw' or 'rectified', found {value!r}.")
    return str(value)


def natural(stem: str) -> list[tuple[int, str]]:
    """A key that sorts im2 before im10."""
    parts = re.split(r"(\d+)", stem)
    return [(int(p), "") if p.isdigit() else (-1, p) for p in parts]
