"""Layers through glass: what counts, where rays end, and refraction against closed forms."""

import math

import numpy as np
import pytest

from depthgauge.errors import Misuse
from depthgauge.synth.library.objects import bottle
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.camera import pinhole, pose_looking
from depthgauge.synth.scene.material import KINDS, Finish, Material, plain
from depthgauge.synth.scene.model import Scene, Thing

pytest.importorskip("embreex", reason="ray queries need Embree: depthgauge[render]")

from depthgauge.synth.render import embree, layers

GLASS = Material("glass")
CAMERA = pinhole((41, 31), 40.0)
MIDDLE = (15, 20)
DIFFUSE, TRANSPARENT, REFLECTIVE = range(3)


def wall(z_m: float, material: Material | None = None) -> Thing:
    flat = meshes.rectangle((-5.0, -5.0, z_m), (0.0, 10.0, 0.0), (10.0, 0.0, 0.0), 10.0)
    return Thing("wall", flat, material or plain("#888888"))


def block(name: str, size_m: tuple[float, float, float], z_m: float, material: Material) -> Thing:
    """A box around the optical axis whose front is at this depth."""
    width, height, depth = size_m
    box = meshes.box(width, height, depth, 10.0).moved(y=height / 2, z=z_m + depth / 2)
    return Thing(name, box, material)


def pane(thick_m: float, z_m: float, index: float = 1.5, name: str = "pane") -> Thing:
    return block(name, (9.0, 9.0, thick_m), z_m, Finish("glass", index=index))


def ball(name: str, radius_m: float, z_m: float, **finish: float) -> Thing:
    mesh = meshes.ball(radius_m, around=192).moved(y=radius_m, z=z_m)
    return Thing(name, mesh, Finish("glass", **finish))


def traced(*things: Thing) -> embree.TracedScene:
    return embree.trace(Scene("test", things, ()))


def through(*things: Thing, **options) -> layers.Layers:
    return layers.trace_layers(traced(*things), CAMERA, **options)


# --- what counts ---------------------------------------------------------------------------------


def test_a_pane_before_a_wall_is_two_layers():
    found = through(pane(0.01, 1.0), wall(3.0))
    assert (found.count == 2).all()
    assert (found.end == layers.OPAQUE).all()
    np.testing.assert_allclose(found.depth[0], 1.0, atol=1e-9)
    np.testing.assert_allclose(found.depth[1], 3.0, atol=1e-9)
    assert np.array_equal(found.object[:, 7, 7], [0, 1, -1, -1])
    assert np.array_equal(found.thing[:, 7, 7], [0, 1, -1, -1])
    assert np.array_equal(found.material[:, 7, 7], [TRANSPARENT, DIFFUSE, -1, -1])
    assert found.valid[:, 7, 7].tolist() == [True, True, False, False]
    np.testing.assert_allclose(found.normal[0], np.broadcast_to([0, 0, -1.0], (31, 41, 3)))
    assert np.isnan(found.position[2:]).all()


def test_a_hollow_bottle_is_two_layers_and_a_solid_one_is_one():
    camera = pinhole((3, 3), 400.0, pose_looking((0.0, -0.1, 0.0), (0.0, -0.1, 1.0)))
    hollow = [Thing(t.name, t.mesh.moved(z=1.0), t.material) for t in bottle("bottle", GLASS)]
    outside = [(0.0, 0.0), (0.038, 0.0), (0.038, 0.2), (0.0, 0.2)]
    solid = [Thing("bottle", meshes.lathe(outside).moved(z=1.0), GLASS)]
    for things, expected in ((hollow, 2), (solid, 1)):
        found = layers.trace_layers(traced(*things, wall(3.0)), camera)
        assert found.count[1, 1] == expected + 1
        names = [found.object[layer, 1, 1] for layer in range(expected + 1)]
        assert names == [0] * expected + [1]
        open_ = layers.trace_layers(traced(*things), camera)
        assert (open_.count[1, 1], open_.end[1, 1]) == (expected, layers.ESCAPED)


def test_the_opaque_end_counts_also_inside_glass():
    core = block("core", (0.1, 0.1, 0.1), 1.2, plain("#ff0000"))
    found = through(block("block", (0.5, 0.5, 0.5), 1.0, GLASS), core, wall(3.0))
    assert found.count[MIDDLE] == 2
    assert found.end[MIDDLE] == layers.OPAQUE
    assert np.array_equal(found.object[:2, 15, 20], [0, 1])
    assert found.depth[1][MIDDLE] == pytest.approx(1.2)


def test_a_ray_that_escapes_ends_without_a_layer():
    found = through(block("block", (0.2, 0.2, 0.2), 1.0, GLASS))
    assert (found.count[0, 0], found.end[0, 0]) == (0, layers.ESCAPED)
    assert (found.count[MIDDLE], found.end[MIDDLE]) == (1, layers.ESCAPED)


def test_rough_glass_ends_a_ray_and_the_limit_is_recorded():
    frosted = block("door", (9.0, 9.0, 0.01), 1.0, Finish("glass", roughness=0.3))
    found = through(frosted, wall(3.0))
    assert found.rough == layers.ROUGH == 0.2
    assert (found.count == 1).all()
    assert (found.end == layers.OPAQUE).all()
    assert (found.material[0] == DIFFUSE).all()
    clear = through(frosted, wall(3.0), rough=0.3)
    assert clear.rough == 0.3
    assert (clear.count == 2).all()
    assert (clear.material[0] == TRANSPARENT).all()
    assert (through(pane(0.01, 1.0), wall(3.0), rough=0.0).count == 2).all()


def test_kinds_of_materials():
    looks = ["mirror", "polished", "rough", "brushed", "ceramic", "diffuse"]
    kinds = [KINDS[through(wall(2.0, Material(look))).material[0][MIDDLE]] for look in looks]
    assert kinds == ["reflective"] * 4 + ["diffuse"] * 2


def test_layers_end_at_the_number_asked_for_and_need_one():
    panes = [pane(0.01, 1.0 + n, name=f"pane {n}") for n in range(3)]
    found = through(*panes, wall(8.0), most=2)
    assert found.depth.shape == (2, 31, 41)
    assert (found.count == 2).all()
    assert (found.end == layers.MOST).all()
    assert (through(*panes, wall(8.0)).end == layers.OPAQUE).all()
    with pytest.raises(Misuse, match="from 1, found 0"):
        through(*panes, most=0)
    with pytest.raises(Misuse, match=r"at least 0, found -0\.1"):
        through(*panes, rough=-0.1)


def test_thin_sheets_bend_nothing_and_thin_panes_are_not_missed():
    sheet = wall(1.0, Finish("glass", thin=True))
    found = through(Thing("sheet", sheet.mesh, sheet.material), wall(3.0))
    assert (found.count == 2).all()
    x = (np.arange(41) - 20) / 40 * 3.0
    np.testing.assert_allclose(found.position[1, 15, :, 0], x, atol=1e-9)
    foil = through(pane(0.0001, 1.0), wall(3.0))
    assert (foil.count == 2).all()
    assert (foil.end == layers.OPAQUE).all()
    assert len(foil.paths) == 2  # nothing, and in and out of the pane


# --- refraction ----------------------------------------------------------------------------------


def behind_pane(slope: float, thick_m: float, far_m: float, index: float) -> float:
    """Where a ray through a pane meets a wall, by Snell's law."""
    inside = math.tan(math.asin(math.sin(math.atan(slope)) / index))
    return slope * (far_m - thick_m) + inside * thick_m


@pytest.mark.parametrize("index", [1.5, 1.33, 1.0])
def test_a_pane_shifts_what_is_behind_it_by_the_analytic_amount(index):
    focal, thick, far = 500.0, 0.05, 3.0
    camera = pinhole((401, 31), focal)
    frame = traced(pane(thick, 1.0, index), wall(far))
    found = layers.trace_layers(frame, camera)
    slope = (np.arange(401) - 200) / focal
    expected = np.array([behind_pane(s, thick, far, index) for s in slope])
    np.testing.assert_allclose(found.position[1, 15, :, 0], expected, atol=1e-9)
    shift_px = (found.position[1, 15, :, 0] / far - slope) * focal
    np.testing.assert_allclose(shift_px, (expected / far - slope) * focal, atol=1e-5)
    if index == 1.0:
        assert np.abs(shift_px).max() < 1e-6
    elif index == 1.5:
        assert np.abs(shift_px).max() > 1.0


def test_a_ball_bends_rays_as_a_lens_does():
    """Against Snell's law on a true sphere, in the plane of the axis."""
    radius, z, far, index = 0.3, 2.0, 4.0, 1.5
    camera = pinhole((201, 3), 1500.0)
    found = layers.trace_layers(traced(ball("ball", radius, z), wall(far)), camera)
    column = 130
    way = np.array([(column - 100) / 1500.0, 1.0]) / math.hypot((column - 100) / 1500.0, 1.0)
    start = np.zeros(2)
    for ratio in (1 / index, index):
        middle = np.array([0.0, z]) - start
        along = float(way @ middle)
        half = math.sqrt(radius**2 - float(middle @ middle) + along**2)
        start = start + way * (along - half if ratio < 1 else along + half)
        normal = (start - [0.0, z]) / radius * (1 if ratio < 1 else -1)
        cosine = -float(way @ normal)
        root = math.sqrt(1 - ratio**2 * (1 - cosine**2))
        way = ratio * way + (ratio * cosine - root) * normal
    expected = start[0] + way[0] / way[1] * (far - start[1])
    assert abs(found.position[1, 1, column, 0] - expected) < 2e-3
    assert abs(expected - far * (column - 100) / 1500.0) > 0.1


def test_total_reflection_ends_the_ray_and_is_marked():
    # Behind the front face rays are within 41.8 degrees of the axis, so more than 48 off a side.
    found = through(block("block", (0.4, 9.0, 5.0), 1.0, GLASS), wall(9.0))
    assert (found.count[15, 25], found.end[15, 25]) == (1, layers.REFLECTED)
    assert (found.count[MIDDLE], found.end[MIDDLE]) == (2, layers.OPAQUE)


# --- nested media --------------------------------------------------------------------------------


def test_nested_glass_counts_no_layer_and_is_bent_by_the_ratio_of_both_indices():
    """A ball in a ball of the same glass is not there; a bubble in it is, but no layer."""
    outer, far = ball("outer", 0.5, 2.0), wall(4.0)
    alone = through(outer, far)
    same = through(outer, ball("inner", 0.2, 2.0, outside_index=1.5), far)
    np.testing.assert_allclose(same.position[1], alone.position[1], atol=1e-9)
    assert np.array_equal(same.count, alone.count)
    oil = through(outer, ball("inner", 0.2, 2.0, index=1.7, outside_index=1.5), far)
    assert (oil.count[MIDDLE], oil.end[MIDDLE]) == (2, layers.OPAQUE)
    differs = np.abs(oil.position[1] - alone.position[1]).max(axis=-1)
    assert np.nanmax(differs[13:18, 19:22]) > 1e-3


def test_a_bubble_of_air_in_glass_shows_its_far_side_as_a_layer():
    """Its far side is met from air, as the inside of a hollow bottle is."""
    bubble = ball("bubble", 0.2, 2.0, index=1.0, outside_index=1.5)
    found = through(ball("outer", 0.5, 2.0), bubble, wall(4.0))
    assert found.count[MIDDLE] == 3
    assert found.depth[:3, 15, 20] == pytest.approx([1.5, 2.2, 4.0], abs=1e-3)


def test_water_that_touches_its_glass_leaves_no_air_between_them():
    """In, glass to water, water to glass, out: two layers, and the sum of Snell's shifts."""
    focal, far, thick, wet = 40.0, 3.0, 0.02, 0.5

    def face(name, z_m, towards, material):
        flat = meshes.rectangle((-5.0, -5.0, z_m), (0.0, 10.0, 0.0), (10.0, 0.0, 0.0), 10.0)
        mesh = flat if towards == flat.normals[0, 2] else flat.turned(180.0).moved(z=2 * z_m)
        return Thing(name, mesh, material)

    glass, touching = Finish("glass"), Finish("glass", index=1.5, outside_index=1.33)
    found = through(
        face("front", 1.0, -1.0, glass),
        face("wet front", 1.0 + thick, 1.0, touching),
        face("wet back", 1.0 + thick + wet, -1.0, touching),
        face("back", 1.0 + 2 * thick + wet, 1.0, glass),
        wall(far),
    )
    assert (found.count == 2).all()
    assert np.array_equal(found.object[:2, 15, 20], [0, 4])
    slope = (np.arange(41) - 20) / focal
    inside = {n: np.tan(np.arcsin(np.sin(np.arctan(slope)) / n)) for n in (1.5, 1.33)}
    expected = slope * (far - wet - 2 * thick) + inside[1.33] * wet + inside[1.5] * 2 * thick
    np.testing.assert_allclose(found.position[1, 15, :, 0], expected, atol=1e-9)
    assert [code // 4 for code in found.paths[int(found.signature[1][MIDDLE])]] == [0, 1, 2, 3]


# --- signatures, rays ----------------------------------------------------------------------------


def test_signatures_name_what_was_crossed():
    found = through(block("block", (0.5, 0.5, 0.5), 1.0, GLASS), wall(3.0))
    signature = int(found.signature[1][MIDDLE])
    assert found.paths[signature] == (1, 0)  # into thing 0, and out of it
    assert found.paths[int(found.signature[0][MIDDLE])] == ()
    assert found.paths[int(found.signature[0][0, 0])] == ()


def test_rays_that_no_lens_gives_have_no_layers():
    tracer = layers.LayerTracer(traced(wall(2.0)))
    ways = np.array([[0.0, 0.0, 1.0], [np.nan, 0.0, 1.0]])
    found = tracer.follow(np.zeros((2, 3)), ways)
    assert found.count.tolist() == [1, 0]
    assert found.end.tolist() == [layers.OPAQUE, layers.ESCAPED]


def test_a_ray_that_starts_on_a_surface_leaves_it():
    tracer = layers.LayerTracer(traced(pane(0.01, 1.0), wall(3.0)))
    away = np.array([[0.0, 0.0, -1.0], [0.3, 0.1, -1.0]])
    from_wall = tracer.follow(np.array([0.2, 0.1, 3.0]), away)
    assert from_wall.count.tolist() == [1, 1]  # the pane, and nothing behind it
    np.testing.assert_allclose(from_wall.position[0, :, 2], 1.01, atol=1e-9)
    into_wall = tracer.follow(np.array([0.2, 0.1, 3.0]), np.array([[0.0, 0.0, 1.0]]))
    assert into_wall.count.tolist() == [0]


def test_the_kitchen_is_traced_through_its_glass():
    """The first layer is what a ray meets; every ray ends on something opaque or is reflected."""
    from depthgauge.synth.library.rooms import kitchen

    camera = pinhole((64, 48), 55.0, pose_looking((0.0, -0.45, 0.0), (0.3, -0.3, 1.7)))
    frame = embree.trace(kitchen(seed=4))
    found = layers.trace_layers(frame, camera)
    seen = embree.visible_surfaces(frame, camera)
    assert (found.triangle[0] == seen.triangles).mean() > 0.999
    ended = found.end == layers.OPAQUE
    assert ended.mean() > 0.98
    assert set(np.unique(found.end)) <= {layers.OPAQUE, layers.REFLECTED, layers.MOST}
    last = np.take_along_axis(found.material, np.maximum(found.count[None], 1) - 1, axis=0)[0]
    assert (last[ended] != TRANSPARENT).all()
    for layer in range(1, 4):
        present = found.valid[layer]
        assert (found.material[layer - 1][present] == TRANSPARENT).all()
        assert (found.depth[layer][present] > found.depth[layer - 1][present]).mean() > 0.99
    window, garden = map(frame.names.index, ("window", "garden"))
    behind = (found.object[0] == window) & (found.count == 2)
    assert behind.sum() > 30
    assert (found.object[1][behind] == garden).mean() > 0.9


# --- the picture ---------------------------------------------------------------------------------


@pytest.mark.long
def test_the_path_tracer_refracts_at_the_same_normals():
    """A coarse glass ball shows the wall in Mitsuba's picture where the layers say, smoothly."""
    pytest.importorskip("mitsuba", reason="pictures need Mitsuba: depthgauge[render]")
    from scipy.stats import spearmanr

    from depthgauge.synth.library.shapes import stone
    from depthgauge.synth.render.mitsuba import PathTracer
    from depthgauge.synth.render.painted import paint, surface_at
    from depthgauge.synth.scene.light import Light

    texture = stone("#101010 #808080 #f0f0f0", 1, 0.3, 2)
    far = wall(3.0, Material("diffuse", (0.5, 0.5, 0.5), texture, 12.0))
    mesh = meshes.ball(0.3, around=24).moved(y=0.3, z=1.5)
    corners = mesh.vertices[mesh.triangles]
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    face = np.repeat(face / np.linalg.norm(face, axis=1, keepdims=True), 3, axis=0)
    single = np.arange(len(face), dtype=np.int32).reshape(-1, 3)
    flat = meshes.Mesh(corners.reshape(-1, 3), single, face, np.zeros((len(face), 2)))
    lamp = Light((0.0, -6.0, -4.0), (0.0, 0.0, 3.0), (3.0, 3.0), (40.0, 40.0, 40.0))
    fine = pinhole((256, 192), 440.0)

    def predicted(ball_mesh):
        frame = traced(far, Thing("ball", ball_mesh, GLASS))
        found = layers.trace_layers(frame, fine, most=2)
        sees = (found.object[1] == 0) & (found.end == layers.OPAQUE)
        hits = np.where(sees, found.triangle[1], np.int32(-1)).ravel()
        tone = surface_at(paint(frame, 512), np.zeros(3), found.position[1].reshape(-1, 3), hits)
        means = tone.tone.reshape(48, 4, 64, 4, 3).mean(axis=(1, 3, 4))
        return means, sees.reshape(48, 4, 64, 4).all(axis=(1, 3))

    smooth, seen = predicted(mesh)
    faceted, seen_too = predicted(flat)
    tracer = PathTracer(Scene("ball", (far, Thing("ball", mesh, GLASS)), ()), 512)
    picture = tracer.render(tracer.lit((lamp,)), pinhole((64, 48), 110.0), 128, 1).mean(axis=-1)
    both = seen & seen_too
    assert both.sum() > 800
    agrees = spearmanr(picture[both], smooth[both]).statistic
    assert agrees > 0.9
    assert agrees > spearmanr(picture[both], faceted[both]).statistic + 0.1
