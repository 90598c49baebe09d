"""LayeredFlow: flow of several layers through glass, from photographs with tags (Princeton)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._layeredflow import maps
from depthgauge.datasets._layeredflow.maps import Grid, PixelRule
from depthgauge.datasets._layeredflow.points import (
    Annotation,
    Place,
    PointPairs,
    Tag,
    flow_pairs,
    read_tag_file,
    stereo_pairs,
    write_tag_file,
)
from depthgauge.datasets._paths import inside
from depthgauge.errors import BadFile, DepthgaugeError, Misuse, Unavailable
from depthgauge.geometry.camera_json import rig_from_json, rig_to_json
from depthgauge.io.stacks import is_member, read_stack
from depthgauge.io.text import read_json
from depthgauge.types import Estimate, Image, Inputs, Map, Rig, Sample, Truth

SPLITS = ("val", "test")
TRUTH_FILE, RIG_FOLDER = "gt.pickle", "calib"
Pairs = Literal["flow", "stereo", "scene_flow"]
"""What a sample is: two times of one camera, two cameras of one time, or both."""
_TIMES = (0, 3)
"""The times of the pictures without tags."""
_PICTURES = tuple(f"{time}_{camera}.png" for time in _TIMES for camera in (0, 1))
_AXES = ("layer", "c", "y", "x")
_MOST = 64

SPEC = DatasetSpec(
    id="layeredflow",
    title="LayeredFlow, flow of several layers through glass",
    quantities=(
        *("flow", "disparity", "depth", "scene_flow"),
        *("layered_flow", "layered_disparity", "layered_depth", "layered_scene_flow"),
    ),
    splits=(*SPLITS, "all"),
    licence="as its homepage says",
    cite="Wen, Liang & Deng, LayeredFlow: a real-world benchmark for non-Lambertian multi-layer "
    "optical flow, ECCV 2024",
    homepage="https://layeredflow.cs.princeton.edu",
    sample_layout="{val,test}/<scene>/ with 0_0.png, 0_1.png (time 0, left and right), 3_0.png, "
    "3_1.png (time 3) and, in val, gt.pickle; for depth also calib/<scene>.json",
    quantity_layouts={
        "layered_flow": ("results.npz/{sample}", "{sample}/flow.npy", "{sample}.csv"),
        "layered_disparity": ("{sample}/disparity.npy", "{sample}.csv"),
        "layered_depth": ("{sample}/depth.npy", "{sample}.csv"),
    },
)


@reader(SPEC)
def samples(
    root: Path,
    split: str,
    *,
    pairs: Pairs = "flow",
    reduce: int = 4,
    pixel: PixelRule = "nearest",
    most_row_offset_px: float = 2.0,
) -> Iterator[Sample]:
    """Samples of each scene, with the truth of tags as maps with layers.

    Points that fall on one pixel and layer count once. `layer_material` is 0 diffuse, 1
    transparent, 2 reflective, 255 none.

    Args:
        root: The folder with `val` and `test`, or the one above it.
        split: `val`, `test` or `all`.
        pairs: `flow`: `<scene>_<camera>`, the flow of the left (0) and the right camera (1).
            `stereo`: `<scene>_t<time>`, disparity and, where there is a calibration, depth at time
            0 and 3. `scene_flow`: `<scene>`, motion in space.
        reduce: How many pixels of the photographs make one of the maps along each axis.
        pixel: Which of them a point belongs to: `nearest`, `truncated` or `rounded`.
        most_row_offset_px: Stereo pairs whose rows differ by more px of the photographs are left
            out.

    Raises:
        Misuse: An option is something else.
    """
    _require_option("pairs", pairs, get_args(Pairs))
    _require_option("pixel", pixel, get_args(PixelRule))
    if type(reduce) is not int or not 1 <= reduce <= _MOST:
        raise Misuse(f"layeredflow: reduce is {reduce!r} but must be a whole number up to {_MOST}.")
    if not isinstance(most_row_offset_px, (int, float)) or not most_row_offset_px >= 0:
        raise Misuse(f"layeredflow: most_row_offset_px is {most_row_offset_px!r}; give px.")
    for folder in _scenes(root, split):
        scene = _Scene(folder, reduce, pixel, float(most_row_offset_px))
        if pairs == "scene_flow":
            yield scene.motion()
        else:
            yield from (scene.flow(k) if pairs == "flow" else scene.stereo(k) for k in (0, 1))


def _require_option(name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise Misuse(f"layeredflow: {name} is {value!r} but must be one of {', '.join(choices)}.")


def _scenes(root: Path, split: str) -> list[Path]:
    places = [root, root / "layeredflow"]
    top = next((p for p in places if any((p / name).is_dir() for name in SPLITS)), None)
    if top is None:
        return []
    names = SPLITS if split == "all" else (split,)
    found = [p for name in names for p in _folders(top / name)]
    return sorted(found, key=lambda p: (not p.name.isdecimal(), p.name.zfill(9)))


def _folders(place: Path) -> list[Path]:
    if not place.is_dir():
        return []
    return [p for p in place.iterdir() if any((p / name).is_file() for name in _PICTURES)]


@dataclass(frozen=True, slots=True)
class _Scene:
    """One scene's folder and how its points become maps; it travels to other processes."""

    folder: Path
    reduce: int
    pixel: PixelRule
    most_row_px: float

    @property
    def path(self) -> Path:
        return self.folder / TRUTH_FILE

    def picture(self, time: int, camera: int) -> Path:
        return self.folder / f"{_TIMES[time]}_{camera}.png"

    def image(self, time: int, camera: int) -> partial[Image]:
        return partial(_small_image, self.picture(time, camera), self.reduce)

    def grid(self, time: int = 0, camera: int = 0) -> Grid:
        return Grid(picture_size(self.picture(time, camera)), self.reduce, self.pixel)

    def flow(self, camera: int) -> Sample:
        """The flow of one camera."""
        inputs = {"first_image": self.image(0, camera), "second_image": self.image(1, camera)}
        read = partial(read_pairs, self.path, camera)
        truth = {
            "tags_path": str(self.path),
            "layered_flow": partial(self.made, maps.flow_map, read, 0, camera),
            "layer_material": partial(self.made, maps.material_map, read, 0, camera),
        }
        return self._sample(f"{self.folder.name}_{camera}", inputs, truth, ("flow",))

    def stereo(self, time: int) -> Sample:
        """The disparity of one time, and depth."""
        inputs: dict[str, Any] = {
            "left_image": self.image(time, 0),
            "right_image": self.image(time, 1),
        }
        read = partial(self.stereo_pairs, time)
        truth = {
            "tags_path": str(self.path),
            "layered_disparity": partial(self.made, maps.disparity_map, read, time),
            "layer_material": partial(self.made, maps.material_map, read, time),
            "row_residual_px": partial(self.made, maps.residual_map, read, time),
        }
        singles = ["disparity"]
        if (rig := self.rig_path()) is not None:
            inputs["rig"] = partial(self.small_rig, rig, time)
            truth["layered_depth"] = partial(self.depth, rig, time)
            singles.append("depth")
        return self._sample(f"{self.folder.name}_t{_TIMES[time]}", inputs, truth, singles)

    def motion(self) -> Sample:
        """Motion in space between the two times, seen from the left camera."""
        inputs: dict[str, Any] = {
            "left_image": self.image(0, 0),
            "right_image": self.image(0, 1),
            "first_image": self.image(0, 0),
            "second_image": self.image(1, 0),
            "right_next_image": self.image(1, 1),
        }
        read = partial(self.stereo_pairs, 0)
        truth: dict[str, Any] = {"tags_path": str(self.path)}
        singles: list[str] = []
        if (rig := self.rig_path()) is not None:
            inputs["rig"] = partial(self.small_rig, rig, 0)
            truth["layered_scene_flow"] = partial(self.scene_flow, rig)
            truth["layer_material"] = partial(self.made, maps.material_map, read, 0)
            singles.append("scene_flow")
        return self._sample(self.folder.name, inputs, truth, singles)

    def _sample(
        self, name: str, inputs: Mapping[str, Any], truth: dict[str, Any], singles: Sequence[str]
    ) -> Sample:
        for single in singles:
            truth[single] = partial(_first, truth[f"layered_{single}"])
        known = Truth(truth) if self.path.is_file() else None
        return Sample(name, Inputs(inputs), known, scene=self.folder.name)

    def made(
        self, make: Callable[[PointPairs, Grid], Any], read: Any, time: int, camera: int = 0
    ) -> Any:
        return make(read(), self.grid(time, camera))

    def stereo_pairs(self, time: int) -> PointPairs:
        """Corners in both cameras, without pairs whose rows differ too much."""
        pairs = _readable(self.path, lambda file: stereo_pairs(self.path, file, time))
        kept = np.abs(pairs.second[:, 1] - pairs.first[:, 1]) <= self.most_row_px
        return PointPairs(
            [tag for tag, keep in zip(pairs.tags, kept, strict=True) if keep],
            pairs.first[kept],
            pairs.second[kept],
            pairs.layer[kept],
            pairs.material[kept],
        )

    def depth(self, rig: Path, time: int) -> Map:
        return maps.depth_map(self.stereo_pairs(time), self.grid(time), read_rig(rig))

    def scene_flow(self, rig: Path) -> Map:
        before, after = self.stereo_pairs(0), self.stereo_pairs(1)
        return maps.motion_map(before, after, self.grid(), read_rig(rig))

    def rig_path(self) -> Path | None:
        """`calib/<scene>.json` beside the splits, or `rig.json` in the scene's folder."""
        beside = self.folder.parent.parent / RIG_FOLDER / f"{self.folder.name}.json"
        return next((p for p in (beside, self.folder / "rig.json") if p.is_file()), None)

    def small_rig(self, rig: Path, time: int) -> Rig:
        return self.grid(time).rig(read_rig(rig))


def picture_size(path: Path) -> tuple[int, int]:
    """Height and width of a photograph, from its header."""
    height, width, _ = io.map_size(path)
    return height, width


def read_rig(path: Path) -> Rig:
    """The two cameras of the rectified photographs.

    Raises:
        Unavailable: The file is damaged; other scenes can be scored.
    """
    try:
        rig = rig_from_json(read_json(path))
    except (DepthgaugeError, KeyError, TypeError, ValueError) as error:
        raise Unavailable(f"has no usable cameras: {path} ({error}).") from error
    if "left" not in rig.cameras or not rig.baseline_m > 0:
        raise Unavailable(f"has no usable cameras: {path} lacks 'left' or a baseline.")
    return rig


def read_pairs(path: Path, camera: int) -> PointPairs:
    """The valid corners of a scene in one camera, at both times.

    Raises:
        Unavailable: The file cannot be read; the sentence says why. Other scenes can be scored.
    """
    return _readable(path, lambda file: flow_pairs(path, file, camera))


def _readable(path: Path, use: Callable[[Any], PointPairs]) -> PointPairs:
    try:
        return use(read_tag_file(path))
    except DepthgaugeError as error:
        raise Unavailable(f"has no usable truth: {error}") from error


def _first(read: Callable[[], NDArray[np.float32]]) -> Map:
    first: Map = read()[0]
    return first


def _small_image(path: Path, reduce: int) -> Image:
    """A photograph at the size at which it is scored, shrunk by averaging."""
    picture = io.read_image(path)
    if reduce == 1:
        return picture
    import cv2

    height, width = (side // reduce for side in picture.shape[:2])
    small: Image = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    return small


def write_scene(
    root: Path,
    scene: str,
    images: Mapping[str, Image],
    optical: Sequence[Sequence[Place]],
    stereo: Sequence[Sequence[Place]],
    annotations: Mapping[Tag, Annotation],
    *,
    rig: Rig | None = None,
    split: str = "val",
) -> Path:
    """Writes a scene as the public scripts read it, and its cameras for ours.

    Args:
        root: The folder of the dataset.
        scene: Its name; the public ones are numbers.
        images: `0_0`, `0_1`, `3_0`, `3_1`: time and camera.
        optical: Corners in the four pictures, index camera + 2 * (time > 0).
        stereo: The same for stereo pairs.
        annotations: Of every corner; layers from 0.
        rig: The cameras `left` and `right` of the full-size pictures.
        split: `val` or `test`.

    Returns:
        The scene's folder.
    """
    folder = inside(Path(root), f"{split}/{scene}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, image in images.items():
        io.write_image(folder / f"{name}.png", image)
    write_tag_file(folder / TRUTH_FILE, optical, stereo, annotations)
    if rig is not None:
        (Path(root) / RIG_FOLDER).mkdir(exist_ok=True)
        body = json.dumps(rig_to_json(rig), indent=1, allow_nan=False)
        io.write_text(Path(root) / RIG_FOLDER / f"{scene}.json", body + "\n")
    return folder


def read_estimate(path: Path, quantity: str) -> Estimate | None:
    """An array of a public `results.npz`: (layers, 2, height, width); None for other files.

    Raises:
        BadFile: It is damaged or has another shape.
    """
    if quantity not in SPEC.quantity_layouts or not is_member(path):
        return None
    return Estimate(np.moveaxis(read_layers(path), 1, 3), quantity)


def read_layers(path: Path) -> Map:
    """An array of a public `results.npz`, as it is stored: (layers, 2, height, width).

    Raises:
        BadFile: It is damaged or has another shape.
    """
    values = read_stack(path, _AXES)
    if values.shape[1] != 2:
        raise BadFile(
            f"{path}: expected (layers, 2, height, width), found {values.shape}; the second axis "
            "holds u and v."
        )
    return values
