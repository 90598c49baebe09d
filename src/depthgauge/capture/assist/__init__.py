"""The capture assistant: what a session still lacks, before anybody paints anything."""

from depthgauge.capture.assist.advice import Advice, Assistance, assist
from depthgauge.capture.assist.boards_seen import CameraBoards, look_at_boards
from depthgauge.capture.assist.sharpness import edge_width_px, texture_sharpness

__all__ = [
    "Advice",
    "Assistance",
    "CameraBoards",
    "assist",
    "edge_width_px",
    "look_at_boards",
    "texture_sharpness",
]
