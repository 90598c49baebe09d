from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from depthgauge.datasets import truth_hash
from depthgauge.errors import Misuse
from depthgauge.types import Camera, Inputs, Rig, Sample, Truth


def hashed(**truth) -> str | None:
    return truth_hash(Sample("a", Inputs({}), Truth(truth)))


MAP = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_one_pixel_changes_the_hash():
    other = MAP.copy()
    other[1, 2] += 1e-4
    assert hashed(disparity=MAP) != hashed(disparity=other)


def test_a_known_value():
    """By hand: name, length of the header, header, name, length of the bytes, bytes."""
    import hashlib

    digest = hashlib.sha256()
    digest.update(b"disparity\x007\x00<f4(1,)" + b"disparity\x004\x00" + np.float32(2).tobytes())
    assert hashed(disparity=np.array([2], np.float32)) == digest.hexdigest()


@pytest.mark.parametrize(
    "same",
    [
        MAP.astype(">f4"),
        np.asfortranarray(MAP),
        np.repeat(MAP, 2, axis=1)[:, ::2],
    ],
    ids=["big endian", "Fortran", "strided"],
)
def test_how_it_lies_in_memory_does_not_matter(same):
    assert hashed(disparity=MAP) == hashed(disparity=same)


def test_every_nan_is_one_nan_and_every_zero_one_zero():
    bits = np.array([0x7FC00000, 0xFFC00001, 0x80000000], np.uint32).view(np.float32)
    plain = np.array([np.nan, np.nan, 0.0], np.float32)
    assert hashed(depth=bits) == hashed(depth=plain)


@pytest.mark.parametrize(
    "other",
    [
        {"depth": MAP},
        {"disparity": MAP.reshape(4, 3)},
        {"disparity": MAP.astype(np.float64)},
        {"disparity": MAP, "visible_mask": MAP > 3},
        {"disparity": MAP, "disparity_scale": 2.0},
    ],
)
def test_name_shape_type_and_company_matter(other):
    assert hashed(**other) != hashed(disparity=MAP)


def test_paths_do_not_matter():
    assert hashed(disparity=MAP, disparity_path=Path("/x")) == hashed(disparity=MAP)


def test_no_truth_has_no_hash():
    assert truth_hash(Sample("a", Inputs({}), None)) is None


def test_an_empty_array_has_a_hash():
    assert hashed(edges=np.zeros((0, 2), np.float32)) != hashed(edges=np.zeros((0, 3), np.float32))


def test_rigs_count_and_what_cannot_be_hashed_is_refused():
    def rig(focal_px):
        return Rig({"left": Camera((focal_px, focal_px), (0.0, 0.0), (4, 3))}, 0.1)

    assert hashed(rig=rig(1.0)) == hashed(rig=rig(1.0)) != hashed(rig=rig(2.0))
    with pytest.raises(Misuse, match="contains a object cannot be hashed"):
        hashed(thing=object())
