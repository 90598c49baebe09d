"""Statistics: cells of equal area, histograms, and facts by hand."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.annotate.drawn import two_surfaces_and_a_fold as drawn

from depthgauge.annotate.quality.statistics import (
    RINGS,
    RegionFacts,
    facts_of_annotation,
    facts_of_dataset,
    facts_of_records,
    facts_of_sample,
    histogram,
    normal_cells,
    statistics,
)
from depthgauge.annotate.records.annotation import Focal
from depthgauge.errors import BadData, Misuse
from depthgauge.types import Camera, Inputs, Sample, Truth


def facts(**changes):
    surfaces = {"continuous": 2, "smooth": 3, "planar": 1, "curved": 2}
    base = {"id": "x", "focal_ratio": 1.2, "surfaces": surfaces}
    return RegionFacts(**{**base, "has_occlusion": True, "has_fold": False, **changes})


def test_cells_are_equally_large():
    # Directions evenly on the half sphere fall into all cells alike.
    rng = np.random.default_rng(0)
    some = rng.normal(size=(400_000, 3))
    some[:, 2] = -abs(some[:, 2])
    counts = normal_cells(some, rings=6)
    assert counts.sum() == 400_000
    expected = 400_000 / 36
    assert abs(counts - expected).max() < 5 * math.sqrt(expected)


def test_cells_by_hand():
    assert normal_cells(np.array([0, 0, -3.0])).tolist()[0] == 1
    # The outer ring of two has three cells, from the right downwards: right-down, left, up-right.
    right_down, left, up = (1, 1, -0.01), (-1, 0, -0.01), (0.5, -1, -0.01)
    assert normal_cells(np.array([right_down, left, left, up]), rings=2).tolist() == [0, 1, 2, 1]
    away, nothing, missing = (0.1, 0.1, 1), (0, 0, 0), (np.nan, 0, -1)
    assert normal_cells(np.array([away, nothing, missing]), rings=2).tolist() == [0, 1, 0, 0]


@given(st.lists(st.floats(-100, 100), max_size=40))
def test_histograms_count_everything(values):
    edges = (0.0, 1.0, 5.0, 10.0)
    found = histogram(values, edges)
    assert sum(found.counts) == found.known == len(values)
    for low, high, n in zip((-math.inf, 1, 5), (1, 5, math.inf), found.counts, strict=True):
        assert n == sum(low <= v < high for v in values)
    if values:
        assert found.mean == pytest.approx(np.mean(values))


def test_added_up_by_hand():
    found = statistics(
        [
            facts(seconds=100.0, strokes=3, source="crowd"),
            facts(has_fold=True, seconds=200.0, source="crowd"),
            facts(has_occlusion=False, surfaces={**facts().surfaces, "curved": 0}),
            facts(has_occlusion=False, has_fold=True, focal_ratio=math.nan),
        ]
    )
    assert found.images == 4
    assert found.boundaries == {"only occlusion": 1, "only fold": 1, "both": 1, "none": 1}
    assert found.curvature == {"only planar": 1, "only curved": 0, "both": 3, "none": 0}
    assert (found.seconds.mean, found.seconds.known) == (150.0, 2)
    assert (found.strokes.known, found.focal_ratio.known) == (1, 3)
    assert found.sources == {"crowd": 2, "not said": 2}
    assert found.surfaces["smooth"].counts[3] == 4
    body = found.to_json()
    assert json.loads(json.dumps(body, allow_nan=False))["rings"] == RINGS


def test_nothing_to_count():
    with pytest.raises(Misuse, match="no annotation"):
        statistics([])


def test_facts_of_records():
    found = facts_of_annotation(drawn())
    assert found.surfaces == {"continuous": 2, "smooth": 3, "planar": 1, "curved": 2}
    assert found.has_occlusion
    assert found.has_fold
    assert (found.focal_ratio, found.strokes, found.seconds) == (1.5, 2, 305.0)
    assert found.source == "crowd"
    unknown = replace(drawn(), focal=Focal(-1.0))
    assert math.isnan(facts_of_annotation(unknown).focal_ratio)
    assert found.normals.sum() == 60 * 40
    assert found.normals[0] == pytest.approx(0.75 * 60 * 40, abs=60)


def test_facts_of_a_sample():
    labels = np.zeros((4, 6), np.int32)
    labels[:, :2], labels[:, 2:4], labels[:, 4:] = 1, 2, 5
    planes = np.where(labels == 2, 1.0, 0.0).astype(np.float32)
    lines = np.zeros((4, 6, 2), np.float32)
    lines[:, 2, 1] = 1
    truth = Truth(
        {
            "continuous_labels": np.ones((4, 6), np.int32),
            "smooth_labels": labels,
            "planes": planes,
            "boundaries": lines,
            "normals": np.broadcast_to(np.float32([0, 0, -1]), (4, 6, 3)),
            "camera": Camera((12.0, 12.0), (3.0, 2.0), (6, 4)),
        }
    )
    found = facts_of_sample(Sample("s", Inputs({}), truth))
    assert found.surfaces == {"continuous": 1, "smooth": 3, "planar": 1, "curved": 2}
    assert (found.has_occlusion, found.has_fold) == (False, True)
    assert (found.focal_ratio, found.normals[0]) == (2.0, 24)
    bare = facts_of_sample(Sample("s", Inputs({}), Truth({})))
    assert math.isnan(bare.focal_ratio)
    assert not bare.normals.any()
    assert facts_of_sample(Sample("s", Inputs({}), None)) is None


def test_a_folder_of_records_and_the_dataset_made_of_it(study, tmp_path):
    from depthgauge.annotate.reconstruct.export import export_records

    records = list(facts_of_records([study / "records" / "simulated-1"], notes=pytest.fail))
    places = [study / "records" / "simulated-1"]
    export_records(places, study / "images", tmp_path / "set", notes=pytest.fail)
    samples = list(facts_of_dataset(tmp_path / "set", "oasis", "val", notes=pytest.fail))
    assert [f.id for f in records] == [f.id for f in samples]
    for first, second in zip(records, samples, strict=True):
        assert first.surfaces == second.surfaces
        assert first.focal_ratio == pytest.approx(second.focal_ratio)
        assert (first.has_fold, first.has_occlusion) == (second.has_fold, second.has_occlusion)
    with pytest.raises(BadData, match="no such folder"):
        list(facts_of_dataset(tmp_path / "nowhere", "oasis", "val", notes=pytest.fail))
