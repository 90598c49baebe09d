"""COCO's masks: runs as numbers and as text, outlines, damaged ones."""

import json

import numpy as np
import pytest
from coco_rle import decode_coco_mask, fill_coco_outline
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import BadFile, TooLarge


def text_of(runs):
    """COCO's text of runs, written from its description."""
    out = []
    for k, run in enumerate(runs):
        value = run - runs[k - 2] if k > 2 else run
        more = True
        while more:
            bits = value & 31
            value >>= 5
            more = value != (-1 if bits & 16 else 0)
            out.append(chr(48 + bits + (32 if more else 0)))
    return "".join(out)


def runs_of(mask):
    flat = mask.T.ravel()
    changes = np.flatnonzero(np.diff(flat.astype(int))) + 1
    runs = np.diff(np.concatenate([[0], changes, [flat.size]])).tolist()
    return [0, *runs] if flat[0] else runs


@given(seed=st.integers(0, 2**32 - 1), coherent=st.booleans())
def test_runs_come_back_from_numbers_and_from_text(seed, coherent):
    rng = np.random.default_rng(seed)
    height, width = (int(n) for n in rng.integers(1, 60, 2))
    mask = rng.random((height, width)) < 0.5
    if coherent:
        mask = np.repeat(mask[:, :1], width, axis=1)
    size = [height, width]
    runs = runs_of(mask)
    for counts in (runs, text_of(runs), text_of(runs).encode()):
        found = decode_coco_mask({"size": size, "counts": counts}, (1, 1))
        assert found.dtype == bool
        assert np.array_equal(found, mask)


def test_a_square_outline_by_hand():
    """Corners on pixel borders: from 1 to 4 are three pixels a side."""
    mask = fill_coco_outline([1, 2, 4, 2, 4, 5, 1, 5], (7, 6))
    expected = np.zeros((7, 6), bool)
    expected[2:5, 1:4] = True
    assert np.array_equal(mask, expected)
    turned = fill_coco_outline([1, 5, 4, 5, 4, 2, 1, 2], (7, 6))
    assert np.array_equal(turned, expected)


def test_outlines_beyond_the_picture_are_cut():
    mask = fill_coco_outline([-5, -5, 30, -5, 30, 30, -5, 30], (4, 6))
    assert mask.all()
    assert not fill_coco_outline([50, 50, 60, 50, 60, 60], (4, 6)).any()


def test_several_outlines_are_one_instance():
    outlines = [[0, 0, 2, 0, 2, 2, 0, 2], [1, 1, 3, 1, 3, 3, 1, 3]]
    mask = decode_coco_mask(outlines, (4, 4))
    assert mask.sum() == 7


def test_areas_of_real_outlines_agree_with_the_annotations(shared):
    """COCO's area is that of the polygon; its pixels are about as many."""
    path = shared("data/coco-fake-results") / "fce_cocoapi_instances_val2014_100.json"
    body = json.loads(path.read_text())
    sizes = {image["id"]: (image["height"], image["width"]) for image in body["images"]}
    large = [one for one in body["annotations"] if one["area"] > 5000]
    assert len(large) > 100
    for one in large[:60]:
        mask = decode_coco_mask(one["segmentation"], sizes[one["image_id"]])
        x, y, w, _ = one["bbox"]
        assert mask.sum() == pytest.approx(one["area"], rel=0.02)
        rows, cols = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
        assert abs(rows[0] - y) <= 1
        assert abs(cols[-1] + 1 - x - w) <= 1


@pytest.mark.parametrize(
    ("segmentation", "message"),
    [
        (5, "a list of outlines, or runs with their size; found int"),
        ("abc", "found str"),
        ([[1, 2, 3, 4]], "at least three corners"),
        ([[1, 2, 3, 4, 5, 6, 7]], "at least three corners"),
        ([[1, 2, 3, 4, 5, "x"]], "at least three corners"),
        ([[1, 2, 3, 4, 5, float("nan")]], "at least three corners"),
        ([[1e9, 2, 3, 4, 5, 6]], "at least three corners"),
        ({"size": [2, 2], "counts": [3]}, "must add up to 4; these add up to 3"),
        ({"size": [2, 2], "counts": [-1, 5]}, "must add up to 4"),
        ({"size": [2, 2], "counts": [1.5]}, "a list of whole numbers"),
        ({"size": [2, 2], "counts": [[1], 2]}, "a list of whole numbers"),
        ({"size": [2, 2]}, "a list of whole numbers"),
        ({"size": [2], "counts": [4]}, r"is \[height, width\]"),
        ({"size": [0, 2], "counts": []}, r"is \[height, width\]"),
        ({"counts": [4]}, r"is \[height, width\]"),
        ({"size": [2, 2], "counts": "\x10"}, "no text that COCO writes"),
        ({"size": [2, 2], "counts": "o"}, "end in the middle of a number"),
        ({"size": [2, 2], "counts": "oooooooooooooooo"}, "no text that COCO writes"),
        ({"size": [2, 2], "counts": "@"}, "numbers that no mask has"),
    ],
)
def test_damaged_masks_are_refused(segmentation, message):
    with pytest.raises(BadFile, match=message):
        decode_coco_mask(segmentation, (4, 4))


def test_masks_that_claim_too_much_are_refused_before_anything_is_made():
    with pytest.raises(TooLarge, match="claims 100000x100000"):
        decode_coco_mask({"size": [100000, 100000], "counts": [10**10]}, (1, 1))
    with pytest.raises(TooLarge, match="at most 8 are allowed"):
        decode_coco_mask([[0, 0, 1, 0, 1, 1]], (3, 3), limit=8)


runs = st.lists(st.integers(-3, 9), max_size=6) | st.text("0123?@PQRo~ ", max_size=12) | st.none()
sizes = st.lists(st.integers(-1, 4), max_size=3) | st.none()
outlines = st.lists(st.lists(st.floats(-9, 9) | st.just(2**30), max_size=9), max_size=3)


@given(
    segmentation=st.fixed_dictionaries({"size": sizes, "counts": runs}) | outlines | st.integers()
)
def test_whatever_it_is_gives_a_mask_or_one_sentence(segmentation):
    try:
        mask = decode_coco_mask(segmentation, (5, 6))
    except (BadFile, TooLarge):
        return
    assert mask.dtype == bool
    assert mask.ndim == 2
