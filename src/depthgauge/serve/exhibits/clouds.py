"""Truth or estimate of a sample as points, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.maps.point_cloud import Cloud, cloud_of_depth
from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.errors import DepthgaugeError
from depthgauge.geometry.rigs import depth_from_map, main_camera
from depthgauge.io.shown import shown
from depthgauge.quantities import QUANTITIES
from depthgauge.report.pictures.encode import error_bar, value_bar
from depthgauge.report.pictures.model import ColourBar
from depthgauge.report.pictures.photo import image_of
from depthgauge.serve.exhibits.files import coloured
from depthgauge.types import Image, Map, is_known

Rgb = NDArray[np.uint8]


def clouds_of(made: SampleMaps, label: str, most: int) -> list[Cloud]:
    """The points of a method's estimate, or of the truth if there is no label.

    They are coloured by the photograph, by their value, and an estimate's by its error. Empty where
    the quantity or the rig gives no points.
    """
    like = QUANTITIES[made.quantity].main.like or made.quantity
    rig = None if made.unestimated is None else made.unestimated.items.get("rig")
    if rig is None or QUANTITIES[like].space is None:
        return []
    found = []
    for name, values, errors in _maps(made, label):
        try:
            camera = main_camera(rig)
            depth = depth_from_map(values, like, rig, camera)
            colours = _colours(made, like, values, errors)
            found.append(cloud_of_depth(depth, camera, colours, name=name, most=most))
        except DepthgaugeError:  # another size than the camera's, no baseline: no points
            return []
    return [cloud for cloud in found if len(cloud.points)]


def _maps(made: SampleMaps, label: str) -> list[tuple[str, Map, Map | None]]:
    """Name, values and errors of each layer."""
    if not made.layers:
        values = made.truth if not label else made.estimates.get(label)
        return [] if values is None else [("points", values, made.errors.get(label))]
    return [
        (f"layer {layer.number}", values, layer.errors.get(label))
        for layer in made.layers
        if (values := layer.estimates.get(label) if label else layer.truth) is not None
    ]


def _colours(made: SampleMaps, like: str, values: Map, errors: Map | None) -> Mapping[str, Rgb]:
    truth = made.truth if made.scale_truth is None else made.scale_truth
    unit = QUANTITIES[like].unit
    found: dict[str, Rgb] = {}
    photo = image_of(made.images)
    if photo is not None:
        found["image"] = fitting_photo(photo, values.shape[:2])
    found[like] = coloured(values, value_bar(truth if is_known(truth).any() else values, unit))
    if errors is not None:
        high = made.errors_up_to
        high = error_bar([errors], is_known(errors), unit).high if high is None else high
        found["error"] = coloured(errors, ColourBar(0.0, high, unit, "magma"))
    return found


def fitting_photo(photo: Image, size: tuple[int, int]) -> Rgb:
    """A photograph as RGB of that height and width."""
    import cv2

    pixels = np.rint(255 * np.clip(np.nan_to_num(shown(np.asarray(photo))), 0, 1)).astype(np.uint8)
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[..., None], 3, axis=2)
    if pixels.shape[:2] != size:
        pixels = cv2.resize(pixels, size[::-1], interpolation=cv2.INTER_AREA)
    return np.asarray(pixels[..., :3], np.uint8)
