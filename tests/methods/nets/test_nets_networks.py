"""The networks: look-ups, upsampling, training that continues, and what the methods return."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
pytestmark = pytest.mark.nets

if torch:  # the modules below import it at their top
    from torch.nn import functional as F  # noqa: N812  # its usual name

    from depthgauge.errors import BadFile, Unavailable
    from depthgauge.methods import find_method
    from depthgauge.methods.nets._networks import WEIGHTS, as_colour
    from depthgauge.methods.nets._tensors import read_tensors, write_tensors
    from depthgauge.methods.nets._torch import correlation
    from depthgauge.methods.nets._torch.blocks import enlarge
    from depthgauge.methods.nets._torch.flow_net import FlowNet, layers_from_flow
    from depthgauge.methods.nets._torch.inference import Runner, _combined, _tiles, network
    from depthgauge.methods.nets._torch.stereo_net import StereoNet
    from depthgauge.methods.nets._torch.training.loop import Plan, _cycle, start_from, train
    from depthgauge.methods.nets._torch.training.losses import errors, sequence_loss
    from depthgauge.types import Inputs


def reference_windows(first, second, match, levels, radius):
    """Correlations by `grid_sample` of the features themselves."""
    channels = first.shape[1]
    found = []
    for level in range(levels):
        if level:
            second = F.avg_pool2d(second, 2, ceil_mode=True)
        rows, columns = second.shape[-2:]
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                x = (match[:, 0] + 0.5) / 2**level - 0.5 + dx
                y = (match[:, 1] + 0.5) / 2**level - 0.5 + dy
                grid = torch.stack([(2 * x + 1) / columns - 1, (2 * y + 1) / rows - 1], -1)
                moved = F.grid_sample(second, grid, align_corners=False)
                found.append((first * moved).sum(1) / channels**0.5)
    return torch.stack(found, 1)


@pytest.mark.parametrize("way", ["kept", "on_demand"])
def test_look_ups_agree_with_sampled_features(way):
    torch.manual_seed(0)
    first, second = torch.randn(2, 8, 9, 13), torch.randn(2, 8, 9, 13)
    match = torch.rand(2, 2, 9, 13) * 20 - 4
    made = correlation._kept if way == "kept" else correlation.on_demand
    found = made(first, second, 3, 2)(match)
    assert torch.allclose(found, reference_windows(first, second, match, 3, 2), atol=1e-5)


@pytest.mark.parametrize("columns", [7, 32, 75])
def test_nearby_correlations_are_those_of_warped_and_shifted_features(columns):
    """Widths below, at and beyond a block of columns."""
    torch.manual_seed(2)
    first, second = torch.randn(2, 8, 5, columns), torch.randn(2, 8, 5, columns)
    match = correlation.pixels(first) + 2 * torch.randn(2, 2, 5, columns)
    moved = F.pad(correlation.warp(second, match), (2, 2, 2, 2))
    expected = [
        (first * moved[:, :, i : i + 5, j : j + columns]).sum(1) / 8**0.5
        for i in range(5)
        for j in range(5)
    ]
    found = correlation.nearby(first, second, 2)(match)
    assert torch.allclose(found, torch.stack(expected, 1), atol=1e-5)


@pytest.mark.parametrize("task", ["stereo", "flow"])
def test_fused_networks_learn_the_same(task, tmp_path, monkeypatch):
    """What is compiled is named by the classes; here the compiler returns what it is given."""
    compiled = []

    def compile_(function, **options):
        compiled.append(function.__name__)
        return function

    monkeypatch.setattr(torch, "compile", compile_)
    given = {"batch": 1, "size": (64, 96), "steps": 1, "pool": 2, "textures": 2, "texture_px": 64}
    plans = [
        Plan(task, tmp_path / str(on), fused=on, validation=1, **given) for on in (False, True)
    ]
    plain, fused = ({k: v for k, v in train(p).items() if k != "seconds"} for p in plans)
    assert plain == fused
    assert {"encoded", "enlarged"} < set(compiled)


def test_look_ups_of_several_layers_are_those_of_each():
    torch.manual_seed(1)
    first, second = torch.randn(2, 8, 6, 7), torch.randn(2, 8, 6, 7)
    match = torch.rand(6, 2, 6, 7) * 9 - 1
    for made in (correlation._kept, correlation.on_demand):
        several = made(first, second, 2, 1)(match)
        for k in range(3):
            alone = made(first, second, 2, 1)(match[k::3])
            assert torch.allclose(several[k::3], alone, atol=1e-6)
    near = correlation.nearby(first, second, 1)
    assert torch.allclose(near(match)[1::3], near(match[1::3]), atol=1e-6)


def test_rows_are_looked_up_like_pairs():
    """With one row, correlations along rows are those of all pairs in the middle of the window."""
    torch.manual_seed(2)
    first, second = torch.randn(1, 8, 1, 12), torch.randn(1, 8, 1, 12)
    x = torch.rand(1, 1, 1, 12) * 16 - 2
    found = correlation.along_rows(first, second, 1, 2)(x)
    both = correlation._kept(first, second, 1, 2)(torch.cat([x, torch.zeros_like(x)], 1))
    assert torch.allclose(found, both[:, 10:15], atol=1e-6)


def test_convex_upsampling_keeps_constants_and_stays_between():
    torch.manual_seed(3)
    weights = torch.randn(1, 9 * 16, 4, 5)
    constant = enlarge(torch.full((1, 2, 4, 5), 1.5), weights, 4)
    assert torch.allclose(constant, torch.full((1, 2, 16, 20), 6.0), atol=1e-5)
    motion = torch.randn(1, 2, 4, 5)
    fine = enlarge(motion, weights, 4)
    assert float(fine.max()) <= 4 * float(motion.max()) + 1e-5
    assert float(fine.min()) >= 4 * float(motion.min()) - 1e-5


def test_the_loss_by_hand():
    """Errors 2 and 1: 0.85 x 2 + 1; pixels of wild truth do not count."""
    truth = torch.zeros(1, 1, 2, 2)
    truth[0, 0, 0, 0] = 1e4
    estimates = [torch.full((1, 1, 2, 2), 2.0), torch.full((1, 1, 2, 2), 1.0)]
    assert float(sequence_loss(estimates, truth)) == pytest.approx(2.7)
    found = errors(estimates[0], truth)
    assert found["epe_px"] == pytest.approx(2)
    assert found["bad1"] == 100
    assert found["bad2"] == 0


def test_the_learning_rate_rises_and_falls():
    rates = [_cycle(done) for done in np.linspace(0, 1, 101)]
    assert max(rates) == pytest.approx(1, abs=0.02)
    assert np.argmax(rates) == 5
    assert rates[-1] < 0.01


def small(task, folder, **options):
    tiny = {"batch": 1, "size": (32, 48), "pool": 2, "textures": 2, "texture_px": 32}
    tiny["validation"] = 1
    return Plan(task, folder, log_every=1, **tiny, **options)


@pytest.mark.parametrize("task", ["stereo", "flow", "layers"])
def test_training_continues_where_it_stopped(task, tmp_path):
    state = train(small(task, tmp_path, steps=2, seconds=0))
    assert state["step"] == 1
    again = train(small(task, tmp_path, steps=2))
    assert again["step"] == 2
    lines = [json.loads(line) for line in (tmp_path / "curves.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "loss" in line] == [1, 2]
    tensors, about = read_tensors(tmp_path / f"{task}.safetensors")
    assert about == {"task": task, "seed": "0", "steps": "2"}
    assert all(np.isfinite(t).all() for t in tensors.values())
    assert max(f.stat().st_size for f in tmp_path.iterdir()) < 16 * 2**20


def test_layers_start_as_copies_of_the_flow():
    torch.manual_seed(0)
    flow, layers = FlowNet().eval(), FlowNet(3).eval()
    layers.load_state_dict(layers_from_flow(flow.state_dict(), 3))
    first, second = torch.rand(2, 1, 3, 32, 48)
    with torch.inference_mode():
        one, several = (net(first, second, 2, 2)[1][-1] for net in (flow, layers))
    assert several.shape == (3, 2, 32, 48)
    assert torch.allclose(several, one.expand_as(several), atol=1e-4)


@pytest.mark.parametrize("whole_rows", [True, False])
@pytest.mark.parametrize("size", [(300, 200), (1000, 700)])
def test_tiles_cover_every_pixel_once(size, whole_rows):
    covered = np.zeros(size, int)
    for inner, outer in _tiles(size, 90_000, whole_rows):
        covered[inner] += 1
        assert outer[0].start <= inner[0].start
        assert outer[1].stop >= inner[1].stop
    assert (covered == 1).all()


def test_tiles_and_one_pass_agree_on_a_shift(frames):
    inputs = frames(3.0, -2.0, size=(256, 320))
    tiled = find_method("nets-flow:at_once_mpx=0.06,updates=4").estimate(inputs, "flow").values
    error = np.linalg.norm(tiled - np.float32([3, -2]), axis=-1)[16:-16, 16:-16]
    assert np.median(error) < 0.5


def test_disparities_that_differ_by_more_than_a_margin_survive_tiles():
    """Two planes 90 px apart, one above the other: strips find both."""
    rng = np.random.default_rng(3)
    wide = rng.integers(0, 255, (320, 640), dtype=np.uint8).astype(np.float32)
    wide = np.asarray(F.avg_pool2d(torch.from_numpy(wide)[None, None], 3, 1, 1)[0, 0])
    left, right = wide[:, 128:512], wide[:, 128:512].copy()
    right[:160], right[160:] = wide[:160, 138:522], wide[160:, 228:612]
    pair = [np.repeat(each[..., None], 3, 2).astype(np.uint8) for each in (left, right)]
    inputs = Inputs(
        {"left_image": pair[0], "right_image": pair[1], "sample": "a", "quantity": "disparity"}
    )
    found = (
        find_method("nets-stereo:at_once_mpx=0.06,averaged=false")
        .estimate(inputs, "disparity")
        .values
    )
    assert np.median(np.abs(found[32:128, 100:] - 10)) < 1
    assert np.median(np.abs(found[192:288, 100:] - 100)) < 1


def plane(disparity_px, size):
    """Blurred noise moved by a whole number of px, with as much around it."""
    rng = np.random.default_rng(3)
    wide = rng.integers(0, 255, (size[0], size[1] + disparity_px), dtype=np.uint8)
    wide = np.repeat(cv2.blur(wide, (3, 3))[..., None], 3, 2)
    views = {"left_image": wide[:, : size[1]], "right_image": wide[:, disparity_px:]}
    return Inputs({**views, "sample": "a", "quantity": "disparity"})


def test_strips_say_what_one_pass_says():
    inputs = plane(20, (320, 384))
    strips = (
        find_method("nets-stereo:at_once_mpx=0.06,averaged=false")
        .estimate(inputs, "disparity")
        .values
    )
    whole = find_method("nets-stereo:averaged=false").estimate(inputs, "disparity").values
    assert np.median(np.abs(strips - whole)) < 0.05
    assert np.median(np.abs(strips - 20)[:, 64:]) < 0.5


def test_disparities_beyond_those_learned_are_found_at_half_the_size():
    inputs = plane(250, (256, 800))
    found = find_method("nets-stereo").estimate(inputs, "disparity").values
    assert np.mean(np.abs(found[:, 300:] - 250) < 3) > 0.9


def test_a_second_estimate_of_enlarged_pictures_is_in_px_of_the_given_ones():
    inputs = plane(20, (160, 256))
    once, twice = (
        find_method(f"nets-stereo:averaged={on}").estimate(inputs, "disparity").values
        for on in ("false", "true")
    )
    assert np.median(np.abs(twice - 20)[:, 64:]) < 0.3
    assert not np.array_equal(once, twice)
    network_alone = Runner(
        network("stereo", WEIGHTS / "stereo.safetensors", "cpu"), "cpu", 10, 10**6
    )
    pair = [as_colour(inputs[name]) for name in ("left_image", "right_image")]
    assert np.array_equal(network_alone.stereo(*pair, largest_px=64.0).motion[0, 0], once)


def test_estimates_are_averaged_unless_one_is_far_off():
    """By hand: 2, 2.2, 2.4 have a mean; of 2, 2.2 and 20 the middle one counts."""
    motions = torch.tensor([[2.0, 2.0], [2.2, 2.2], [2.4, 20.0]]).reshape(3, 1, 1, 1, 2)
    spreads = torch.full_like(motions, 0.1)
    found, spread = _combined(list(zip(motions, spreads, strict=True)))
    assert torch.allclose(found.flatten(), torch.tensor([2.2, 2.2]))
    expected = np.sqrt(0.1**2 + np.var(motions.numpy()[..., 0]))
    assert float(spread[0, 0, 0, 0]) == pytest.approx(expected, rel=1e-5)
    two, _ = _combined(list(zip(motions[1:], spreads[1:], strict=True)))
    assert torch.allclose(two.flatten(), torch.tensor([2.3, 11.1])), "of two, always the mean"


def test_both_components_of_a_flow_follow_the_median_where_one_is_far_off():
    motions = torch.tensor([[1.0, 3.0], [1.1, 3.1], [1.2, 30.0]]).reshape(3, 1, 2, 1, 1)
    found, spread = _combined([(motion, torch.zeros(1, 1, 1, 1)) for motion in motions])
    assert torch.allclose(found.flatten(), torch.tensor([1.1, 3.1]))
    assert spread.shape == (1, 1, 1, 1)


def test_a_flow_of_turned_pictures_is_that_of_the_pictures(frames):
    """Where it moves to the right and down, mirrored pictures move to the left, and back again."""
    inputs = frames(3, 2, size=(96, 128))
    pair = [as_colour(inputs[name]) for name in ("first_image", "second_image")]
    runner = Runner(network("flow", WEIGHTS / "flow.safetensors", "cpu"), "cpu", 8, 10**6)
    for axis in (2, 3):
        motion, _ = runner._turned_flow(*(runner._tensor(p) for p in pair), axis)
        middle = motion[0, :, 16:-16, 16:-16].flatten(1).median(1).values
        assert torch.allclose(middle, torch.tensor([3.0, 2.0]), atol=0.3)
    alone, combined = (
        find_method(f"nets-flow:averaged={on},polish=0").estimate(inputs, "flow").values
        for on in ("false", "true")
    )
    assert not np.array_equal(alone, combined)
    assert np.array_equal(runner.flow(*pair).motion[0].transpose(1, 2, 0), alone)


def test_a_wide_range_without_large_disparities_changes_nothing():
    """Where the guide has no disparity beyond those learned, it is not followed."""
    runner = Runner(network("stereo", WEIGHTS / "stereo.safetensors", "cpu"), "cpu", 8, 10**6)
    inputs = plane(20, (160, 256))
    pair = [as_colour(inputs[name]) for name in ("left_image", "right_image")]
    narrow, wide = (runner.stereo(*pair, largest_px) for largest_px in (64.0, 250.0))
    assert np.array_equal(narrow.motion, wide.motion)


def test_a_polished_flow_is_closer_to_a_shift_by_half_a_px(frames):
    """Textures move by (1.5, -0.5) px; the polish makes the network's flow closer to it."""
    inputs = frames(1.5, -0.5, size=(128, 160))
    errors = []
    for polish in (0, 10):
        flow = find_method(f"nets-flow:polish={polish}").estimate(inputs, "flow").values
        errors.append(np.linalg.norm(flow - np.float32([1.5, -0.5]), axis=-1)[8:-8, 8:-8])
    assert np.median(errors[1]) < 0.7 * np.median(errors[0])
    assert np.median(errors[1]) < 0.1


def test_no_polish_is_the_network_s_flow(frames):
    from depthgauge.methods.nets.flow import polished

    inputs = frames(1, 0)
    grey = [inputs[name] for name in ("first_image", "second_image")]
    flow = np.zeros((*grey[0].shape, 2), np.float32)
    assert polished(flow, *grey, 0) is flow
    assert not np.array_equal(polished(flow, *grey, 3), flow)
    assert not flow.any(), "what is given stays as it is"


def test_a_plane_is_found(stereo):
    found = find_method("nets-stereo").estimate(stereo(6.0, size=(96, 160)), "disparity")
    error = np.abs(found.values - 6)[8:-8, 16:-8]
    assert np.median(error) < 0.5
    trust = found.parts["confidence"]
    assert trust.shape == found.values.shape
    assert 0 <= trust.min() <= trust.max() <= 1


def test_layers_come_nearest_first_without_gaps(frames):
    values = find_method("nets-layers:updates=4").estimate(frames(2, 1), "layered_flow").values
    assert values.shape == (4, 80, 120, 2)
    there = np.isfinite(values).all(-1)
    assert there[0].all()
    assert (np.diff(there.astype(int), axis=0) <= 0).all()


def test_weights_of_another_network_are_refused(frames):
    method = find_method(f"nets-flow:weights={WEIGHTS / 'stereo.safetensors'}")
    with pytest.raises(BadFile, match="are no weights of nets-flow"):
        method.estimate(frames(1, 1), "flow")
    with pytest.raises(Unavailable, match="there are no weights"):
        find_method("nets-flow:weights=nowhere.safetensors").estimate(frames(1, 1), "flow")


def test_the_package_has_weights_of_each_network():
    for kind, net in (("stereo", StereoNet()), ("flow", FlowNet()), ("layers", FlowNet(4))):
        start_from(net, WEIGHTS / f"{kind}.safetensors")


def test_start_from_keeps_the_values(tmp_path):
    values = {n: v.half().numpy() for n, v in FlowNet().state_dict().items()}
    write_tensors(tmp_path / "w", values)
    net = FlowNet()
    start_from(net, tmp_path / "w")
    for name, tensor in net.state_dict().items():
        assert np.array_equal(tensor.numpy(), values[name].astype(np.float32))


def test_a_runner_takes_any_size():
    runner = Runner(StereoNet().eval(), "cpu", 2, 10**6)
    picture = np.random.default_rng(0).uniform(size=(37, 50, 3)).astype(np.float32)
    found = runner.stereo(picture, picture, 10)
    assert found.motion.shape == (1, 1, 37, 50)
    assert found.spread_px.shape == (1, 37, 50)


def test_a_single_flow_stands_for_layers(frames):
    """Where layers are wanted, the flow alone is returned, which the engine takes for the first."""
    from depthgauge.methods.nets.flow import FlowNetOptions, estimate

    inputs = Inputs({**frames(1, 0), "quantity": "layered_flow"})
    assert estimate(inputs, FlowNetOptions(updates=1)).shape == (80, 120, 2)


def test_the_size_of_tiles_is_hashed_since_it_moves_numbers():
    for name in ("nets-stereo", "nets-flow", "nets-layers"):
        usual, other = (
            find_method(f"{name}{given}").options_hash for given in ("", ":at_once_mpx=0.5")
        )
        assert usual != other
        assert usual == find_method(f"{name}:device=cpu").options_hash
