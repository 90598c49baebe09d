"""Training pairs: what is seen at a pixel is seen again where the truth says."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
pytestmark = pytest.mark.nets

if torch:  # the modules below import it at their top
    from depthgauge.methods.nets._torch.correlation import warp
    from depthgauge.methods.nets._torch.data.draw import Draw
    from depthgauge.methods.nets._torch.data.layers import (
        draw_layers,
        make_alike,
        move_as_flow,
        move_as_stereo,
    )
    from depthgauge.methods.nets._torch.data.pairs import (
        flow_pairs,
        layered_pairs,
        stereo_pairs,
    )
    from depthgauge.methods.nets._torch.data.photometry import photographed
    from depthgauge.methods.nets._torch.data.pool import Pool, mirrored, upside_down
    from depthgauge.methods.nets._torch.data.scene import (
        Scene,
        View,
        back,
        colours,
        forth,
        seen,
        truth,
    )
    from depthgauge.methods.nets._torch.data.textures import look_up, make_textures

SIZE = (48, 64)


def a_bank(draw):
    return make_textures(draw, 6, 64, leaves=20)


def a_scene(seed, stereo, glasses=2):
    draw = Draw(seed)
    opaque = draw_layers(draw, 2, 6, SIZE, 6, 3 if stereo else 1)
    glass = draw_layers(draw, 2, glasses, SIZE, 6, 0)
    if stereo:
        move_as_stereo(draw, opaque, SIZE, 12.0, 3)
        move_as_stereo(draw, glass, SIZE, 12.0, 0)
    else:
        move_as_flow(draw, opaque, SIZE, 10.0)
        move_as_flow(draw, glass, SIZE, 10.0)
    return Scene(opaque, glass, SIZE, stereo), draw


def test_in_some_scenes_many_things_look_alike_and_some_are_thin():
    draw = Draw(4)
    layers = draw_layers(draw, 400, 18, SIZE, 160, 3)
    texture, half = layers.texture.clone(), layers.half.clone()
    make_alike(draw, layers, SIZE, 3)
    assert torch.equal(layers.texture[:, :3], texture[:, :3]), "planes stay as they are"
    assert torch.equal(layers.half[:, :3], half[:, :3])
    kinds = torch.tensor([len(set(row.tolist())) for row in layers.texture[:, 3:]])
    alike = kinds <= 10
    assert 0.4 < float(alike.float().mean()) < 0.6
    assert torch.equal(layers.texture[kinds >= 13], texture[kinds >= 13])
    slim = (layers.half[:, 3:] != half[:, 3:]).any(-1)
    assert 0.2 < float(slim.any(1).float().mean()) < 0.4
    assert float(layers.half[:, 3:][slim][:, 0].max()) <= 9


@pytest.mark.parametrize("stereo", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_forth_inverts_back(stereo, seed):
    """To 5 thousandths of a px, where layers are seen; perspective may be wild far outside."""
    scene, _ = a_scene(seed, stereo)
    p = scene.pixels()
    for i in range(len(scene.opaque)):
        layer = scene.opaque.one(i)
        again = back(layer, forth(layer, p))
        assert float((again - p).abs().quantile(0.999)) < 5e-3


def test_disparity_moves_along_rows_only():
    scene, _ = a_scene(5, True)
    p = scene.pixels()
    for match in scene.matches():
        assert torch.equal(match[:, 1], p[:, 1])


@pytest.mark.parametrize("stereo", [True, False])
def test_what_is_seen_twice_has_the_same_texels(stereo):
    """At its match in the second picture, a pixel that is visible there shows the same texel."""
    scene, _ = a_scene(11, stereo)
    matches = scene.matches()
    p = scene.pixels()
    first = seen(scene, View(p, matches))
    flow, _ = truth(Scene(scene.opaque, _none(scene.glass), SIZE, stereo), matches, 1)
    second = seen(scene, View(p + flow[:, 0], None))
    again = first.layer == second.layer
    away = (first.at - second.at).abs().amax(1)[again]
    assert float(again.float().mean()) > 0.6
    assert float(away.quantile(0.999)) < 0.01


def _none(glass):
    glass = glass.one(slice(0, 0))
    return glass


@pytest.mark.parametrize("stereo", [True, False])
def test_the_nearest_layer_wins(stereo):
    """The truth is the flow of the layer with the largest key among those that cover a pixel."""
    from depthgauge.methods.nets._torch.data.scene import inside

    scene, _ = a_scene(21, stereo)
    matches, p = scene.matches(), scene.pixels()
    flow, number = truth(scene, matches, 4)
    covers, keys = [], []
    every = [(scene.opaque, i) for i in range(len(scene.opaque))]
    every += [(scene.glass, i) for i in range(len(scene.glass))]
    for n, (group, i) in enumerate(every):
        layer = group.one(i)
        here = inside(layer, p)  # the first opaque layer is larger than the picture
        key = (p - matches[n])[:, 0] if stereo else layer.key[:, None, None].expand(here.shape)
        covers.append(here)
        keys.append(torch.where(here, key, -torch.inf))
    best = torch.stack(keys).argmax(0)
    expected = torch.zeros_like(p)
    for n, match in enumerate(matches):
        expected = torch.where((best == n)[:, None], match - p, expected)
    assert torch.allclose(flow[:, 0], expected)
    assert int(number.max()) <= 3


def test_the_last_layer_is_repeated():
    scene, _ = a_scene(31, False)
    flow, number = truth(scene, scene.matches(), 4)
    for k in range(1, 4):
        beyond = (number <= k)[:, None]
        assert torch.equal(
            torch.where(beyond, flow[:, k], 0.0), torch.where(beyond, flow[:, k - 1], 0.0)
        )
    assert int(number.max()) > 1, "no pixel of this scene has two layers"


@pytest.mark.parametrize("make", ["stereo", "flow"])
def test_warping_the_second_picture_gives_the_first(make):
    """Away from what is hidden: most pixels agree to a few grey values."""
    draw = Draw(7)
    pairs = {"stereo": stereo_pairs, "flow": flow_pairs}[make](draw, a_bank(draw), 3, (96, 128))
    motion = pairs.motion[:, 0]
    if make == "stereo":
        motion = torch.cat([-motion, torch.zeros_like(motion)], 1)
    y, x = torch.meshgrid(torch.arange(96.0), torch.arange(128.0), indexing="ij")
    there = torch.stack([x, y])[None] + motion
    inner = (there[:, 0] > 0) & (there[:, 0] < 127) & (there[:, 1] > 0) & (there[:, 1] < 95)
    away = (warp(pairs.second, there) - pairs.first).abs().mean(1)[inner]
    still = (pairs.second - pairs.first).abs().mean(1)[inner]
    assert float(away.median()) < 0.02
    assert float(away.median()) < 0.5 * float(still.median())


def test_layers_have_up_to_four_flows():
    draw = Draw(8)
    pairs = layered_pairs(draw, a_bank(draw), 4, (48, 64))
    assert pairs.motion.shape == (4, 4, 2, 48, 64)
    assert int(pairs.number.min()) >= 1
    assert int(pairs.number.max()) > 1


def test_a_seed_fixes_everything():
    one, other = (flow_pairs(Draw(3), a_bank(Draw(4)), 2, SIZE) for _ in range(2))
    assert torch.equal(one.first, other.first)
    assert torch.equal(one.motion, other.motion)


def test_textures_tile():
    bank = a_bank(Draw(1))
    at = torch.rand(1, 2, 5, 5) * 64
    which = torch.randint(6, (1, 5, 5))
    assert torch.allclose(
        look_up(bank, which, at).float(), look_up(bank, which, at + 128).float(), atol=2e-2
    )
    assert float(bank.min()) >= 0
    assert float(bank.max()) <= 1


def test_glass_mixes_what_is_behind_it():
    """A pane of opacity 1/2 everywhere is the mean of its own colour and what is behind."""
    scene, draw = a_scene(41, False, glasses=1)
    bank = a_bank(draw)
    scene.glass.half[:] = 1e6
    scene.glass.centre[:] = 0
    scene.glass.inner[:], scene.glass.duty[:], scene.glass.bumps[:] = 0, 1, 0
    scene.glass.key[:] = 100
    view = View(scene.pixels(), scene.matches())
    found = {}
    for share in (0.0, 0.5, 1.0):
        scene.glass.opacity[:] = share
        found[share] = colours(scene, bank, view)
    assert torch.allclose(found[0.5], (found[0.0] + found[1.0]) / 2, atol=1e-3)
    assert not torch.allclose(found[0.0], found[1.0], atol=1e-2)


def test_flips_keep_the_truth_true():
    draw = Draw(9)
    pairs = flow_pairs(draw, a_bank(draw), 2, SIZE)
    for flip in (upside_down, mirrored):
        twice = flip(flip(pairs))
        assert torch.equal(twice.motion, pairs.motion)
        once = flip(pairs).motion
        lengths = [m.norm(dim=2).sum() for m in (once, pairs.motion)]
        assert torch.allclose(*lengths)
        assert not torch.equal(once, pairs.motion)


def test_a_pool_drops_the_oldest():
    draw = Draw(2)
    bank = a_bank(draw)
    pool = Pool(flow_pairs, (32, 48), 3)
    for _ in range(2):
        pool.add(draw, bank, 2)
    batch = pool.batch(draw, 5)
    assert batch.first.shape == (5, 3, 32, 48)
    assert pool._filled == 3


def test_photographs_are_bytes_and_stay_alike():
    draw = Draw(6)
    picture = torch.rand(4, 3, 32, 40)
    first, second = photographed(draw, picture, picture)
    for each in (first, second):
        assert float(each.min()) >= 0
        assert float(each.max()) <= 1
    assert torch.allclose(first * 255, torch.round(first * 255), atol=1e-3)
    assert float((first - second).abs().median()) < 0.1
