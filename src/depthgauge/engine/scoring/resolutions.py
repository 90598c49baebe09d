"""The truth at another resolution: items that begin with its name, under their plain names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from depthgauge.errors import Unavailable, WrongShape
from depthgauge.types import Camera, Map, Rig


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
