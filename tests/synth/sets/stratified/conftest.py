"""Small light fields and pairs, each made once for all tests."""

from functools import cache

import numpy as np
import pytest

from depthgauge.synth.sets.stratified import make_pair, make_scene
from depthgauge.types import Sample

SIZE, VIEWS, SCALE = 128, 5, 4
CALM = {
    "dots": {"noise": "0:0:15"},
    "decalibration": {"offset": "0:0:10"},
    "exposure": {"stops": "0:0:10"},
    "repetition": {"period": "3:3:1"},
    "slant": {"gradient": "0:0.05:10"},
}
"""What makes views agree, as far as linear fetching can tell; those of glass and gloss never do."""


@cache
def _scene(name: str, calm: bool, size_px: int, scale: int) -> Sample:
    axes = {"sensor_noise": 0.0, **CALM.get(name, {})} if calm else {}
    return make_scene(name, size_px=size_px, views=VIEWS, scale=scale, **axes)


@cache
def _pair(name: str, calm: bool) -> Sample:
    calmed = {"sensor_noise": 0.0, **CALM.get(name, {})} if calm else {}
    return make_pair(name, size_px=SIZE, **calmed)


@pytest.fixture(scope="session")
def light_field():
    """A light field by name; `calm` leaves out what is wrong with the cameras."""

    def make(name, calm=False, size_px=SIZE, scale=SCALE):
        return _scene(name, calm, size_px, scale)

    return make


@pytest.fixture(scope="session")
def stereo():
    """A stereo pair by name."""

    def make(name, calm=False):
        return _pair(name, calm)

    return make


@pytest.fixture(scope="session")
def grow():
    """Masks and everything within so many pixels of them."""

    def make(mask, by):
        padded = np.pad(mask, by)
        height, width = mask.shape
        span = range(2 * by + 1)
        return np.any([padded[i : i + height, j : j + width] for i in span for j in span], axis=0)

    return make
