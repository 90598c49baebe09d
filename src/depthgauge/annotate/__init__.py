"""Turns what a person draws on one photograph into dense normals, depth and a mesh."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthgauge.annotate.session import Session, Update

_HOMES = {"Session": "session", "Update": "session"}

__all__ = ["Session", "Update"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'depthgauge.annotate' has no attribute '{name}'")
    return getattr(import_module(f"depthgauge.annotate.{_HOMES[name]}"), name)
