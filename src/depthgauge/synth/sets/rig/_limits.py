"""All limits of proposals, trajectories and rendered scenes; a scene's record repeats them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """What a proposal has to keep. The defaults are those of the published sets."""

    spawns: int = 12
    """Spawn: so many places are tried."""
    support_m: float = 0.25
    """Spawn: the ground under the subject's path rises or falls by no more than this."""
    clear_m: float = 0.05
    """Spawn: free space around the cylinder that the subject needs."""
    camera_clear_m: float = 0.25
    """Collision: free space around every camera, in all directions."""
    camera_up_m: float = 0.3
    """Collision: least height of a camera above the ground."""
    seen_pair: float = 0.6
    """Visibility: share of the subject's points that cameras 00 and 01 see."""
    seen_all: float = 0.3
    """Visibility: the same for all other cameras, if they have the subject in their image."""
    framed_pair: float = 0.75
    """Framing: share of the subject's points within the images of cameras 00 and 01."""
    framed_cameras: int = 6
    """Framing: least cameras with at least half of the subject's points in their image."""
    smallest: float = 0.10
    """Framing: least height of the subject in heights of the image."""
    largest: float = 0.95
    """Framing: greatest height of the subject in heights of the image."""
    step_m: float = 0.20
    """Motion: most a camera moves from one frame to the next."""
    step_deg: float = 3.0
    """Motion: most it turns from one frame to the next."""
    least_m_s: float = 0.1
    """Motion: least mean speed of the rig."""
    candidates: int = 48
    """Viewpoints on the hemisphere around the subject."""
    restarts: int = 8
    """How often a trajectory is cut and continued another way."""
    valid_depth: float = 0.6
    """After rendering: least share of pixels with depth, in every frame of every camera."""
    subject_px: float = 0.002
    """After rendering: least share of pixels that show the subject, in cameras 00 and 01."""
    dark: float = 20.0
    """After rendering: least mean code of every picture."""
    contrast: float = 10.0
    """After rendering: least standard deviation of the codes of every picture."""
    near_share: float = 0.35
    """After rendering: most of the border that may show something nearer than `near` distances."""
    near: float = 0.35
    """After rendering: what counts as near, in distances of the subject."""

    def to_json(self) -> dict[str, Any]:
        """For records."""
        return asdict(self)


class Rejected(Exception):
    """A proposal that is not kept."""

    def __init__(self, reason: str) -> None:
        """Says why, in one of the words of `REASONS`."""
        super().__init__(reason)
        self.reason = reason


REASONS = (
    "spawn",
    "collision",
    "visibility",
    "framing",
    "motion",
    "missing frames",
    "invalid depth",
    "poor visibility",
    "edge occlusion",
)
"""Why proposals are rejected, in the order in which it is looked for."""
