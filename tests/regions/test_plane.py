"""The packed plane against NumPy, for any number of regions, types, layouts and threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse, WrongShape
from depthgauge.regions import pack, pack_all


def reference(masks, truth):
    """Pattern of each pixel, the slow way: Python integers."""
    known = np.isfinite(truth) if truth.ndim == 2 else np.isfinite(truth).all(axis=2)
    patterns = np.zeros(known.shape, np.uint64)
    for bit, mask in enumerate(masks.values()):
        patterns |= np.where(mask & known, np.uint64(1 << bit), np.uint64(0))
    return patterns


def sample(count, shape, seed, channels=0):
    rng = np.random.default_rng(seed)
    truth = rng.random((*shape, channels) if channels else shape).astype(np.float32)
    truth[rng.random(truth.shape) < 0.1] = np.nan
    truth[rng.random(truth.shape) < 0.02] = -np.inf
    masks = {f"r{i}": rng.random(shape) < rng.random() for i in range(count)}
    return masks, truth


def check(plane, masks, truth):
    expected = reference(masks, truth)
    assert plane.names == tuple(masks)
    assert plane.codes.shape == truth.shape[:2]
    assert (plane.atoms == np.unique(expected)).all()
    assert (plane.atoms.dtype, plane.lookup.dtype) == (np.uint64, np.int32)
    assert (plane.atoms[plane.lookup[plane.codes]] == expected).all()
    for bit, name in enumerate(plane.names):
        region = plane.members(name)[plane.lookup[plane.codes]]
        assert (region == (expected >> np.uint64(bit) & np.uint64(1) == 1)).all()


@given(
    count=st.integers(1, 70),
    height=st.integers(1, 90),
    width=st.integers(1, 90),
    channels=st.sampled_from([0, 0, 1, 2, 3]),
    seed=st.integers(0, 2**32 - 1),
)
def test_planes_agree_with_numpy(count, height, width, channels, seed):
    masks, truth = sample(count, (height, width), seed, channels)
    planes = pack_all(masks, truth)
    assert [len(plane.names) for plane in planes] == ([count] if count <= 64 else [64, count - 64])
    for plane in planes:
        check(plane, {name: masks[name] for name in plane.names}, truth)


@pytest.mark.parametrize(
    ("count", "dtype", "table"),
    [(1, np.uint8, 256), (8, np.uint8, 256), (9, np.uint16, 65536), (16, np.uint16, 65536)],
)
def test_codes_are_patterns_of_the_smallest_type(count, dtype, table):
    masks, truth = sample(count, (30, 40), 1)
    plane = pack(masks, truth)
    assert plane.codes.dtype == dtype
    assert plane.lookup.shape == (table,)
    assert (plane.codes == reference(masks, truth)).all()
    assert (plane.lookup >= 0).sum() == plane.atoms.size


@pytest.mark.parametrize(
    ("atoms", "dtype"), [(256, np.uint8), (257, np.uint16), (70000, np.uint32)]
)
def test_with_many_regions_codes_are_atoms_of_the_smallest_type(atoms, dtype):
    number = np.arange(atoms).reshape(1, -1)
    masks = {f"r{bit}": (number >> bit & 1).astype(bool) for bit in range(17)}
    plane = pack(masks, np.ones(number.shape, np.float32))
    assert plane.codes.dtype == dtype
    assert plane.lookup.shape == plane.atoms.shape == (atoms,)
    check(plane, masks, np.ones(number.shape, np.float32))


@pytest.mark.parametrize("count", [5, 10, 40])
def test_larger_than_a_block(count):
    masks, truth = sample(count, (401, 503), count)
    check(pack(masks, truth), masks, truth)


def test_the_last_of_64_bits_is_a_region():
    masks, truth = sample(64, (20, 20), 4)
    plane = pack(masks, truth)
    assert plane.atoms.max() >= 1 << 63
    check(plane, masks, truth)


def test_no_regions_and_no_pixels():
    plane = pack({}, np.ones((2, 3), np.float32))
    assert (plane.codes == 0).all()
    assert plane.atoms.tolist() == [0]
    for count in (1, 20):
        plane = pack({f"r{i}": np.zeros((0, 4), bool) for i in range(count)}, np.ones((0, 4)))
        assert plane.codes.shape == (0, 4)
        assert plane.atoms.size == 0
    assert len(pack_all({}, np.ones((2, 3), np.float32))) == 1


def test_any_layout_and_type_of_mask_and_truth():
    masks, truth = sample(6, (40, 50), 7)
    frozen = masks["r3"].copy()
    frozen.flags.writeable = False
    still = truth.copy()
    still.flags.writeable = False
    odd = {
        "r0": np.asfortranarray(masks["r0"]),
        "r1": np.repeat(masks["r1"], 2, axis=1)[:, ::2],
        "r2": masks["r2"].astype(np.uint8) * 255,
        "r3": frozen,
        "r4": masks["r4"].astype(np.float32),
        # A view of bytes as bool holds values other than 0 and 1.
        "r5": (masks["r5"].astype(np.uint8) * 254).view(bool),
    }
    expected = pack(masks, truth)
    for seen in (truth, truth.astype(np.float64), np.asfortranarray(truth), still):
        assert (pack(odd, seen).codes == expected.codes).all()


@pytest.mark.parametrize("count", [6, 12, 33])
def test_the_order_of_regions_changes_no_region(count):
    masks, truth = sample(count, (60, 70), 11)
    for plane in (pack(masks, truth), pack(dict(reversed(masks.items())), truth)):
        for name in masks:
            region = plane.members(name)[plane.lookup[plane.codes]]
            assert (region == (masks[name] & np.isfinite(truth))).all()


@pytest.mark.parametrize("count", [6, 12, 33])
def test_the_number_of_threads_changes_no_bit(count, on_threads):
    masks, truth = sample(count, (300, 311), 5)
    one, *more = on_threads(lambda: pack(masks, truth))
    for many in more:
        assert one.codes.tobytes() == many.codes.tobytes()
        assert one.atoms.tobytes() == many.atoms.tobytes()
        assert one.lookup.tobytes() == many.lookup.tobytes()


def test_what_does_not_fit_is_refused_by_name():
    truth = np.ones((4, 5), np.float32)
    with pytest.raises(WrongShape, match="mask 'glass' is 6x4, the truth is 5x4"):
        pack({"all": np.ones((4, 5), bool), "glass": np.ones((4, 6), bool)}, truth)
    with pytest.raises(WrongShape, match="mask 'glass' has shape"):
        pack({"glass": np.ones((4, 5, 1), bool)}, truth)
    with pytest.raises(WrongShape, match="the truth has shape"):
        pack({}, np.ones(3, np.float32))
    with pytest.raises(Misuse, match="64 regions, not 65; use pack_all"):
        pack({str(i): np.ones((4, 5), bool) for i in range(65)}, truth)
