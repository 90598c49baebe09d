"""Dense normals: against eq. (1)-(2) written out pixel by pixel, and along smooth occlusions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.annotate.drawn import annotation, ball_before_wall

from depthgauge.annotate.reconstruct.dense_normals import dense_normals, known_normals
from depthgauge.annotate.reconstruct.hand_normals import hand_normals
from depthgauge.annotate.reconstruct.reconstruction import camera_of
from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.annotation import NormalMark, Stroke, SurfaceMark


def spread(drawn, tolerance=1e-10, **options):
    made = segment(drawn)
    hand = hand_normals(drawn, made, camera_of(drawn))
    known = known_normals(hand, made)
    return made, known, dense_normals(hand, made, known, tolerance=tolerance, **options)


def written_out(made, known):
    """Least squares over the double sums, a row for each of their terms."""
    height, width = made.smooth.shape
    rows = []
    for y in range(height):
        for x in range(width):
            for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0)):
                qy, qx = y + dy, x + dx
                if not (0 <= qy < height and 0 <= qx < width) or made.kind[qy, qx]:
                    continue
                if made.kind[y, x] and np.dot((dx, dy), made.toward[y, x]) <= 1e-3:
                    continue
                if made.smooth[y, x] == made.smooth[qy, qx]:
                    rows.append((y * width + x, qy * width + qx))
    matrix = np.zeros((len(rows), height * width))
    for i, (p, q) in enumerate(rows):
        matrix[i, p], matrix[i, q] = 1, -1
    fixed = known.where.ravel()
    values = known.normals.reshape(-1, 3)
    side = -matrix[:, fixed] @ values[fixed]
    out = values.copy()
    out[~fixed] = np.linalg.lstsq(matrix[:, ~fixed], side, rcond=None)[0]
    return out.reshape(height, width, 3)


def crossed():
    """18 x 14 with a fold and a smooth occlusion that ends inside; all curved."""
    return annotation(
        18,
        14,
        20.0,
        strokes={
            "fold": Stroke("fold", ((9, -1), (9, 14))),
            "over": Stroke("occlusion", ((12, 3), (12, 9)), "right", smooth=True),
        },
        normals={
            "a": NormalMark((2, 2), (0.3, 0.1, -1)),
            "b": NormalMark((6, 11), (-0.5, 0.2, -1)),
            "c": NormalMark((16, 12), (0.1, -0.6, -1)),
        },
    )


def test_agrees_with_the_sums_written_out():
    made, known, found = spread(crossed(), rounded=False)
    raw = written_out(made, known)
    wanted = raw / np.linalg.norm(raw, axis=-1, keepdims=True)
    np.testing.assert_allclose(found.normals, wanted, atol=1e-6)
    assert found.residual <= 1e-10


def test_nothing_passes_a_line():
    before = spread(crossed())[2].normals
    drawn = crossed()
    normals = {**drawn.normals, "c": NormalMark((16, 12), (0.5, 0.6, -1))}
    made, _, after = spread(annotation(18, 14, 20.0, strokes=drawn.strokes, normals=normals))
    changed = np.abs(after.normals - before).max(axis=-1) > 1e-6
    other = made.smooth == made.smooth[2, 2]
    assert changed[made.smooth == made.smooth[12, 16]].mean() > 0.9
    assert not changed[other].any()


def test_along_a_smooth_occlusion_normals_lie_in_the_image_plane_towards_the_far_side():
    made, _, found = spread(ball_before_wall())
    line = made.kind == 3
    np.testing.assert_allclose(found.normals[line][:, 2], 0, atol=1e-7)
    ys, xs = np.nonzero(line)
    outward = np.stack([xs - 59.5, ys - 59.5], axis=1)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    assert ((found.normals[line][:, :2] * outward).sum(axis=1) > 0.97).all()


def test_an_outline_alone_gives_the_sphere_and_a_note():
    drawn = ball_before_wall(normals={"wall": NormalMark((3, 3), (0, 0, -1))})
    made, known, found = spread(drawn)
    assert known.by_outline == known.outlined == {int(made.smooth[60, 60])}
    y, x = np.mgrid[0:120, 0:120] - 59.5
    inside = np.hypot(x, y) < 32
    wanted = np.stack([x, y, -np.sqrt(np.maximum(35**2 - x**2 - y**2, 0))], axis=-1) / 35
    cosine = (found.normals * wanted).sum(axis=-1)[inside]
    assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).mean() < 1.5
    assert any("rounded between" in note for note in found.notes)


def test_rounding_keeps_normals_given_by_hand_and_beats_the_published_division():
    drawn = ball_before_wall()
    y, x = np.mgrid[0:120, 0:120] - 59.5
    inside = np.hypot(x, y) < 32
    wanted = np.stack([x, y, -np.sqrt(np.maximum(35**2 - x**2 - y**2, 0))], axis=-1) / 35
    errors = []
    for rounded in (True, False):
        made, known, found = spread(drawn, rounded=rounded)
        place = known.where & (made.kind == 0)
        np.testing.assert_allclose(found.normals[place], [[0, 0, -1]], atol=1e-9)
        cosine = (found.normals * wanted).sum(axis=-1)[inside]
        errors.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))).mean())
    assert errors[0] < 1.5
    assert errors[1] > 10 * errors[0]


def test_a_surface_of_which_nothing_is_known_faces_the_viewer_and_is_named():
    drawn = annotation(
        20,
        10,
        20.0,
        strokes={"fold": Stroke("fold", ((10, -1), (10, 10)))},
        surfaces={"left": SurfaceMark((2, 2), "planar")},
        normals={"a": NormalMark((2, 2), (0.5, 0, -1))},
    )
    made, known, found = spread(drawn)
    there = made.smooth == made.smooth[5, 15]
    np.testing.assert_array_equal(found.normals[there], np.tile([0, 0, -1.0], (there.sum(), 1)))
    assert known.unknown == {int(made.smooth[5, 15])}
    assert len(found.notes) == 1
    assert "curved surface at (" in found.notes[0]
    assert "has no normal; it was assumed to face the viewer" in found.notes[0]
    left = made.smooth == made.smooth[2, 2]
    assert found.normals[left] == pytest.approx(
        np.tile(np.array([0.5, 0, -1]) / 1.25**0.5, (left.sum(), 1))
    )


def test_a_plane_with_a_smooth_occlusion_stays_a_plane_and_is_named():
    flat = {"wall": SurfaceMark((3, 3), "planar"), "front": SurfaceMark((60, 60), "planar")}
    made, known, found = spread(ball_before_wall(surfaces=flat))
    assert not known.where.any()
    np.testing.assert_allclose(found.normals[made.region][:, 2], -1)
    assert len(found.notes) == 1
    assert "ends at a smooth occlusion" in found.notes[0]


def test_unit_inside_missing_outside():
    drawn = ball_before_wall(region_px=((5, 5), (110, 8), (100, 112), (8, 100)))
    made, _, found = spread(drawn)
    np.testing.assert_allclose(np.linalg.norm(found.normals[made.region], axis=-1), 1)
    assert np.isnan(found.normals[~made.region]).all()
