"""Single pictures with exact depth, normals and surfaces.

Random scenes in closed form (`planar`, `curved`, `mixed`) and the rooms of the capture sessions
(`kitchen`, `bathroom`, `desk`), each determined by its seed:

    view = make_view("curved", seed=3)
    view.image, view.depth, view.normals, view.smooth_labels, view.continuous_labels
"""

from depthgauge.synth.sets.single_views._borders import (
    ATTACHED,
    SAME_SURFACE_DEG,
    flat_pieces,
    linked,
)
from depthgauge.synth.sets.single_views._furnish import KINDS
from depthgauge.synth.sets.single_views._make import REVISION, SIZE_PX, make_view
from depthgauge.synth.sets.single_views._rooms import ROOMS
from depthgauge.synth.sets.single_views._view import ExactView

__all__ = [
    "ATTACHED",
    "KINDS",
    "REVISION",
    "ROOMS",
    "SAME_SURFACE_DEG",
    "SIZE_PX",
    "ExactView",
    "flat_pieces",
    "linked",
    "make_view",
]
