"""The motions that step `register` found, and views that follow them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.photographs.motion import Motion, Pixels, moved_along
from depthgauge.capture.steps import has_step
from depthgauge.errors import BadData
from depthgauge.geometry.rectified import RectifiedView
from depthgauge.io.text import parse_json

FILE = "movements.json"
Way = tuple[Motion, ...]
"""Motions one after the other, from the session's common frame to a photograph."""


@dataclass(frozen=True, slots=True)
class Movements:
    """How photographs moved against the frame to which all labels belong.

    That is the frame of the first photographs of the scene; without them, of most patterns.
    """

    moved: Mapping[str, Mapping[str, Way]] = field(default_factory=dict)
    """By `pattern/L`, `passive/R` ... and name; photographs that did not move are left out."""

    def of(self, kind: str, camera: str, name: str) -> Way:
        """The motions of a photograph, in order; empty if it did not move."""
        return self.moved.get(f"{kind}/{camera}", {}).get(name, ())

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads."""
        moved = {
            folder: {name: [m.to_json() for m in way] for name, way in by_name.items()}
            for folder, by_name in self.moved.items()
        }
        return {"schema": 1, "moved": moved}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Movements:
        """What `to_json` wrote; others raise KeyError, TypeError, ValueError, AttributeError."""
        return cls(
            {
                folder: {n: tuple(Motion.from_json(m) for m in way) for n, way in by_name.items()}
                for folder, by_name in data["moved"].items()
            }
        )


def read_movements(work: Path) -> Movements:
    """The motions of a work folder; none if step `register` is not done.

    Raises:
        BadData: Its file is damaged.
    """
    if not has_step(work, "register"):
        return Movements()
    path = work / "register" / FILE
    try:
        return Movements.from_json(parse_json(path.read_text(encoding="utf-8")))
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadData(f"{path}: cannot be read: {error!r}; run `capture register`.") from error


def write_movements(folder: Path, movements: Movements) -> None:
    """Writes the file that `read_movements` reads."""
    text = json.dumps(movements.to_json(), indent=1, allow_nan=False)
    io.write_text(folder / FILE, text + "\n")


@dataclass(frozen=True, slots=True, eq=False)
class _MovedView(RectifiedView):
    """A view of a camera whose photograph has moved."""

    way: Way = ()

    def to_raw(self, pixels: NDArray[Any]) -> Pixels:
        """Where positions of the rectified image lie in the moved photograph."""
        return moved_along(RectifiedView.to_raw(self, pixels), self.way, self.raw)


def moved_view(view: RectifiedView, way: Way) -> RectifiedView:
    """The same rectified view, for a photograph that has moved."""
    return _MovedView(view.raw, view.rotation, view.camera, way) if way else view
