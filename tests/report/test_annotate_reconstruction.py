"""The picture of a reconstruction."""

from dataclasses import replace

import numpy as np

from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Picture,
    Stroke,
    SurfaceMark,
)
from depthgauge.io import read_image
from depthgauge.report.annotate import reconstruction
from depthgauge.report.annotate.reconstruction import draw_reconstruction

ANNOTATION = Annotation(
    Picture("two walls", 64, 48),
    Focal(70.0),
    strokes={"s": Stroke("occlusion", ((30, 0), (30, 47)), closer="left")},
    surfaces={"a": SurfaceMark((10, 20), "planar"), "b": SurfaceMark((50, 20), "planar")},
    normals={
        "a": NormalMark((10, 20), (0.5, 0.0, -0.8)),
        "b": NormalMark((50, 20), (-0.5, 0.0, -0.8)),
    },
)


def test_arrows_are_those_of_unit_normals():
    given = np.array([[30.0, 0, -40], [1e308, 0, -1e308], [0, 0, 0], [0, 1e-320, 0]])
    units = [[0.6, 0, -0.8], [0.5**0.5, 0, -(0.5**0.5)], [0, 0, 0], [0, 1, 0]]
    np.testing.assert_allclose(reconstruction._units(given), units, rtol=1e-12)


def test_one_surface_is_no_surfaces(tmp_path, monkeypatch):
    titles = []
    monkeypatch.setattr(
        reconstruction, "_picture", lambda axes, picture, title: titles.append(title)
    )
    one = replace(ANNOTATION, strokes={})
    for annotation in (one, ANNOTATION):
        draw_reconstruction(tmp_path / "a.png", annotation, reconstruct(annotation))
    assert titles == ["1 smooth surface", "Normals", "2 smooth surfaces", "Normals"]


def test_the_picture_shows_lines_in_their_colours(tmp_path):
    made = reconstruct(ANNOTATION)
    path = draw_reconstruction(tmp_path / "new" / "p.png", ANNOTATION, made)
    picture = read_image(path)[..., :3].astype(int)
    for colour in ((227, 26, 28), (46, 230, 107)):  # occlusion, normal
        assert (abs(picture - colour).max(axis=-1) < 12).sum() > 20


def test_nothing_drawn_still_gives_a_picture(tmp_path):
    outside = ((50, 50), (60, 50), (60, 60))
    bare = Annotation(Picture("bare", 40, 30), Focal(40.0), region_px=outside)
    assert draw_reconstruction(tmp_path / "p.png", bare, reconstruct(bare)).is_file()
