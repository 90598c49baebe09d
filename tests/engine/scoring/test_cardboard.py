"""Objects that have a mask but no depth: fattening and thinning at their outlines."""

from __future__ import annotations

import numpy as np
import pytest

from depthgauge.benchmarks import make_protocol
from depthgauge.engine.scoring.measure import measure
from depthgauge.engine.scoring.prepare import prepare, prepare_truth
from depthgauge.errors import Unavailable

PROTOCOL = make_protocol(
    {
        "id": "street",
        "version": 1,
        "dataset": "folder",
        "quantity": "disparity",
        "pool": "image",
        "truth": {"cardboard": "people"},
        "estimate": {"range": "none"},
        "derived": {"edges": "edges_from_mask:people,2"},
        "scores": [
            {"metric": "foreground_fattening"},
            {"metric": "foreground_thinning"},
            {"metric": "mae", "region": "ground"},
        ],
        "regions": {"ground": "~people"},
    },
    "test",
)
Y, X = np.mgrid[:50, :70]
PERSON = (X >= 30) & (X < 36) & (Y >= 8) & (Y < 40)
STREET = np.where(Y < 20, 5.0, Y - 15.0).astype(np.float32)
KNOWN = np.where(PERSON, np.float32(np.nan), STREET)
AT_FEET = 27.0
"""The median disparity of rows 40 to 44."""


def scores(estimate):
    ready = prepare_truth(PROTOCOL, KNOWN, {"people_mask": PERSON})
    prepared = prepare(PROTOCOL, estimate.astype(np.float32), ready)
    found = measure(prepared, PROTOCOL.specs, "disparity", "bad", "image")
    return {name: score.value for name, score in found.items()}


def test_a_perfect_person_is_neither_fat_nor_thin():
    found = scores(np.where(PERSON, AT_FEET, STREET))
    assert found == {
        "foreground_fattening@all": 0,
        "foreground_thinning@all": 0,
        "mae@ground": 0,
    }


def test_a_fat_and_a_missing_person_are_told_apart():
    fat = scores(np.where((X >= 27) & (X < 39) & (Y >= 8) & (Y < 40), AT_FEET, STREET))
    assert fat["foreground_fattening@all"] > 15
    assert fat["foreground_thinning@all"] == 0
    gone = scores(STREET)
    assert gone["foreground_thinning@all"] > 70  # at the feet, street and person are one
    assert gone["foreground_fattening@all"] == 0
    assert gone["mae@ground"] == 0  # what is only cardboard is not in it


def test_a_sample_without_such_objects_is_left_out():
    with pytest.raises(Unavailable, match="people"):
        prepare_truth(PROTOCOL, KNOWN, {})
