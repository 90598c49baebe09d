"""Point clouds for a browser: one binary file of coordinates, colours and layers.

docs/web.md describes the format to the byte.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, WrongShape
from depthgauge.geometry.projection import backproject
from depthgauge.io.text import parse_json
from depthgauge.types import Camera, Map

MOST_POINTS = 300_000
"""Of one layer: more cannot be told apart on a screen."""
_MAGIC = b"DGPC"


@dataclass(frozen=True, slots=True)
class Cloud:
    """Points in camera axes (x right, y down, z forward, metres), coloured in one or more ways."""

    points: NDArray[np.float32]
    """(N, 3)."""
    colours: Mapping[str, NDArray[np.uint8]]
    """What the colours show (`image`, `disparity`, `error` ...) -> (N, 3)."""
    layers: Sequence[tuple[str, int]] = field(default=())
    """Name and number of points of each layer, in the order of the points; empty for one layer."""
    fov_deg: float = 50.0
    """Vertical field of view of the camera that saw them."""


def cloud_of_depth(
    depth_m: Map,
    camera: Camera,
    colours: Mapping[str, NDArray[np.uint8]],
    *,
    name: str = "points",
    most: int = MOST_POINTS,
) -> Cloud:
    """The points of a depth map; pixels without a depth have none.

    Args:
        depth_m: (H, W) along the optical axis.
        camera: That took it.
        colours: What they show -> (H, W, 3) picture of the same size.
        name: Of this layer.
        most: Larger maps are thinned out evenly, by whole rows and columns.

    Raises:
        WrongShape: The map does not have the camera's size, or a picture not the map's.
    """
    height, width = depth_m.shape
    for what, picture in colours.items():
        if picture.shape != (height, width, 3):
            raise WrongShape(
                f"the colours '{what}' have the shape {picture.shape}; make them "
                f"{(height, width, 3)}, as the depth map."
            )
    step = max(1, math.ceil(math.sqrt(depth_m.size / most)))
    points = backproject(depth_m, camera)[::step, ::step].reshape(-1, 3)
    kept = np.isfinite(points).all(axis=1)
    painted = {
        what: picture[::step, ::step].reshape(-1, 3)[kept] for what, picture in colours.items()
    }
    fov = 2 * math.degrees(math.atan(height / (2 * camera.focal_px[1])))
    return Cloud(points[kept], painted, ((name, int(kept.sum())),), fov)


def layered_cloud(clouds: Sequence[Cloud]) -> Cloud:
    """Several clouds as the layers of one; they keep the colourings that all of them have.

    Raises:
        WrongShape: There is no cloud.
    """
    if not clouds:
        raise WrongShape("a cloud of layers needs at least one cloud.")
    shared = [what for what in clouds[0].colours if all(what in each.colours for each in clouds)]
    return Cloud(
        np.concatenate([each.points for each in clouds]),
        {what: np.concatenate([each.colours[what] for each in clouds]) for what in shared},
        [layer for each in clouds for layer in each.layers],
        clouds[0].fov_deg,
    )


def encode_cloud(cloud: Cloud) -> bytes:
    """The file that the viewer reads (`.dgpc`).

    Raises:
        WrongShape: Points, colours and layers do not have the same number of points.
    """
    count = len(cloud.points)
    layers = list(cloud.layers) or [("points", count)]
    lengths = [len(colours) for colours in cloud.colours.values()]
    if any(length != count for length in [*lengths, sum(size for _, size in layers)]):
        raise WrongShape(f"{count} points need as many colours, and layers of as many points.")
    header = {
        "version": 1,
        "count": count,
        "colours": list(cloud.colours),
        "layers": [{"name": name, "count": size} for name, size in layers],
        "fov_deg": round(cloud.fov_deg, 4),
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    # Floats have to start at a multiple of four bytes.
    text += b" " * (-len(text) % 4)
    parts = [_MAGIC, struct.pack("<I", len(text)), text]
    parts.append(np.ascontiguousarray(cloud.points, "<f4").tobytes())
    parts += [np.ascontiguousarray(each, np.uint8).tobytes() for each in cloud.colours.values()]
    return b"".join(parts)


def decode_cloud(content: bytes) -> Cloud:
    """What `encode_cloud` wrote.

    Raises:
        BadFile: It is something else, or damaged.
    """
    if content[:4] != _MAGIC or len(content) < 8:
        raise BadFile("this is not a point cloud of depthgauge: it does not begin with DGPC.")
    (length,) = struct.unpack_from("<I", content, 4)
    start = 8 + length
    try:
        header = parse_json(content[8:start].decode("utf-8"))
        count, names = int(header["count"]), [str(name) for name in header["colours"]]
        layers = [(str(each["name"]), int(each["count"])) for each in header["layers"]]
        fov = float(header["fov_deg"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile("the header of this point cloud cannot be read; write it again.") from error
    if count < 0 or len(content) != start + count * (12 + 3 * len(names)):
        raise BadFile("this point cloud does not have the size that its header says.")
    points = np.frombuffer(content, "<f4", 3 * count, start).reshape(-1, 3)
    first = start + 12 * count
    colours = {
        name: np.frombuffer(content, np.uint8, 3 * count, first + 3 * count * k).reshape(-1, 3)
        for k, name in enumerate(names)
    }
    return Cloud(points, colours, layers, fov)
