"""The fragments of fine structures in different colours."""

import cv2
import numpy as np
from tests.report.conftest import NAN

from depthgauge.analysis.maps.metric_maps import metric_maps
from depthgauge.benchmarks import make_protocol
from depthgauge.engine.scoring.prepare import prepare, prepare_truth
from depthgauge.report.pictures.colour_bar import colour_bar
from depthgauge.report.pictures.colours import (
    ASIDE_COLOUR,
    MISSING_COLOURS,
    NO_TRUTH_COLOUR,
    fragment_table,
    paint_fragments,
    rgb_of,
)
from depthgauge.report.pictures.encode import ROW_WIDE
from depthgauge.report.pictures.rows import metric_rows

SHAPE = (24, 60)
TRUTH = np.ones(SHAPE, np.float32)
TRUTH[4:20, 10] = TRUTH[4:20, 40] = 9.0
KNOWN = np.ones(SHAPE, bool)
DARK = rgb_of(MISSING_COLOURS["fragments"])


def decoded(picture):
    return cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]


def shown(truth=TRUTH, scores=None, **estimates):
    body = {"id": "f", "version": 1, "dataset": "none", "quantity": "disparity", "pool": "image"}
    made = make_protocol({**body, "scores": [{"metric": "fragmentation"}]}, "test")
    ready = prepare_truth(made, truth, {})
    found = {label: prepare(made, values, ready) for label, values in estimates.items()}
    (maps,) = metric_maps(made, found, scores)
    return maps, metric_rows([maps], np.isfinite(truth))[0]


def test_every_fragment_has_its_colour_and_what_is_not_found_is_dark():
    broken = TRUTH.copy()
    broken[10:12, 10] = 1.0
    broken[15, 40] = NAN
    maps, row = shown(broken=broken, scores={"broken": {"fragmentation@all": 50.0}})
    assert row.pictures["broken"].caption == "broken, 50.000 %, 4 fragments"
    assert (maps.counts, maps.scores) == ({"broken": 4}, {"broken": 50.0})
    picture = decoded(row.pictures["broken"])
    pieces = [picture[4:10, 10], picture[12:20, 10], picture[4:15, 40], picture[16:20, 40]]
    colours = [{tuple(colour) for colour in piece.tolist()} for piece in pieces]
    assert [len(found) for found in colours] == [1, 1, 1, 1]
    assert len(set.union(*colours)) == 4
    for place in ((10, 10), (11, 10), (15, 40)):
        assert tuple(picture[place]) == DARK
    assert tuple(picture[12, 25]) == rgb_of(ASIDE_COLOUR)
    assert row.pictures["broken"].bar.colours == "fragments"


def test_a_method_that_finds_nothing_or_everything_has_a_picture_too():
    _, row = shown(whole=TRUTH, nothing=np.ones(SHAPE, np.float32))
    captions = {label: picture.caption for label, picture in row.pictures.items()}
    assert captions == {"whole": "whole, 2 fragments", "nothing": "nothing, 0 fragments"}
    nothing = decoded(row.pictures["nothing"])
    assert {tuple(c) for c in nothing[4:20, 10].tolist()} == {DARK}
    _, alone = shown(nothing=np.ones(SHAPE, np.float32))
    assert list(alone.pictures) == ["nothing"]


def test_a_sample_without_structures_says_so():
    _, row = shown(truth=np.ones(SHAPE, np.float32), a=np.ones(SHAPE, np.float32))
    assert row.pictures == {}
    assert row.about.endswith("This sample has no pixels for it.")


def test_thin_structures_survive_shrinking():
    truth = np.ones((60, 3 * ROW_WIDE), np.float32)
    truth[10:50, 500] = 9.0
    _, row = shown(truth=truth, a=truth)
    picture = decoded(row.pictures["a"])
    assert picture.shape[1] == ROW_WIDE
    coloured = (picture == fragment_table()[0, 0]).all(axis=-1)
    assert coloured.any(axis=1).sum() >= 12


def test_near_numbers_look_different_and_colours_go_round():
    table = fragment_table()[0].astype(int)
    for step in (1, 2, 3, 4, 5):
        assert np.abs(table - np.roll(table, step, axis=0))[step:].sum(axis=1).min() > 90
    for text in (MISSING_COLOURS["fragments"], ASIDE_COLOUR, NO_TRUTH_COLOUR):
        assert np.abs(table - rgb_of(text)).sum(axis=1).min() > 60
    numbers = np.array([[1, 1 + len(table), 0, NAN]], np.float32)
    known = np.array([[True, True, True, False]])
    picture = paint_fragments(numbers, known)[0]
    assert picture[0].tolist() == picture[1].tolist() == table[0].tolist()
    assert tuple(picture[2]) == DARK
    assert tuple(picture[3]) == rgb_of(NO_TRUTH_COLOUR)


def test_one_fragment_is_one():
    one = TRUTH.copy()
    one[4:20, 40] = 1.0
    _, row = shown(one=one)
    assert row.pictures["one"].caption == "one, 1 fragment"


def test_the_key_names_both():
    _, row = shown(a=TRUTH)
    text = str(colour_bar(row.pictures["a"].bar, "key"))
    assert "fragments" in text
    assert "not found" in text
    assert "no structure" in text
