"""Maps, cameras, samples, estimates, and regions packed into a plane."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape

Map = NDArray[np.float32]
"""(H, W) or (H, W, C), NaN where a value is missing."""
Mask = NDArray[np.bool_]
"""(H, W), True where a pixel is in the region."""
Image = NDArray[np.uint8] | NDArray[np.float32]
"""(H, W, 3) RGB or (H, W) grey, uint8 or linear float32 in 0..1."""


def is_known(values: Map) -> Mask:
    """Where a map has a value: all of its channels are finite."""
    if values.ndim == 2:
        return np.isfinite(values)
    # Channel by channel: a reduction over a last axis of two is ten times slower.
    known = np.isfinite(values[..., 0])
    for channel in range(1, values.shape[2]):
        known &= np.isfinite(values[..., channel])
    return known


def overlaid(*mappings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Several mappings as one; a name is looked up in the first that has it.

    Nothing is read or copied before somebody asks for it.

    >>> overlaid({"depth": 1}, {"depth": 2, "rig": 3})["depth"]
    1
    """
    return ChainMap(*mappings)  # type: ignore[arg-type]  # the result is only read


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A pinhole camera with lens distortion; pixel centres are at integers."""

    focal_px: tuple[float, float]
    """Focal length along x and y."""
    centre_px: tuple[float, float]
    """Principal point (x, y)."""
    size_px: tuple[int, int]
    """Width and height of the image."""
    distortion: tuple[float, ...] = ()
    """k1 k2 p1 p2 k3 ... in OpenCV's order; empty for none."""
    world_from_camera: NDArray[np.float64] = field(default_factory=lambda: np.eye(4))
    """4x4 pose; x right, y down, z forward."""

    def matrix(self) -> NDArray[np.float64]:
        """The 3x3 intrinsics matrix."""
        (fx, fy), (cx, cy) = self.focal_px, self.centre_px
        return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Camera):
            return NotImplemented
        names = ("focal_px", "centre_px", "size_px", "distortion")
        same = all(getattr(self, name) == getattr(other, name) for name in names)
        return same and np.array_equal(self.world_from_camera, other.world_from_camera)

    def __hash__(self) -> int:
        return hash((self.focal_px, self.centre_px, self.size_px, self.distortion))


@dataclass(frozen=True, slots=True)
class Rig:
    """Cameras that are fixed to each other."""

    cameras: Mapping[str, Camera]
    """By name: `left`, `right`, or the names of a camera grid's views."""
    baseline_m: float = math.nan
    """Distance between neighbouring cameras; NaN if unknown."""
    principal_offset_px: float = 0.0
    """x of the right principal point minus that of the left (Middlebury's `doffs`)."""


class Frames(Sequence[Any]):
    """The frames of a clip in order, each read when it is used and not kept.

    Args:
        loaders: A callable without arguments for each frame, or the frame itself.
        source: An object that must live as long as the frames, such as a temporary folder.

    >>> clip = Frames([lambda: 1, lambda: 2, 3])
    >>> len(clip), clip[1], list(clip[1:]), list(clip)
    (3, 2, [2, 3], [1, 2, 3])
    """

    __slots__ = ("_loaders", "source")

    def __init__(self, loaders: Iterable[Any], source: object = None) -> None:
        self._loaders = tuple(loaders)
        self.source = source

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> Frames: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Frames(self._loaders[index], self.source)
        frame = self._loaders[index]
        return frame() if callable(frame) else frame

    def __len__(self) -> int:
        return len(self._loaders)

    def unread(self) -> tuple[Any, ...]:
        """The frames as they were given: loaders, and those that are in memory."""
        return self._loaders

    def __repr__(self) -> str:
        return f"Frames({len(self)})"


class Items(Mapping[str, Any]):
    """Named items that are read when they are first used.

    Values are given directly or as loaders (callables without arguments); `items.left_image` and
    `items["left_image"]` are the same.
    """

    __slots__ = ("_loaders", "_values")

    def __init__(self, things: Mapping[str, Any]) -> None:
        self._values = {name: thing for name, thing in things.items() if not callable(thing)}
        self._loaders: dict[str, Callable[[], Any]] = {
            name: thing for name, thing in things.items() if callable(thing)
        }

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._loaders[name]()
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self:
            raise AttributeError(f"there is no '{name}' here, only {', '.join(self)}")
        return self[name]

    def at_hand(self) -> dict[str, Any]:
        """What was read so far, and what did not need to be read."""
        return dict(self._values)

    def unread(self) -> dict[str, Any]:
        """The things as they were given: values, and loaders in place of what they have read."""
        kept = {n: v for n, v in self._values.items() if n not in self._loaders}
        return {**kept, **self._loaders}

    def fresh(self) -> Self:
        """The same items with nothing read yet; what was read belongs to the old ones."""
        return type(self)(self.unread())

    def __getstate__(self) -> dict[str, Any]:
        # What was read is read again in another process: loaders travel, maps do not.
        return self.unread()

    def __setstate__(self, things: dict[str, Any]) -> None:
        self.__init__(things)  # type: ignore[misc]  # __init__ is the only place that sorts them

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._values, *self._loaders}))

    def __len__(self) -> int:
        return len({*self._values, *self._loaders})

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self._loaders

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self)})"


class Inputs(Items):
    """What a method may see: images, rig, disparity range, and what its tier allows."""

    __slots__ = ()


class Truth(Items):
    """What only the evaluator sees.

    A map of each quantity under the quantity's name (`disparity`, `depth`, `flow`), masks under
    `<name>_mask`, label maps under `<name>_labels`; a right view's map as `right_disparity`.
    """

    __slots__ = ()


def clip_length(items: Mapping[str, Any]) -> int | None:
    """The number of frames of a clip's items; None if none of them is a sequence.

    Raises:
        WrongShape: They have different numbers of frames.
    """
    found = {name: len(thing) for name, thing in items.items() if isinstance(thing, Frames)}
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{name} {n}" for name, n in sorted(found.items()))
        raise WrongShape(f"the items of a clip have different numbers of frames: {listed}.")
    return next(iter(found.values()), None)


def frame_name(index: int) -> str:
    """The name of a frame's folder; names are in the order of the frames.

    >>> frame_name(7)
    '000007'
    """
    return f"{index:06d}"


def _at(items: Items, index: int) -> dict[str, Any]:
    """The items of one frame, not read yet."""
    return {
        name: partial(thing.__getitem__, index) if isinstance(thing, Frames) else thing
        for name, thing in items.unread().items()
    }


@dataclass(frozen=True, slots=True)
class Sample:
    """One thing to be estimated: a scene, a frame, an image pair; or a clip, whose items are
    `Frames`.
    """

    id: str
    """The dataset's own name of it, stable across machines."""
    inputs: Inputs
    truth: Truth | None
    """None where the truth is not in the data (a held-out test split)."""
    scene: str = ""
    """What `pool = "scene"` merges; empty: its own scene."""
    extra: bool = False
    """Beside the public benchmark: a folder of estimates need not have it."""

    def fresh(self) -> Sample:
        """The same sample with nothing read yet, to be used and let go."""
        truth = None if self.truth is None else self.truth.fresh()
        return Sample(self.id, self.inputs.fresh(), truth, self.scene, self.extra)

    @property
    def length(self) -> int | None:
        """The number of frames of a clip; None if the sample is not a clip.

        Raises:
            WrongShape: Its items have different numbers of frames.
        """
        truth = {} if self.truth is None else self.truth.unread()
        try:
            return clip_length({**truth, **self.inputs.unread()})
        except WrongShape as error:
            raise WrongShape(f"{self.id}: {error}") from None

    def frames(self) -> Iterator[Sample]:
        """The frames of a clip as samples, one after the other; of other samples, the sample.

        Items that are not sequences, such as a rig, belong to every frame.
        """
        length = self.length
        if length is None:
            yield self
            return
        for index in range(length):
            truth = None if self.truth is None else Truth(_at(self.truth, index))
            name = f"{self.id}/{frame_name(index)}"
            yield Sample(name, Inputs(_at(self.inputs, index)), truth, self.scene)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a method returns: the parts of one quantity."""

    values: Map
    """The main map, NaN where there is no estimate."""
    quantity: str
    parts: Mapping[str, Any] = field(default_factory=dict)
    """The other parts by name: `focal_px`, `confidence`, further maps of the quantity."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """What else a method reports; shown to people, never scored."""


@dataclass(frozen=True, slots=True)
class ClipEstimate:
    """What a method returns for a clip: one `Estimate` per frame, never all in memory."""

    frames: Frames
    """In the clip's order; None, or a shorter list, if frames have no estimate."""
    quantity: str
    extras: Mapping[str, Any] = field(default_factory=dict)
    """What else a method reports; shown to people, never scored."""
    declared: int | None = None
    """The method makes only so many frames, the first ones, and is scored on those; None: all."""


@dataclass(frozen=True, slots=True)
class Plane:
    """All regions of a sample packed into one integer map: bit i of a pixel is region i.

    The bit patterns that occur are the plane's *atoms*: disjoint by construction, and every region
    is a sum of atoms. A pixel without truth has no bit set.
    """

    codes: NDArray[np.unsignedinteger[Any]]
    """(H, W); `atoms[lookup[code]]` is the pattern of a pixel."""
    names: tuple[str, ...]
    """Region names, bit 0 first."""
    atoms: NDArray[np.uint64]
    """The distinct patterns, ascending."""
    lookup: NDArray[np.int32]
    """From code to index into `atoms`."""

    def members(self, name: str) -> NDArray[np.bool_]:
        """Which atoms make up that region."""
        bit = np.uint64(self.names.index(name))
        return np.asarray((self.atoms >> bit) & np.uint64(1) == 1)
