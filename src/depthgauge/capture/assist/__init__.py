"""The capture assistant: what a session still lacks, before anybody paints anything."""

from depthgauge.capture.assist.advice import assist
from depthgauge.capture.assist.assistance import Advice, Assistance
from depthgauge.capture.assist.boards_seen import CameraBoards, look_at_boards
from depthgauge.capture.assist.brackets_seen import CameraBrackets, look_at_brackets
from depthgauge.capture.assist.sharpness import edge_width_px, texture_sharpness

__all__ = [
    "Advice",
    "Assistance",
    "CameraBoards",
    "CameraBrackets",
    "assist",
    "edge_width_px",
    "look_at_boards",
    "look_at_brackets",
    "texture_sharpness",
]
