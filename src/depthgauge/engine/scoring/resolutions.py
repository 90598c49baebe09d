"""Truths at other sizes than the plain one.

A finer resolution: items that begin with its name, under their plain names. One size for all
samples: every item that is a picture or a map, brought there when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from depthgauge.errors import Unavailable, WrongShape
from depthgauge.geometry.resizing import Resizing, resize
from depthgauge.io.shown import shown
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Camera, Image, Map, Rig


class FinerItems(Mapping[str, Any]):
    """The items `high_disparity`, `high_fine_mask` ... as `disparity`, `fine_mask` ...

    Items are read when they are first used.
    """

    def __init__(self, items: Mapping[str, Any], resolution: str) -> None:
        self._items = items
        self._prefix = f"{resolution}_"

    def __getitem__(self, name: str) -> Any:
        return self._items[self._prefix + name]

    def __contains__(self, name: object) -> bool:
        return f"{self._prefix}{name}" in self._items

    def __iter__(self) -> Iterator[str]:
        return (n.removeprefix(self._prefix) for n in self._items if n.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class InputsWithoutImages(Mapping[str, Any]):
    """The inputs that have no size of their own: ranges, parameters; no pictures.

    The rig is given as that of cameras with more and smaller pixels.

    Args:
        inputs: The inputs of the sample.
        factor: How many of the finer pixels are one of the images along each axis.
        kept: Whether disparities stay in pixels of the images.
    """

    def __init__(self, inputs: Mapping[str, Any], factor: int = 1, *, kept: bool = False) -> None:
        self._inputs = inputs
        self._factor = factor
        self._kept = kept
        self._names = [n for n in inputs if not n.endswith("image") and n != "views"]

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        found = self._inputs[name]
        return finer_rig(found, self._factor, kept=self._kept) if name == "rig" else found

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def finer_rig(rig: Rig, factor: int, *, kept: bool) -> Rig:
    """The same cameras with pixels of a fraction of the size.

    The depth f b / (d + offset) must stay the same. If d stays in the images' pixels, a focal
    length that is k times as long needs a baseline of b / k; otherwise the offset grows with d.
    """
    cameras = {name: _finer_camera(camera, factor) for name, camera in rig.cameras.items()}
    if kept:
        return Rig(cameras, rig.baseline_m / factor, rig.principal_offset_px)
    return Rig(cameras, rig.baseline_m, rig.principal_offset_px * factor)


def _finer_camera(camera: Camera, factor: int) -> Camera:
    fx, fy = (factor * f for f in camera.focal_px)
    cx, cy = ((c + 0.5) * factor - 0.5 for c in camera.centre_px)
    width, height = (factor * n for n in camera.size_px)
    return replace(camera, focal_px=(fx, fy), centre_px=(cx, cy), size_px=(width, height))


def size_factor(plain: Map, fine: Map, resolution: str) -> int:
    """How many of the finer truth's pixels make one of the plain truth's along each axis.

    Raises:
        WrongShape: It is not a whole number.
        Unavailable: The finer truth is not larger.
    """
    (height, width), (tall, wide) = plain.shape[:2], fine.shape[:2]
    factor = int(tall // height)
    if factor < 1:
        raise Unavailable(f"the truth at resolution '{resolution}' is smaller than the plain one.")
    if (tall, wide) != (factor * height, factor * width):
        raise WrongShape(
            f"the truth at resolution '{resolution}' is {wide}x{tall}, "
            f"which is not a whole multiple of {width}x{height}."
        )
    return factor


class ItemsAtSize(Mapping[str, Any]):
    """The items of a sample at one size: pictures, maps, masks, labels and cameras.

    Pictures are resampled and become float32 from 0 to 1; values of maps, such as disparities,
    follow their size, and are picked, never blended, since a mean of two surfaces is neither.

    Args:
        items: At their own sizes, which may differ from each other.
        size_px: Width and height.
        how: How pictures are resampled.
    """

    def __init__(self, items: Mapping[str, Any], size_px: tuple[int, int], how: Resizing) -> None:
        self._items = items
        self._shape = (size_px[1], size_px[0])
        self._how = how

    def __getitem__(self, name: str) -> Any:
        found = self._items[name]
        if isinstance(found, Rig):
            cameras = {key: self._camera(camera) for key, camera in found.cameras.items()}
            return replace(found, cameras=cameras)
        if isinstance(found, Camera):
            return self._camera(found)
        if not isinstance(found, np.ndarray) or found.ndim < 2:
            return found
        return self._resized(name, found)

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def _resized(self, name: str, found: Any) -> Any:
        quantity = next((q for q in (name, name.partition("_")[2]) if q in QUANTITIES), "")
        if name.endswith(("_mask", "_labels")):
            return self._picked(found)
        if name.endswith("image") or (quantity and QUANTITIES[quantity].error == "channels"):
            return picture_at(found, self._shape, self._how)
        if not quantity:
            return found
        along_y, along_x = (new / old for new, old in zip(self._shape, found.shape, strict=False))
        values = self._picked(np.asarray(found, np.float32))
        return QUANTITIES[quantity].scale(values, along_x, along_y)

    def _picked(self, values: Any) -> Any:
        """Each pixel takes the one in its middle, as pictures do; OpenCV's nearest does not."""
        rows, columns = (
            (2 * np.arange(new) + 1) * old // (2 * new)
            for new, old in zip(self._shape, values.shape[:2], strict=True)
        )
        return values[rows[:, None], columns[None]]

    def _camera(self, camera: Camera) -> Camera:
        along_x, along_y = (
            new / old for new, old in zip(self._shape[::-1], camera.size_px, strict=True)
        )
        (fx, fy), (cx, cy) = camera.focal_px, camera.centre_px
        return replace(
            camera,
            focal_px=(fx * along_x, fy * along_y),
            centre_px=((cx + 0.5) * along_x - 0.5, (cy + 0.5) * along_y - 0.5),
            size_px=self._shape[::-1],
        )


def picture_at(image: Image | Map, shape: tuple[int, int], how: Resizing) -> Map:
    """A picture at another height and width, float32; codes of 8 bits become 0 to 1."""
    return resize(shown(image), shape, how, "view")
