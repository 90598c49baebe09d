"""A scene as a rectified stereo pair: the centre view, and one to its right."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.synth.sets.stratified import _render
from depthgauge.synth.sets.stratified._grid import Grid
from depthgauge.synth.sets.stratified._model import packed
from depthgauge.synth.sets.stratified._scene import Scene, View
from depthgauge.types import Inputs, Map, Sample, Truth

STEPS = 8.0
"""Baselines between the two: as far as the outermost views of a 9x9 light field are apart."""


def pair(scene: Scene, size_px: int, seed: int) -> Sample:
    """Images, rig, disparity range; disparities of both views, depth, what both see, regions.

    The left image is the light field's centre view. The right one is shifted so that disparities
    are positive: d = steps (d_light_field - lowest), lowest being where the range begins.
    """
    grid = Grid(scene.optics, size_px)
    numbers = packed(scene.things(grid, STEPS), grid, scene.seed(seed))
    lowest, highest = scene.disparity_range(grid)
    flaws = scene.flaws(size_px)
    left, right = View(), flaws.view(STEPS, 0.0, 1.0, 1.0, shift_px=-STEPS * lowest)
    found = _render.truth(numbers, left, size_px, kind=np.float64)
    other = _render.truth(numbers, right, size_px, kind=np.float64)
    rig = grid.pair_rig(STEPS, lowest)

    def stereo(disparity: np.ndarray) -> Map:
        return (STEPS * (disparity - lowest)).astype(np.float32)

    truth = {
        "disparity": stereo(found.disparity),
        "right_disparity": stereo(other.disparity),
        "depth": (grid.focal_px * grid.baseline_m / (found.disparity + grid.offset_px)).astype(
            np.float32
        ),
        "visible_mask": _render.visible(numbers, right, found.disparity),
    }
    regions = _render.regions(scene, found, size_px)
    items = _render.region_items(scene)
    truth |= {items[name]: values for name, values in regions.items()}
    inputs = {
        "left_image": _render.image(scene, numbers, left, size_px, (*scene.seed(seed), 0)),
        "right_image": _render.image(scene, numbers, right, size_px, (*scene.seed(seed), 1)),
        "disparity_range": (0, math.ceil(STEPS * (highest - lowest))),
        "rig": rig,
    }
    return Sample(scene.name, Inputs(inputs), Truth(truth))
