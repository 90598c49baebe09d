"""A reconstruction as a mesh or as points, for viewers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate._links import depth_links
from depthgauge.annotate.reconstruct import Reconstruction
from depthgauge.errors import Misuse, Unavailable, WrongShape
from depthgauge.geometry import backproject
from depthgauge.io import PointCloud, write_glb, write_ply

_GREY = 200


def mesh_of(reconstruction: Reconstruction, image: NDArray[np.uint8] | None = None) -> PointCloud:
    """Triangles between neighbouring pixels of one continuous surface: none bridges an occlusion.

    Args:
        reconstruction: What `reconstruct` returned.
        image: (H, W, 3) RGB for the colours; one of another size is resized. Grey if not given.

    Returns:
        Points in camera axes (x right, y down, z forward), one for each pixel with a depth, with
        normals, colours and faces that turn counter-clockwise for the viewer.

    Raises:
        Unavailable: There is no pixel with a depth.
    """
    cloud = points_of(reconstruction, image)
    inside = _inside(reconstruction)
    number = np.full(inside.shape, -1, np.int32)
    number[inside] = np.arange(np.count_nonzero(inside), dtype=np.int32)
    links = depth_links(reconstruction.segmentation)
    right, down = links.right[:-1, :-1], links.down[:-1, :-1]
    below, beside = links.right[1:, :-1], links.down[:-1, 1:]
    here, east = number[:-1, :-1], number[:-1, 1:]
    south, diagonal = number[1:, :-1], number[1:, 1:]
    first = np.stack([here, south, east], axis=-1)[right & down]
    second = np.stack([east, south, diagonal], axis=-1)[below & beside]
    faces = np.concatenate([first, second])
    faces = faces[(faces >= 0).all(axis=1)]
    return PointCloud(cloud.points, cloud.colours, cloud.normals, faces)


def points_of(reconstruction: Reconstruction, image: NDArray[np.uint8] | None = None) -> PointCloud:
    """The points of `mesh_of`, without faces."""
    inside = _inside(reconstruction)
    if not inside.any():
        raise Unavailable("the reconstruction has no pixel with a depth, so there is no mesh")
    points = backproject(reconstruction.depth, reconstruction.camera)[inside]
    return PointCloud(points, _colours(image, inside.shape)[inside], reconstruction.normals[inside])


def write_mesh(path: str | Path, mesh: PointCloud) -> None:
    """Writes a mesh or cloud as binary PLY (camera axes) or GLB (y up, z towards the viewer).

    Raises:
        Misuse: The file's name ends in neither `.ply` nor `.glb`.
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
