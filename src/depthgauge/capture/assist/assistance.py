"""What the capture assistant found in a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from depthgauge.capture.assist.boards_seen import CameraBoards
from depthgauge.capture.assist.brackets_seen import CameraBrackets
from depthgauge.capture.photographs.exposure import Exposure
from depthgauge.sessions import Board

Level = Literal["must", "better", "good"]


@dataclass(frozen=True, slots=True)
class Advice:
    """One sentence about a session."""

    level: Level
    """`must`: the pipeline would fail or its error would be large; `better`: worth doing."""
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """What was seen in the photographs of one kind and camera."""

    names: tuple[str, ...]
    exposures: Mapping[str, Exposure]
    sharpness: Mapping[str, float]
    sizes: Mapping[str, tuple[int, int]]
    means: Mapping[str, float]
    """Mean grey level."""
    unreadable: Mapping[str, str]
    paths: Mapping[str, Path]


@dataclass(frozen=True, slots=True, eq=False)
class Assistance:
    """Everything that the assistant's page shows."""

    name: str
    board: Board | None
    board_source: str
    boards: Mapping[str, CameraBoards]
    scene: Mapping[str, Mapping[str, Looked]]
    """By kind (`passive`, `pattern`) and camera."""
    brackets: Mapping[str, CameraBrackets]
    """By camera; empty without bracketed patterns."""
    advice: tuple[Advice, ...]

    def headline(self) -> str:
        """The state in one sentence."""
        must = sum(one.level == "must" for one in self.advice)
        better = sum(one.level == "better" for one in self.advice)
        if must:
            return f"Not ready: {must} thing{'s' * (must != 1)} to do first."
        if better:
            return f"Usable; {better} thing{'s' * (better != 1)} would make it better."
        return "Ready: nothing is missing."

    def to_json(self) -> dict[str, Any]:
        """Plain data for programs."""
        return {
            "session": self.name,
            "headline": self.headline(),
            "board": None if self.board is None else self.board.to_json(),
            "board_source": self.board_source,
            "cameras": {
                name: {
                    "board_views": len(seen.views),
                    "not_found": dict(seen.not_found),
                    "covered_share": round(seen.covered(), 4),
                    "tilt_range_deg": round(seen.tilt_range_deg(), 1),
                    "edge_px": {
                        pose: round(width, 2)
                        for pose, width in seen.edge_px.items()
                        if np.isfinite(width)
                    },
                }
                for name, seen in self.boards.items()
            },
            "shots": {
                kind: {camera: list(looked.names) for camera, looked in by_camera.items()}
                for kind, by_camera in self.scene.items()
            },
            "brackets": {camera: own.to_json() for camera, own in self.brackets.items()},
            "advice": [{"level": one.level, "text": one.text} for one in self.advice],
        }
