"""An annotation as a sample of a dataset: the photograph, and what the records give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.certain_pairs import certain_depth_pairs
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction, reconstruct
from depthgauge.annotate.reconstruct.segmentation import FOLD, SHARP, SMOOTH, Segmentation
from depthgauge.annotate.records.annotation import Annotation, Picture
from depthgauge.errors import WrongShape
from depthgauge.geometry.pairs import (
    NEITHER,
    ORTHOGONAL,
    PARALLEL,
    DepthPairs,
    sample_depth_pairs,
    sample_normal_pairs,
)
from depthgauge.types import Image, Inputs, Map, Sample, Truth

_RELATIONS = {"neither": NEITHER, "parallel": PARALLEL, "orthogonal": ORTHOGONAL}
_DEPTH_PAIRS, _NORMAL_PAIRS = 200, 20


def sample_of(
    annotation: Annotation,
    image: Image,
    *,
    seed: int = 0,
    made: Reconstruction | None = None,
    published_pairs: bool = False,
) -> Sample:
    """The sample, with the items that OASIS has.

    Args:
        annotation: What was drawn.
        image: The photograph.
        seed: Seed of the reconstruction and of the random pairs.
        made: The reconstruction at full size, if it exists already.
        published_pairs: See `depth_pairs_of`.

    Raises:
        WrongShape: The photograph has another size than the annotated one.
    """
    picture = annotation.picture
    require_size(image, picture)
    done = reconstruct(annotation, seed=seed) if made is None else made
    truth = truth_of(annotation, done, seed=seed, published_pairs=published_pairs)
    return Sample(picture.id, Inputs({"left_image": image}), truth)


def require_size(image: Image, picture: Picture) -> None:
    """Refuses a photograph that does not have the annotated size.

    Raises:
        WrongShape: It has another size.
    """
    if image.shape[:2] != (picture.height_px, picture.width_px):
        raise WrongShape(
            f"{picture.id}: the photograph is {image.shape[1]}x{image.shape[0]} but the annotated "
            f"one is {picture.width_px}x{picture.height_px}; give the annotated file."
        )


def truth_of(
    annotation: Annotation, made: Reconstruction, *, seed: int = 0, published_pairs: bool = False
) -> Truth:
    """The items of a reconstruction, by the names that datasets use.

    Args:
        annotation: What was drawn.
        made: Its reconstruction.
        seed: Seed of the random pairs.
        published_pairs: See `depth_pairs_of`.
    """
    parts = made.segmentation
    planes = plane_numbers(parts)
    relations = plane_relations(annotation, parts)
    pairs = sample_normal_pairs(planes, relations, _NORMAL_PAIRS, seed)
    items: dict[str, Any] = {
        "depth": made.depth,
        "normals": made.normals,
        "boundaries": boundaries_of(parts),
        "planes": planes,
        "camera": made.camera,
        "roi_mask": parts.region,
        "continuous_labels": parts.continuous,
        "smooth_labels": parts.smooth,
        "sharp_occlusion_mask": parts.kind == SHARP,
        "smooth_occlusion_mask": parts.kind == SMOOTH,
        "relative_depth": depth_pairs_of(made, seed=seed, published=published_pairs),
    }
    if len(relations):
        items["plane_relations"] = relations
        items["relative_normals"] = pairs[:, :5].astype(np.int32)
    return Truth(items)


def depth_pairs_of(made: Reconstruction, *, seed: int = 0, published: bool = False) -> DepthPairs:
    """Pairs of points for the order of depths.

    Args:
        made: A reconstruction.
        seed: Seed of the random choice.
        published: Any two points with different depths, as in OASIS. Otherwise points whose order
            follows from the records, by at least 1 % (`certain_depth_pairs`).
    """
    if published:
        return sample_depth_pairs(made.depth, _DEPTH_PAIRS, seed)
    return certain_depth_pairs(made, _DEPTH_PAIRS, seed)


def boundaries_of(parts: Segmentation) -> Map:
    """(H, W, 2): occlusions and folds as 0 and 1, NaN outside the region."""
    lines = np.stack([(parts.kind == SHARP) | (parts.kind == SMOOTH), parts.kind == FOLD], axis=-1)
    return np.where(parts.region[..., None], lines, np.nan).astype(np.float32)


def plane_numbers(parts: Segmentation) -> Map:
    """(H, W): the number of a planar smooth surface, 0 on curved ones, NaN outside the region."""
    planar = [number for number, shape in parts.shapes.items() if shape == "planar"]
    flat = np.where(np.isin(parts.smooth, planar), parts.smooth, 0)
    return np.where(parts.region, flat, np.nan).astype(np.float32)


def plane_relations(annotation: Annotation, parts: Segmentation) -> NDArray[np.int32]:
    """(m, 3): two planes and their relation; relations of other surfaces are left out."""
    rows = []
    for relation in annotation.relations.values():
        first, second = (parts.marks.get(name, 0) for name in (relation.first, relation.second))
        flat = all(parts.shapes.get(number) == "planar" for number in (first, second))
        if flat and first != second:
            rows.append((first, second, _RELATIONS[relation.kind]))
    return np.array(rows, np.int32).reshape(-1, 3)
