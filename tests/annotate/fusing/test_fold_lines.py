"""Normals of planes and the folds between them."""

import numpy as np
import pytest
from tests.annotate.drawn import annotation, segmentation

from depthgauge.annotate.fusing.fold_lines import FoldLine, fitted_normals, fold_lines
from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.annotation import Stroke, SurfaceMark
from depthgauge.types import Camera

CAMERA = Camera((100.0, 100.0), (49.5, 39.5), (100, 80))


def angle(first, second):
    cosine = np.dot(first, second) / np.linalg.norm(first) / np.linalg.norm(second)
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def unit(*parts):
    return tuple(float(v) for v in np.array(parts) / np.linalg.norm(parts))


def test_a_fold_becomes_the_plane_through_its_rays():
    """A vertical line 20 px right of the middle: its plane contains (0.2, y, 1) for all y."""
    drawn = annotation(
        100,
        80,
        100.0,
        strokes={"fold": Stroke("fold", ((69.5, -1), (69.5, 80)))},
        surfaces={"a": SurfaceMark((20, 40), "planar"), "b": SurfaceMark((90, 40), "planar")},
    )
    found = segment(drawn)
    (line,) = fold_lines(found, found.shapes, CAMERA)
    assert {line.first, line.second} == {1, 2}
    assert abs(np.dot(line.across, unit(1.0, 0.0, -0.2))) == pytest.approx(1.0, abs=1e-4)
    assert line.error_deg == pytest.approx(np.degrees(2 * 0.7 / 79), rel=0.05)


def test_short_bent_and_other_lines_are_not_used():
    drawn = annotation(
        100,
        80,
        100.0,
        strokes={"bent": Stroke("fold", ((50, -1), (20, 40), (50, 80)))},
    )
    found = segment(drawn)
    assert fold_lines(found, (1, 2), CAMERA) == []
    assert fold_lines(found, (1,), CAMERA) == []
    assert fold_lines(segmentation(np.ones((80, 100))), (1,), CAMERA) == []


def corner():
    """Three faces of a turned box: exact normals, and the three folds between them."""
    turn = np.linalg.qr(np.array([[0.6, 0.5, 0.4], [-0.7, 0.6, 0.3], [0.5, 0.4, -0.9]]))[0]
    faces = {i + 1: unit(*(turn[i] * -np.sign(turn[i, 2]))) for i in range(3)}
    corner_at = np.array([0.1, 0.05, 1.0])
    lines = [
        FoldLine(a, b, unit(*np.cross(corner_at, np.cross(faces[a], faces[b]))), 0.35)
        for a, b in ((1, 2), (1, 3), (2, 3))
    ]
    return faces, lines


def test_exact_normals_stay():
    faces, lines = corner()
    related = [(1, 2, "orthogonal"), (1, 3, "orthogonal"), (2, 3, "orthogonal")]
    found = fitted_normals(faces, lines, related)
    assert max(angle(found[n], faces[n]) for n in faces) < 1e-3


def test_lines_and_right_angles_correct_an_error_that_all_share():
    """Everything turned by 8 degrees: no relation sees it, the lines do."""
    faces, lines = corner()
    related = [(1, 2, "orthogonal"), (1, 3, "orthogonal"), (2, 3, "orthogonal")]
    a = np.radians(8)
    turn = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    said = {n: unit(*(turn @ faces[n])) for n in faces}
    found = fitted_normals(said, lines, related)
    before = np.mean([angle(said[n], faces[n]) for n in faces])
    after = np.mean([angle(found[n], faces[n]) for n in faces])
    assert before > 6
    assert after < 0.5 * before


def test_planes_without_lines_stay_as_they_are():
    faces, lines = corner()
    far = {**faces, 9: (0.0, 0.0, -1.0)}
    assert fitted_normals(far, lines, [])[9] == (0.0, 0.0, -1.0)
    assert fitted_normals(faces, [], []) == faces
