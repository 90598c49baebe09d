"""What people hand over: shapes of frameworks, tensors, masks."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import depthgauge as dg
from depthgauge.engine.scoring.in_memory.given_maps import as_map, as_mask
from depthgauge.errors import BadFile, BadScoreId, WrongShape
from depthgauge.quantities import map_axes

MAP = np.arange(1.0, 31.0, dtype=np.float32).reshape(5, 6)
FLOW = np.stack([MAP, -MAP], axis=2)


class Tensor:
    """Behaves as a tensor with gradients: it cannot be converted before it is detached."""

    def __init__(self, values, tracked=True, bfloat=False):
        self.values, self.tracked, self.bfloat = values, tracked, bfloat

    def __array__(self, dtype=None, copy=None):
        if self.tracked or self.bfloat:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.asarray(self.values, dtype)

    def detach(self):
        return Tensor(self.values, tracked=False, bfloat=self.bfloat)

    def cpu(self):
        return self

    def is_floating_point(self):
        return True

    def float(self):
        return Tensor(self.values, self.tracked)


class Exported:
    """Can be read through DLPack only."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize("shape", [(1, 1, 5, 6), (1, 5, 6), (5, 6, 1), (1, 5, 6, 1), (5, 6)])
@pytest.mark.parametrize("quantity", ["disparity", "depth", None])
def test_single_axes_are_dropped_from_arrays_as_from_files(tmp_path, shape, quantity):
    array = MAP.reshape(shape)
    np.save(tmp_path / "a.npy", array)
    for given_map in (array, tmp_path / "a.npy"):
        assert np.array_equal(as_map(given_map, quantity), MAP)
        found = dg.score(given_map, given_map, "mae", quantity=quantity)["mae@all"]
        assert (found.value, found.count) == (0, 30)


@pytest.mark.parametrize("lead", [(), (1,), (1, 1)])
def test_channels_first_are_understood_where_the_quantity_is_said(tmp_path, lead):
    array = np.moveaxis(FLOW, 2, 0).reshape(*lead, 2, 5, 6)
    np.save(tmp_path / "a.npy", array)
    for given_map in (array, tmp_path / "a.npy"):
        assert np.array_equal(as_map(given_map, "flow"), FLOW)
        assert dg.score(given_map, FLOW, "epe", quantity="flow")["epe@all"].count == 30


@pytest.mark.parametrize(
    ("shape", "quantity", "words"),
    [
        ((2, 5, 6), None, ["flow (2, height, width)", "batch of 2 maps", "quantity is flow"]),
        ((3, 5, 6), None, ["normals (3, height, width)", "batch of 3 maps"]),
        ((2, 5, 2), None, ["flow (height, width, 2)", "flow (2, height, width)"]),
        ((2, 5, 2), "flow", ["flow (height, width, 2)", "flow (2, height, width)"]),
        ((3, 5, 2), None, ["flow (height, width, 2)", "normals (3, height, width)"]),
        ((1, 5, 2), None, ["flow (height, width, 2)", "batch of one map"]),
        ((8, 5, 6), None, ["one map is expected", "(8, 5, 6)", "batch"]),
        ((8, 5, 6), "depth", ["one map of depth is expected", "(8, 5, 6)"]),
        ((8, 1, 5, 6), "depth", ["one map of depth", "(8, 1, 5, 6)"]),
        ((5,), None, ["a map is (height, width)"]),
        ((0, 5), None, ["a map is (height, width)"]),
    ],
)
def test_other_shapes_are_refused_with_their_readings(shape, quantity, words):
    array = np.ones(shape)
    with pytest.raises(WrongShape) as caught:
        dg.score(array, array, quantity=quantity)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_file_of_two_maps_is_refused_with_both_readings(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 5, 6)))
    with pytest.raises(BadFile, match=r"a.npy: .*flow \(2, height, width\).*a batch of 2 maps"):
        dg.score(tmp_path / "a.npy", tmp_path / "a.npy")


def test_parts_and_estimates_are_in_our_order_and_never_ambiguous():
    flow = np.stack([np.arange(10.0).reshape(2, 5)[:, :2]] * 2, axis=2)  # (2, 2, 2)
    truth = {"flow": flow}
    found = dg.score(dg.Estimate(flow, "flow"), truth, "epe", quantity="flow")["epe@all"]
    assert (found.value, found.count) == (0, 4)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.sampled_from([None, 1, 2, 3]))
def test_axes_hold_every_value_or_the_shape_is_refused(shape, channels):
    quantity = {None: None, 1: "depth", 2: "flow", 3: "normals"}[channels]
    try:
        axes = map_axes(tuple(shape), channels, quantity)
    except WrongShape:
        return
    assert len(axes) in (2, 3)
    assert len(set(axes)) == len(axes)
    assert np.prod([shape[axis] for axis in axes]) == np.prod(shape)


@pytest.mark.parametrize(
    "tensor", [Tensor(MAP), Tensor(MAP, bfloat=True), Tensor(MAP[None, None]), Exported(MAP)]
)
def test_tensors_are_detached_and_no_framework_is_imported(tensor):
    assert dg.score(tensor, MAP, "mae")["mae@all"].count == 30
    assert np.array_equal(as_map(tensor, "disparity"), MAP)


def test_what_cannot_be_converted_is_one_sentence():
    with pytest.raises(WrongShape, match="a map is an array of numbers"):
        dg.score(object(), MAP)


def test_a_mask_limits_every_region_and_the_alignment():
    estimate = 2 * MAP
    estimate[0] = 1000
    mask = np.ones(MAP.shape, bool)
    mask[0] = False
    regions = {"left": np.arange(6) < 3 + np.zeros((5, 1))}
    found = dg.score(estimate, MAP, "mae", regions=regions, mask=mask[None], align="scale")
    assert found["mae@all"].value == pytest.approx(0, abs=1e-5)
    assert (found["mae@all"].count, found["mae@left"].count) == (24, 12)
    assert found["mae@all"].alignment["count"] == 24


def test_a_mask_is_named_in_the_protocol():
    mask = np.ones(MAP.shape)
    limited, plain = dg.score(MAP, MAP, "mae", mask=mask), dg.score(MAP, MAP, "mae")
    assert limited.protocol.given_regions == ("mask",)
    assert limited.protocol_hash != plain.protocol_hash
    with pytest.raises(BadScoreId, match="no region is called 'mask'"):
        dg.score(MAP, MAP, "mae", regions={"mask": mask})
    with pytest.raises(WrongShape, match=r"the mask is \(4, 6\) but the maps are \(5, 6\)"):
        dg.score(MAP, MAP, "mae", mask=mask[1:])


def test_masks_have_the_shapes_of_frameworks_too():
    assert as_mask(np.ones((1, 1, 5, 6))).shape == (5, 6)
    assert as_mask(Tensor(MAP)).all()


def test_the_signature_shows_the_options_and_refuses_others():
    shown = inspect.signature(dg.score).parameters
    assert shown["missing"].default == "bad"
    assert {"regions", "mask", "quantity", "align", "estimate_resize"} <= set(shown)
    with pytest.raises(TypeError, match="unexpected keyword argument 'quantiy'"):
        dg.score(MAP, MAP, quantiy="depth")
