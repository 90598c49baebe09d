"""Regions of layers, by hand."""

from __future__ import annotations

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.errors import DepthgaugeError
from depthgauge.regions import compute_regions

NAN = np.nan
# Five pixels; the scored layer is the last one with a truth: 2 1 3 1 0.
TRUTH = np.array([[[9, 9, 9, 9, NAN]], [[4, NAN, 4, NAN, NAN]], [[NAN, NAN, 1, NAN, NAN]]])
KINDS = np.array([[[1, 0, 1, 2, 255]], [[0, 255, 1, 255, 255]], [[2, 255, 1, 255, 255]]], np.uint8)
BENT = np.array([[[0, 0, 0, 0, NAN]], [[2, NAN, 1, NAN, NAN]], [[NAN, NAN, 5, NAN, NAN]]])


def pixels(*regions, estimate=None):
    items = {"layer_material": KINDS, "refraction_px": BENT.astype(np.float32)}
    items["left_image"] = np.tile(np.array([0, 255], np.uint8), (1, 3))[:, :5]
    found = dg.score(
        TRUTH if estimate is None else estimate,
        TRUTH,
        "mae",
        quantity="layered_disparity",
        regions={f"r{i}": text for i, text in enumerate(regions)},
        items=items,
        check=False,
    )
    return [found[f"mae@r{i}"].count for i in range(len(regions))]


def test_materials_of_the_scored_layer():
    assert pixels("diffuse_layer", "transparent_layer", "reflective_layer") == [2, 1, 1]


def test_what_is_in_front():
    assert pixels("behind_transparent", "glass_in_front:0", "glass_in_front:1") == [2, 2, 1]
    assert pixels("glass_in_front:2", "glass_in_front:3") == [1, 0]


def test_how_strongly_glass_bends():
    assert pixels("refracted:0,1", "refracted:1,4", "refracted:4,9") == [2, 1, 1]
    assert pixels("refracted:4,9 & glass_in_front:2") == [1]
    assert pixels("refracted:0,1 & behind_transparent") == [0]


def test_contrast_around_a_pixel():
    assert pixels("contrast:0,1", "contrast:1,200") == [0, 4]
    grey = np.full((9, 9), 100, np.uint8)
    grey[4, 4] = 181
    found = compute_regions(
        {"faint": "contrast:0,8", "clear": "contrast:8,10"},
        np.ones((9, 9), np.float32),
        {"left_image": grey},
        quantity="disparity",
    )
    # 80 pixels of 100 and one of 181: the mean is 101, the standard deviation sqrt(80) = 8.94.
    assert found.masks["clear"][4, 4]
    assert not found.masks["faint"][4, 4]


def test_a_range_that_holds_nothing_is_refused():
    for text in ("refracted:2,1", "contrast:3,3"):
        with pytest.raises(DepthgaugeError, match="holds nothing"):
            pixels(text)
