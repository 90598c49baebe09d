"""Tags in photographs: identities, the order of corners, and how exact they are."""

import re

import cv2
import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.tags import FoundTag, find_tags
from depthgauge.sessions.tags import TAG_CORNERS, tag_bitmap

UNIT = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)


def drawn(tags, size=(320, 240), bend=0.0, blur=0.6, noise=1.5, fine=8):
    """A picture with tags at quadrangles (upper left, then clockwise), and their exact corners.

    `bend` moves what is at x, y to x, y + bend * sin(pi * u), u along the tag, to bend its sides.
    """
    light = np.full((size[1] * fine, size[0] * fine), 0.3, np.float32)
    exact = {}
    for identity, quad in tags.items():
        low = np.clip(np.min(quad, axis=0) - 20, 0, size).astype(int) * fine
        high = np.clip(np.max(quad, axis=0) + 20, 0, size).astype(int) * fine
        part = light[low[1] : high[1], low[0] : high[0]]
        y, x = np.mgrid[low[1] : high[1], low[0] : high[0]]
        x, y = ((v + 0.5) / fine - 0.5 for v in (x, y))
        seen = cv2.getPerspectiveTransform(UNIT, np.array(quad, np.float32)).astype(float)
        flat = np.linalg.inv(seen) @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
        u, v = (flat[:2] / flat[2]).reshape(2, *x.shape)
        v = v - bend * np.sin(np.pi * u)
        column, row = (np.floor(8 * w + 1).astype(int) for w in (u, v))
        inside = (column >= 0) & (column < 10) & (row >= 0) & (row < 10)
        part[inside] = 0.04 + 0.7 / 255 * tag_bitmap(identity)[row[inside], column[inside]]
        corners = np.array([[a, b, 1.0] for a, b in TAG_CORNERS]) @ seen.T
        exact[identity] = corners[:, :2] / corners[:, 2:]
    light = light.reshape(size[1], fine, size[0], fine).mean(axis=(1, 3))
    light = cv2.GaussianBlur(light, (0, 0), blur)
    codes = 255 * np.where(light < 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    codes += np.random.default_rng(1).normal(0, noise, codes.shape)
    return np.clip(np.rint(codes), 0, 255).astype(np.uint8), exact


def errors(found, exact):
    return np.concatenate([np.linalg.norm(t.corners - exact[t.identity], axis=1) for t in found])


QUADS = {
    3: [(30.2, 30.7), (75.3, 32.1), (74.6, 77.8), (29.1, 75.2)],
    100: [(130.4, 60.2), (165.9, 30.3), (190.1, 66.4), (155.2, 92.9)],
    17: [(250.5, 80.5), (250.5, 40.5), (290.5, 40.5), (290.5, 80.5)],
    586: [(90.3, 190.8), (60.4, 215.2), (35.2, 170.9), (70.8, 150.6)],
    42: [(200.1, 150.3), (235.2, 148.2), (240.7, 175.4), (205.4, 184.3)],
}


def test_corners_are_exact_and_in_order_however_a_tag_is_turned():
    image, exact = drawn(QUADS)
    found = find_tags(image)
    assert [tag.identity for tag in found] == sorted(QUADS)
    wrong = errors(found, exact)
    assert np.median(wrong) < 0.05
    assert wrong.max() < 0.15


def test_corners_of_opencv_are_twenty_times_worse():
    """Why they are not used."""
    image, exact = drawn(QUADS)
    ours = np.median(errors(find_tags(image), exact))
    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    settings = cv2.aruco.DetectorParameters()
    settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    corners, identities, _ = cv2.aruco.ArucoDetector(family, settings).detectMarkers(image)
    theirs = [
        FoundTag(int(identity), quad.reshape(4, 2)[[1, 0, 3, 2]])
        for quad, identity in zip(corners, np.ravel(identities), strict=True)
    ]
    assert np.median(errors(theirs, exact)) > 20 * ours


def test_colour_and_more_bits_give_the_same():
    image, _ = drawn({3: QUADS[3]}, noise=0.0)
    grey = find_tags(image)[0].corners
    colour = find_tags(np.dstack([image] * 3))[0].corners
    deep = find_tags((image / 255).astype(np.float32))[0].corners
    np.testing.assert_allclose(colour, grey, atol=1e-6)
    np.testing.assert_allclose(deep, grey, atol=1e-3)


def test_sides_that_are_bent_meet_in_the_corner():
    """Bent by 1.3 px: straight lines would miss corners by half a pixel."""
    quad = [(40.2, 40.7), (105.3, 42.1), (104.6, 107.8), (39.1, 105.2)]
    image, exact = drawn({3: quad}, bend=0.02)
    assert errors(find_tags(image), exact).max() < 0.15


def test_one_identity_twice():
    image, _ = drawn({3: QUADS[3]}, size=(110, 110))
    found = find_tags(np.concatenate([image, image], axis=1))
    assert [tag.identity for tag in found] == [3, 3]
    np.testing.assert_allclose(found[1].corners - found[0].corners, [[110, 0]] * 4, atol=0.02)


def test_where_there_is_no_tag_none_is_found():
    noise = np.random.default_rng(0).integers(0, 255, (120, 160), np.uint8)
    assert find_tags(noise) == []
    assert find_tags(np.zeros((40, 50, 3), np.uint8)) == []
    cut, _ = drawn({3: [(-12.0, 30.7), (45.3, 32.1), (44.6, 77.8), (-13.0, 75.2)]}, size=(90, 110))
    assert find_tags(cut) == [], "cut by the border"


def references(path):
    """Corners of a photograph's file of references; AprilTag has pixel centres at halves."""
    lines = [re.findall(r"[\d.]+", line) for line in path.read_text().splitlines() if line.strip()]
    return [(int(n[0]), np.array(n[1:], float).reshape(4, 2) - 0.5) for n in lines]


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("33369213973_9d9bb4cc96_c", 11),
        ("34085369442_304b6bafd9_c", 20),
        ("34139872896_defdb2f8d9_c", 9),
    ],
)
def test_photographs_agree_with_their_references(shared, name, least):
    """Of 12, 25 and 10 tags, 13 to 45 px wide. The references are corners of quadrangles, whose
    own error on drawn tags is 0.3 to 0.5 px."""
    folder = shared("data/apriltag-photos") / "data"
    found = find_tags(io.read_image(folder / f"{name}.jpg"))
    assert {tag.identity for tag in found} == {0}
    apart = []
    for identity, corners in references(folder / f"{name}.txt"):
        assert identity == 0
        wrong = min((np.linalg.norm(t.corners - corners, axis=1) for t in found), key=np.max)
        if wrong.max() < 2.5:
            apart.append(wrong)
    assert len(apart) >= least
    assert np.median(apart) < 0.6


@pytest.mark.parametrize(
    ("name", "identities"),
    [("test_image.png", [60, 82, 318, 328, 387]), ("test_image_rotation_30.png", [76])],
)
def test_identities_of_photographs(shared, name, identities):
    found = find_tags(io.read_image(shared("data/apriltag-pupil") / name))
    assert [tag.identity for tag in found] == identities
