"""The table of contents of metrics, after the taxonomy of Honauer 2019, figure 3.1.

Metrics are sorted by what they have to compare an estimate with: dense truth, sparse truth, weak
references such as other views, or nothing. Quantities that the survey does not cover follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Category(NamedTuple):
    """One heading of the table of contents."""

    part: str
    """The part of the table that it belongs to."""
    title: str
    about: str
    """One sentence for people."""


_DENSE, _SPARSE = "Dense truth", "Sparse estimates and sparse truth"
_NONE, _OTHER = "Weak references and none", "Beyond stereo maps"

CATEGORIES: Mapping[str, Category] = {
    "values": Category(_DENSE, "Errors of values", "How far disparities or depths are off."),
    "depths": Category(
        _DENSE,
        "Errors of depth and of ratios",
        "Errors in metres, and relative, logarithmic and scale-invariant ones.",
    ),
    "correspondences": Category(
        _DENSE,
        "Errors of correspondences",
        "A disparity as a match: wrong, lost, or made up where the other view sees nothing.",
    ),
    "structure": Category(
        _DENSE, "Structure", "How similar neighbourhoods are, whatever their single values."
    ),
    "geometry": Category(
        _DENSE,
        "Surfaces, edges and fine structures",
        "Errors by what a scene consists of (Honauer 2019, chapter 4).",
    ),
    "sparse_estimates": Category(
        _SPARSE, "Sparse estimates", "How much of a map is missing, and where."
    ),
    "confidence": Category(
        _SPARSE, "Confidence", "Whether a method knows which of its values are wrong."
    ),
    "sparse_truth": Category(
        _SPARSE, "Sparse truth", "Where estimates and truth hardly meet at the same pixels."
    ),
    "weak_reference": Category(
        _NONE, "Weak references", "Other views of the scene, or further estimates of it."
    ),
    "no_reference": Category(_NONE, "No reference", "Only the estimate, and the image below it."),
    "motion": Category(_OTHER, "Motion", "Optical flow, scene flow, and maps that change in time."),
    "layers": Category(_OTHER, "Layers", "Several surfaces in one pixel, as through glass."),
    "normals": Category(_OTHER, "Normals", "Directions of surfaces."),
    "shape": Category(
        _OTHER, "Order and shape of single images", "Depth that is known up to scale or order only."
    ),
    "outlines": Category(_OTHER, "Boundaries and planes", "Lines and instances that are matched."),
    "views": Category(_OTHER, "Generated views", "Pictures of the other view, and videos of it."),
    "": Category(_OTHER, "Others", "Metrics of plug-ins that name no category."),
}
"""By the name that declarations use, in the order of the table of contents."""
