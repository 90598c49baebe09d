"""A reconstruction as a mesh or as points, for viewers."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._links import depth_links
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction
from depthgauge.errors import Misuse, Unavailable, WrongShape
from depthgauge.geometry import backproject
from depthgauge.io import PointCloud, write_glb, write_ply
from depthgauge.types import Mask

_GREY = 200
_MOST_PIXELS = 1_000_000
"""In larger pictures every n-th pixel is taken: viewers do not open files of gigabytes."""


def mesh_step(shape: tuple[int, ...]) -> int:
    """The step n such that a mesh of every n-th row and column has at most a million points.

    >>> mesh_step((1000, 1000)), mesh_step((1001, 1000)), mesh_step((3000, 4000))
    (1, 2, 4)
    """
    step = 1
    while -(-shape[0] // step) * -(-shape[1] // step) > _MOST_PIXELS:
        step += 1
    return step


def mesh_of(reconstruction: Reconstruction, image: NDArray[np.uint8] | None = None) -> PointCloud:
    """Triangles between neighbouring pixels of one continuous surface; none bridges an occlusion.

    In pictures with more than a million pixels, every n-th row and column is taken (`mesh_step`).

    Args:
        reconstruction: What `reconstruct` returned.
        image: (H, W, 3) RGB for the colours; resized if it has another size. Grey if not given.

    Returns:
        Points in camera axes (x right, y down, z forward), one for each taken pixel with a depth,
        with normals, colours, and faces that are counter-clockwise for the viewer.

    Raises:
        Unavailable: There is no pixel with a depth.
    """
    cloud = points_of(reconstruction, image)
    step = mesh_step(reconstruction.depth.shape)
    inside = _inside(reconstruction)[::step, ::step]
    number = np.full(inside.shape, -1, np.int32)
    number[inside] = np.arange(np.count_nonzero(inside), dtype=np.int32)
    upper, lower = _linked(reconstruction, step)
    here, east = number[:-1, :-1], number[:-1, 1:]
    south, diagonal = number[1:, :-1], number[1:, 1:]
    first = np.stack([here, south, east], axis=-1)[upper]
    second = np.stack([east, south, diagonal], axis=-1)[lower]
    faces = np.concatenate([first, second])
    faces = faces[(faces >= 0).all(axis=1)]
    return PointCloud(cloud.points, cloud.colours, cloud.normals, faces)


def points_of(reconstruction: Reconstruction, image: NDArray[np.uint8] | None = None) -> PointCloud:
    """The points of `mesh_of`, without faces."""
    whole = _inside(reconstruction)
    step = mesh_step(whole.shape)
    taken = np.s_[::step, ::step]
    inside = whole[taken]
    if not inside.any():
        raise Unavailable("the reconstruction has no pixel with a depth, so there is no mesh")
    points = backproject(reconstruction.depth, reconstruction.camera)[taken][inside]
    colours = _colours(image, whole.shape)[taken][inside]
    return PointCloud(points, colours, reconstruction.normals[taken][inside])


def _linked(reconstruction: Reconstruction, step: int) -> tuple[Mask, Mask]:
    """Whether depth is continuous over the upper left and lower right triangle of each square.

    A line between taken pixels cuts a triangle, too.
    """
    links = depth_links(reconstruction.segmentation)
    height, width = reconstruction.depth.shape
    rows, columns = (height - 1) // step, (width - 1) // step
    upper, lower = np.ones((rows, columns), np.bool_), np.ones((rows, columns), np.bool_)
    for i, j in product(range(step + 1), repeat=2):
        here = np.s_[i : i + rows * step : step, j : j + columns * step : step]
        triangle = upper if i + j < step else lower
        if j < step:
            triangle &= links.right[here]
        if i < step:
            triangle &= links.down[here]
    return upper, lower


def write_mesh(path: str | Path, mesh: PointCloud) -> None:
    """Writes a mesh or cloud as binary PLY (camera axes) or GLB (y up, z towards the viewer).

    Raises:
        Misuse: The file name ends in neither `.ply` nor `.glb`.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".ply":
        write_ply(path, mesh.points, mesh.colours, mesh.normals, mesh.faces)
    elif suffix == ".glb":
        write_glb(path, mesh.points, mesh.colours, mesh.normals, mesh.faces)
    else:
        raise Misuse(f"{path}: a mesh is written as .ply or .glb, not as '{suffix}'")


def _inside(reconstruction: Reconstruction) -> NDArray[np.bool_]:
    known = np.isfinite(reconstruction.depth) & (reconstruction.depth > 0)
    return known & np.isfinite(reconstruction.normals).all(axis=-1)


def _colours(image: NDArray[np.uint8] | None, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    if image is None:
        return np.full((*shape, 3), _GREY, np.uint8)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise WrongShape(f"the image must be uint8 (H, W, 3), found {image.dtype} {image.shape}")
    if image.shape[:2] == shape:
        return image
    import cv2

    resized = cv2.resize(image, (shape[1], shape[0]), interpolation=cv2.INTER_AREA)
    return np.asarray(resized, np.uint8)
