"""The errors of a simulated annotator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class AnnotatorNoise:
    """How far a simulated annotator is from the exact geometry; angles are means."""

    normal_deg: float = 0.0
    """Tilt of each normal, independently."""
    surface_deg: float = 0.0
    """Common tilt of all normals of one surface, independently for each surface."""
    shared_surface_deg: float = 0.0
    """The same, but equal for everyone who annotates the picture: what the picture suggests."""
    common_tilt_deg: float = 0.0
    """Common rotation of all normals of one annotation: the shape is right, its orientation is
    not."""
    shared_tilt_deg: float = 0.0
    """The same, but equal for everyone."""
    stretch: float = 2.2
    """A plane that is stretched or compressed in depth by more than this factor looks wrong in the
    preview: it is turned back."""
    boundary_px: float = 0.0
    """Standard deviation of the corners of strokes."""
    missed: float = 0.0
    """Share of forgotten strokes among those shorter than a tenth of the picture's width; without a
    longer one the preview would look wrong."""
    side_errors: float = 0.0
    """Share of occlusions with the wrong closer side."""
    gap_px: float = 0.0
    """Strokes end up to this many pixels too early."""
    spacing_widths: float = 0.03
    """Distance between normals on curved surfaces, in widths of the image."""
    tolerance_px: float = 0.5
    """How far straight segments may be from a border."""
    relation_deg: float = 0.5
    """Planes within this angle of parallel or orthogonal are called so."""
    smallest_px: int = 40
    """Surfaces with fewer pixels are left out."""
    thinnest_px: float = 4.0
    """Surfaces that are nowhere thicker than this are left out."""
    region: Literal["whole", "margin", "polygon"] = "whole"
    """What is annotated: everything, all but a margin, or a polygon around the two points that it
    must contain."""


NONE = AnnotatorNoise()
"""No errors, except that lines have corners and normals a density."""
HUMAN = AnnotatorNoise(
    normal_deg=12.0,
    surface_deg=3.0,
    shared_surface_deg=8.0,
    common_tilt_deg=2.0,
    shared_tilt_deg=4.0,
    stretch=1.12,
    boundary_px=0.6,
    missed=0.03,
    side_errors=0.005,
    gap_px=1.0,
    spacing_widths=0.06,
    tolerance_px=1.0,
    relation_deg=5.0,
)
"""Differs like people from each other and from a sensor; see docs/simulated-annotator.md."""
CAREFUL = AnnotatorNoise(
    normal_deg=6.0,
    surface_deg=1.5,
    shared_surface_deg=8.0,
    common_tilt_deg=1.0,
    shared_tilt_deg=4.0,
    stretch=1.12,
    boundary_px=0.3,
    gap_px=0.5,
    spacing_widths=0.04,
    tolerance_px=0.7,
    relation_deg=5.0,
)
"""Own errors are half as large; what the picture suggests misleads everyone alike."""
LEVELS = {"none": NONE, "careful": CAREFUL, "human": HUMAN}
"""By name."""
