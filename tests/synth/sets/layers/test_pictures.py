"""Pictures and truth agree: the same pixel centres, normals and indices."""

import itertools

import numpy as np
import pytest

pytest.importorskip("embreex", reason="layers need Embree: depthgauge[render]")
pytest.importorskip("mitsuba", reason="pictures need Mitsuba: depthgauge[render]")

from depthgauge.synth.library.glassware._bodies import superquadric
from depthgauge.synth.render.embree import trace
from depthgauge.synth.render.layers import OPAQUE, trace_layers
from depthgauge.synth.render.lit import RoomTracer
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene import texture as paints
from depthgauge.synth.scene.camera import pinhole
from depthgauge.synth.scene.material import Finish, Material
from depthgauge.synth.scene.model import Scene, Thing

SIDE_M = 2.0
CLOUDS = paints.Mottled(((0.05,) * 3, (0.4,) * 3, (0.9,) * 3), paints.waves(3, 0.09, 3))
WALL = meshes.rectangle((-1.0, -1.0, 1.5), (2.0, 0.0, 0.0), (0.0, 2.0, 0.0))
CAMERA = pinhole((128, 96), 120.0)


def shift_px(rendered, predicted, inside):
    """How far a picture is moved against its prediction, by least squares; gain and offset free."""
    dy, dx = np.gradient(predicted)
    parts = [predicted, dx, dy, np.ones_like(predicted)]
    columns = np.stack([part[inside] for part in parts], axis=-1)
    found = np.linalg.lstsq(columns, rendered[inside], rcond=None)[0]
    gain, x, y, _ = found
    return x / gain, y / gain, np.corrcoef(columns @ found, rendered[inside])[0, 1]


@pytest.mark.parametrize("index", [1.2, 1.6])
def test_what_is_seen_through_glass_is_where_the_tracer_says(index):
    glass = Finish("glass", (1.0, 1.0, 1.0), index=index)
    wall = Material("diffuse", (0.4,) * 3, CLOUDS, SIDE_M)
    block = superquadric((0.34, 0.30, 0.08), 0.45).turned(12).moved(0.02, 0.31, 1.0)
    scene = Scene("wall", (Thing("wall", WALL, wall), Thing("block", block, glass)), ())
    layers = trace_layers(trace(scene), CAMERA)
    last = np.maximum(layers.count.astype(int) - 1, 0)
    row, column = np.indices(last.shape)
    at = layers.position[last, row, column]
    tone = CLOUDS.colour((at[..., 0] + 1.0, at[..., 1] + 1.0, np.zeros(last.shape)))[1]
    tracer = RoomTracer(scene, 1024)
    lit = tracer.under((), np.ones((16, 32, 3), np.float32))
    rendered = tracer.render(lit, CAMERA, 64, 1)[..., 1].astype(np.float64)
    for count in (1, 2):
        whole = (layers.count == count) & (layers.end == OPAQUE)
        core = whole.copy()
        for axis, step in itertools.product((0, 1), (-2, -1, 1, 2)):
            core &= np.roll(whole, step, axis)  # at the rim of the block a pixel sees both
        assert core.sum() > 4000
        x, y, fit = shift_px(rendered, np.nan_to_num(tone), core)
        assert abs(x) < 0.02
        assert abs(y) < 0.02
        assert fit > 0.97


def test_the_same_seed_gives_the_same_bits_and_another_seed_other_noise():
    wall = Material("diffuse", (0.4,) * 3, CLOUDS, SIDE_M)
    scene = Scene("wall", (Thing("wall", WALL, wall),), ())
    tracer = RoomTracer(scene, 64)
    lit = tracer.under((), np.ones((8, 16, 3), np.float32))
    small = pinhole((32, 24), 30.0)
    one, same, other = (tracer.render(lit, small, 4, seed) for seed in (1, 1, 2))
    assert one.tobytes() == same.tobytes()
    assert one.tobytes() != other.tobytes()


def test_the_sky_is_above():
    sky = np.zeros((16, 32, 3), np.float32)
    sky[:8] = 1.0
    far = meshes.rectangle((-1.0, 40.0, 40.0), (2.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    tracer = RoomTracer(Scene("far", (Thing("far", far, Material("diffuse")),), ()), 16)
    picture = tracer.render(tracer.under((), sky), pinhole((32, 24), 20.0), 4, 1)[..., 0]
    assert picture[:9].mean() == pytest.approx(1.0, abs=0.02)
    assert picture[15:].mean() == pytest.approx(0.0, abs=0.02)
