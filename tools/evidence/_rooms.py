"""Rooms with glass on which networks learn and are tried; kept in out/evidence.

They are made again when the code that makes them has changed: half an hour on two cores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from depthgauge.synth.generators import generate
from tools.evidence import REPOSITORY
from tools.evidence._sources import LAYER_MAKERS, digest

_ROOM: dict[str, Any] = {"width": 384, "height": 288, "samples": 16}
KEPT = REPOSITORY / "out" / "evidence"


def learned() -> Path:
    """48 pairs in four kinds of rooms."""
    kinds = ("bathroom", "bedroom", "kitchen", "living-room")
    return _made("learned", pairs=48, seed=600, rooms=kinds)


def offices() -> Path:
    """16 pairs in a kind of room from which nothing was learned."""
    return _made("offices", pairs=16, seed=9600, rooms=("office",))


def _made(name: str, **settings: Any) -> Path:
    folder = KEPT / f"rooms-{digest(LAYER_MAKERS)}" / name
    generate("layers", folder, **_ROOM, **settings)
    return folder
