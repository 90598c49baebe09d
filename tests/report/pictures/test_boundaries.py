import cv2
import numpy as np
import pytest
from tests.report.views import protocol_of

from depthgauge.analysis.precision_recall import (
    has_classes,
    matched_lines,
    precision_recall,
    rates_of,
    rates_of_sample,
)
from depthgauge.engine.running.maps import RunMaps
from depthgauge.report.pictures.colours import rgb_of
from depthgauge.report.pictures.quantities.boundaries import (
    FALSE_ALARMS,
    FOLD,
    HITS,
    KINDS,
    MATCHED,
    MISSES,
    OCCLUSION,
    estimated_lines,
    matched_picture,
    true_lines,
)

SIZE = (12, 16)
PHOTO = np.full((*SIZE, 3), 60, np.uint8)


def decoded(picture):
    return cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]


def is_colour(pixel, colour):
    return tuple(int(part) for part in pixel) == rgb_of(colour)


def lines(*columns):
    """(H, W, n): each channel has one upright line."""
    made = np.zeros((*SIZE, len(columns)), np.float32)
    for k, column in enumerate(columns):
        made[:, column, k] = 1
    made[0] = np.nan
    return made


def test_occlusions_and_folds_have_their_own_colours():
    picture = true_lines(lines(3, 8), PHOTO, classes=True)
    seen = decoded(picture)
    assert picture.bar == KINDS
    assert is_colour(seen[5, 3], OCCLUSION)
    assert is_colour(seen[5, 8], FOLD)
    assert len(set(map(tuple, seen[5, 9:].tolist()))) == 1
    assert not is_colour(seen[0, 3], OCCLUSION)  # not judged


def test_the_more_people_marked_a_line_the_brighter_it_is():
    picture = true_lines(lines(3, 3, 8), PHOTO, classes=False)
    seen = decoded(picture).astype(int)
    assert (picture.bar.low, picture.bar.high, picture.bar.unit) == (1, 3, "people")
    assert seen[5, 3].sum() > seen[5, 8].sum() > seen[5, 12].sum()
    assert true_lines(lines(3)[..., 0], PHOTO, classes=False).bar is None


def test_an_estimate_is_bright_where_it_is_sure_in_the_colour_of_its_kind():
    estimate = np.zeros((*SIZE, 2), np.float32)
    estimate[:, 4] = 1, 0.9
    estimate[:, 9] = 0.5, 0.1
    estimate[:, 12] = np.nan
    seen = decoded(estimated_lines(estimate, classes=True)).astype(int)
    assert seen[5, 4].argmax() == 0  # orange
    assert seen[5, 9].argmax() == 2  # blue
    assert seen[5, 4].max() > 1.8 * seen[5, 9].max()
    assert not seen[5, 12].any()
    plain = estimated_lines(estimate[..., 0], classes=False)
    assert (plain.bar.low, plain.bar.high, plain.bar.missing) == (0, 1, True)


@pytest.mark.parametrize("label", ["good", "fair"])
def test_matches_are_those_at_the_methods_own_threshold(view_runs, label):
    run = view_runs("boundaries")
    maps, curves = RunMaps(run), precision_recall(run)
    entrant = next(e for e in run.entrants if e.label == label)
    prepared = maps.prepared(entrant, "view02")
    codes = matched_lines(prepared, run.protocol, curves[label])
    threshold = curves[label].thresholds[curves[label].best]
    picture = matched_picture(codes, prepared.known, threshold, None)
    assert picture.caption == f"matched, from {threshold:.2f} on"
    assert picture.bar == MATCHED
    colours = {tuple(c) for c in decoded(picture).reshape(-1, 3).tolist()}
    assert {rgb_of(HITS), rgb_of(MISSES)} <= colours
    assert (rgb_of(FALSE_ALARMS) in colours) or label == "good"
    assert matched_lines(prepared, run.protocol, None) is None


def test_f_of_one_sample_is_of_its_own_counts(view_runs):
    run = view_runs("boundaries")
    curve = precision_recall(run)["good"]
    score = run.results["good", 0].samples["view02"]["ods"]
    hit, true, right, estimated = score.state.sums[4 * curve.best : 4 * curve.best + 4]
    recall, precision = hit / true, right / estimated
    f = 2 * recall * precision / (recall + precision)
    found = rates_of(score, curve)
    assert (found.f, found.precision, found.recall) == pytest.approx((f, precision, recall))
    assert rates_of(None, curve) is rates_of(score, None) is None
    assert rates_of_sample(run, "good", "view02", curve) == found
    assert rates_of_sample(run, "good", "nowhere", curve) is None


def test_classes_are_told_apart_where_the_protocol_does():
    assert has_classes(protocol_of("boundaries"))
    assert not has_classes(protocol_of("boundaries", scores=[{"metric": "ods", "region": ""}]))
    assert not has_classes(protocol_of("normals"))
