"""A scene as a light field: views, and the truth of the centre view at two resolutions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._once import cached_property
from depthgauge.geometry.disparity import depth_from_disparity
from depthgauge.io import LightFieldParameters
from depthgauge.synth.sets.stratified import _render
from depthgauge.synth.sets.stratified._grid import SENSOR_MM, Grid
from depthgauge.synth.sets.stratified._model import packed
from depthgauge.synth.sets.stratified._records import PackedScene
from depthgauge.synth.sets.stratified._render import ExactMaps
from depthgauge.synth.sets.stratified._scene import REVISION, Region, Scene, View
from depthgauge.types import Inputs, Map, Sample, Truth

_GOLDEN = 0.6180339887498949
_FRUSTUM = (-2.0, 2.0)


@dataclass(frozen=True)
class LightField:
    """Computes the parts of a sample on demand and caches what several need."""

    scene: Scene
    size_px: int
    views: int
    scale: int
    seed: int
    sensor_noise: float = 0.0

    def sample(self) -> Sample:
        """The sample; nothing is computed yet."""
        parameters = self._parameters()
        inputs = {
            "views": self.all_views,
            "centre_image": self.centre_image,
            "disparity_range": self.scene.disparity_range(self.grid),
            "rig": parameters.rig,
            "parameters": parameters,
        }
        truth: dict[str, Any] = {
            "disparity": self.disparity,
            "depth": self.depth,
            "high_disparity": self.high_disparity,
            "high_depth": self.high_depth,
        }
        if self.scene.levels():
            truth["axes"] = partial(_render.axes_item, self.scene)
        for name, item in _render.region_items(self.scene).items():
            truth[item] = partial(self.region, name)
            truth[f"high_{item}"] = partial(self.high_region, name)
        return Sample(self.scene.name, Inputs(inputs), Truth(truth))

    @cached_property
    def grid(self) -> Grid:
        """The cameras."""
        return Grid(self.scene.optics, self.size_px)

    @cached_property
    def numbers(self) -> PackedScene:
        """The scene, as the kernels read it."""
        return packed(self.scene.things(self.grid, 1.0), self.grid, self.scene.seed(self.seed))

    def all_views(self) -> NDArray[np.uint8]:
        """(rows, columns, H, W, 3), rows going down."""
        shape = (self.views, self.views, self.size_px, self.size_px, 3)
        images = np.zeros(shape, np.uint8)
        for row, column in np.ndindex(self.views, self.views):
            images[row, column] = self._image(row, column)
        return images

    def centre_image(self) -> NDArray[np.uint8]:
        """The view that the truth belongs to."""
        return self._image(self.views // 2, self.views // 2)

    def disparity(self) -> Map:
        """Upper medians of the high resolution."""
        return self._low.disparity

    def high_disparity(self) -> Map:
        """Values at the centres of `scale` times smaller pixels."""
        return self._high.disparity

    def depth(self) -> Map:
        """Upper medians of the high resolution; the point may differ from the disparity's."""
        return _render.upper_median(self._high_depth, self.scale)[0]

    def high_depth(self) -> Map:
        """Values at the centres of `scale` times smaller pixels."""
        return self._high_depth

    def region(self, name: str) -> Region:
        """A mask or a numbered region at the size of the views."""
        return self._regions[name]

    def high_region(self, name: str) -> Region:
        """A mask or a numbered region at the high resolution."""
        return self._high_regions[name]

    @cached_property
    def _high(self) -> ExactMaps:
        return _render.truth(self.numbers, View(), self.size_px, self.scale)

    @cached_property
    def _low(self) -> ExactMaps:
        return _render.reduced(self._high, self.scale)

    @cached_property
    def _high_depth(self) -> Map:
        optics = (self.grid.focal_px, self.grid.baseline_m, self.grid.offset_px)
        return depth_from_disparity(self._high.disparity, *optics)

    @cached_property
    def _regions(self) -> dict[str, Region]:
        return _render.regions(self.scene, self._low, self.size_px)

    @cached_property
    def _high_regions(self) -> dict[str, Region]:
        return _render.regions(self.scene, self._high, self.size_px)

    def _image(self, row: int, column: int) -> NDArray[np.uint8]:
        view = self._view(row, column)
        seed = (*self.scene.seed(self.seed), row, column)
        return _render.image(self.scene, self.numbers, view, self.size_px, self.sensor_noise, seed)

    def _view(self, row: int, column: int) -> View:
        middle = self.views // 2
        place = row * self.views + column
        centre = middle * self.views + middle
        # Evenly spread and the same for every seed.
        share = ((place - centre) * _GOLDEN) % 1.0
        flaws = self.scene.flaws(self.size_px)
        return flaws.view(column - middle, row - middle, 2 * share - 1 if share else 0.0, share)

    def _parameters(self) -> LightFieldParameters:
        low, high = self.scene.disparity_range(self.grid)
        return LightFieldParameters(
            focal_length_mm=self.scene.optics.focal_mm,
            image_resolution_x_px=self.size_px,
            image_resolution_y_px=self.size_px,
            sensor_size_mm=SENSOR_MM,
            num_cams_x=self.views,
            num_cams_y=self.views,
            baseline_mm=self.grid.baseline_mm,
            focus_distance_m=self.scene.optics.focus_m,
            fstop=100.0,
            scene=self.scene.name,
            version=f"stratified {REVISION}, seed {self.seed}",
            authors="depthgauge",
            disp_min=low,
            disp_max=high,
            frustum_disp_min=_FRUSTUM[0],
            frustum_disp_max=_FRUSTUM[1],
            depth_map_scale=float(self.scale),
        )

    def __getstate__(self) -> dict[str, Any]:
        # Cached parts are computed again in another process.
        names = ("scene", "size_px", "views", "scale", "seed", "sensor_noise")
        return {name: getattr(self, name) for name in names}
