"""What works without PyTorch: files of tensors, pruning of layers, a kind error."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from depthgauge.errors import DepthgaugeError
from depthgauge.methods import METHODS, find_method
from depthgauge.methods.nets._networks import WEIGHTS, as_colour, confidence_of
from depthgauge.methods.nets._tensors import read_tensors, write_tensors
from depthgauge.methods.nets.layers import pruned
from depthgauge.types import Inputs

LARGEST_PACKAGE = 20e6
KINDS = ("stereo", "flow", "layers")


@given(
    st.dictionaries(
        st.text("abc.", min_size=1, max_size=5),
        arrays.arrays(
            st.sampled_from([np.float32, np.float16, np.int64, np.uint16, np.int16, np.uint8]),
            arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        ),
        max_size=4,
    ),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
)
def test_tensors_come_back_as_they_were(tmp_path_factory, tensors, about):
    path = tmp_path_factory.mktemp("tensors") / "t.safetensors"
    write_tensors(path, tensors, about)
    found, texts = read_tensors(path)
    assert texts == about
    assert list(found) == list(tensors)
    for name, values in tensors.items():
        assert found[name].dtype == values.dtype
        assert np.array_equal(found[name], values, equal_nan=values.dtype.kind == "f")


def test_the_bytes_are_those_of_the_format(tmp_path):
    """Length of the header in 8 bytes, JSON padded to a multiple of 8, then little-endian data."""
    path = tmp_path / "t.safetensors"
    write_tensors(path, {"a": np.array([1.0, -2.0], np.float16)})
    body = path.read_bytes()
    length = int.from_bytes(body[:8], "little")
    assert length % 8 == 0
    head = b'{"__metadata__":{},"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}'
    assert body[8 : 8 + length].rstrip(b" ") == head
    assert body[8 + length :] == bytes([0x00, 0x3C, 0x00, 0xC0])


@pytest.mark.parametrize("keep", [0, 5, 40, -1])
def test_a_file_that_is_cut_off_says_so(tmp_path, keep):
    path = tmp_path / "t.safetensors"
    write_tensors(path, {"a": np.zeros((2, 3), np.float32)})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match="cut off"):
        read_tensors(path)


def test_the_weights_of_the_package_are_small_and_finite():
    files = [WEIGHTS / f"{kind}.safetensors" for kind in KINDS]
    of_package = WEIGHTS.parents[2].rglob("*.safetensors")
    assert sum(file.stat().st_size for file in of_package) < LARGEST_PACKAGE
    for file in files:
        tensors, about = read_tensors(file)
        assert about["task"] == file.stem
        assert all(t.dtype == np.float16 and np.isfinite(t).all() for t in tensors.values())


def test_pruning_by_hand():
    """Layers at 0, 0.3, 2 and 2 px: the second repeats the first, the fourth the third."""
    flows = np.zeros((4, 1, 1, 2), np.float32)
    flows[:, 0, 0, 0] = [0, 0.3, 2, 2]
    found = pruned(flows, 0.5)[:, 0, 0, 0]
    assert np.array_equal(found, np.array([0, 2, np.nan, np.nan], np.float32), equal_nan=True)


def test_pruning_compares_raw_estimates():
    """A chain of small steps is dropped as a whole, as the document's rule is simultaneous."""
    flows = np.zeros((4, 1, 1, 2), np.float32)
    flows[:, 0, 0, 1] = [0, 0.4, 0.8, 1.2]
    assert np.isnan(pruned(flows, 0.5)[1:]).all()


def reference_pruned(flows, within_px):
    layers, height, width, _ = flows.shape
    found = np.full_like(flows, np.nan)
    for y in range(height):
        for x in range(width):
            kept = [flows[0, y, x]]
            kept += [
                flows[k, y, x]
                for k in range(1, layers)
                if np.hypot(*(flows[k, y, x] - flows[k - 1, y, x])) > within_px
            ]
            found[: len(kept), y, x] = kept
    return found


@given(
    arrays.arrays(np.float32, (4, 2, 3, 2), elements=st.sampled_from([0.0, 0.25, 1.0, 3.0])),
    st.sampled_from([0.0, 0.5, 2.0]),
)
def test_pruning_agrees_with_a_plain_loop(flows, within_px):
    assert np.array_equal(pruned(flows, within_px), reference_pruned(flows, within_px), True)


def test_confidence_is_between_0_and_1_and_falls_with_the_spread():
    trust = confidence_of(np.array([0, 0.7, 5, 100], np.float32))
    assert trust[0] == 1
    assert (np.diff(trust) < 0).all()
    assert trust[-1] >= 0


def test_grey_pictures_become_colour():
    picture = np.array([[0, 255]], np.uint8)
    assert np.array_equal(as_colour(picture), np.array([[[0, 0, 0], [1, 1, 1]]], np.float32))


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_torch_is_named_in_one_sentence(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [n for n in sys.modules if n.startswith("depthgauge.methods.nets._torch")]:
        monkeypatch.delitem(sys.modules, name)
    picture = np.zeros((64, 64, 3), np.uint8)
    names = ("left_image", "right_image") if kind == "stereo" else ("first_image", "second_image")
    method = find_method(f"nets-{kind}")
    quantity = METHODS[f"nets-{kind}"].spec.quantities[0]
    inputs = Inputs({**dict.fromkeys(names, picture), "sample": "a", "quantity": quantity})
    with pytest.raises(DepthgaugeError, match=r"needs PyTorch; say: pip install"):
        method.estimate(inputs, quantity)
