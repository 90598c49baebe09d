"""What a dataset contains: counts by hand, and difficulty that follows what makes pairs hard."""

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.engine.describing.describe import (
    TEXTURE_BINS,
    describe_dataset,
    texture_counts,
)
from depthgauge.engine.describing.difficulty import matched, pair_difficulty
from depthgauge.io import write_image
from depthgauge.metrics.views._keypoints import Features
from depthgauge.report.datasets.description import draw


def picture(seed=0, shape=(120, 160)):
    """Blobs of several sizes, which SIFT finds again."""
    from scipy import ndimage

    rng = np.random.default_rng(seed)
    noise = sum(ndimage.gaussian_filter(rng.normal(size=shape), s) * s for s in (1, 2, 4))
    low, high = noise.min(), noise.max()
    return (255 * (noise - low) / (high - low)).astype(np.uint8)


def test_a_moved_picture_is_easy_and_another_one_is_not():
    wide = picture(shape=(120, 200))
    left, right = wide[:, :160], wide[:, 8:168]
    truth = np.full(left.shape, 8, np.float32)
    easy = pair_difficulty(left, right, truth)
    assert easy.matches > 50
    assert easy.off_row_share < 0.02
    assert easy.wrong_share < 0.02
    assert easy.judged == easy.matches
    other = pair_difficulty(left, picture(9), truth)
    assert other.matches < easy.matches / 5
    assert other.matches == 0 or other.wrong_share > 0.8
    # A wrong truth contradicts good matches, whose rows still agree.
    lie = pair_difficulty(left, right, truth + 5)
    assert lie.wrong_share > 0.98
    assert lie.off_row == easy.off_row


def test_pictures_without_texture_have_no_matches():
    flat = np.full((60, 80, 3), 127, np.uint8)
    found = pair_difficulty(flat, flat)
    assert (found.keypoints, found.matches, found.judged) == (0, 0, 0)
    assert np.isnan(found.off_row_share)
    assert found.matches_per_megapixel == 0


def test_matches_are_mutual_and_clear():
    left = Features(np.zeros((3, 2)), np.array([[0, 0], [10, 0], [5, 5]], np.float32))
    right = Features(np.zeros((3, 2)), np.array([[10, 1], [0, 1], [0, 1.1]], np.float32))
    first, second = matched(left, right)
    # 0 is as near to two others; 2 is nobody's nearest.
    assert (first.tolist(), second.tolist()) == ([1], [0])


def test_texture_by_hand():
    flat = np.full((20, 20), 90, np.uint8)
    assert texture_counts(flat).tolist() == [400] + [0] * (len(TEXTURE_BINS) - 2)
    board = 40 * (np.indices((20, 20)).sum(axis=0) % 2).astype(np.uint8)
    counts = texture_counts(board)
    assert counts[TEXTURE_BINS.index(16)] == 400  # a deviation of almost 20 everywhere
    assert texture_counts(board.astype(np.float32) / 255).tolist() == counts.tolist()


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "data"
    for name in ("truth", "left", "right", "masks/occluded", "labels/material"):
        (root / name).mkdir(parents=True)
    wide = picture(shape=(60, 100))
    for k, name in enumerate(("a", "b")):
        truth = np.full((60, 80), 6.0 + 4 * k, np.float32)
        truth[:15] = np.nan
        dg.write_map(root / "truth" / f"{name}.pfm", truth)
        write_image(root / "left" / f"{name}.png", wide[:, :80])
        write_image(root / "right" / f"{name}.png", wide[:, 6 + 4 * k : 86 + 4 * k])
        hidden = np.zeros((60, 80), bool)
        hidden[:, : 20 * k] = True
        write_image(root / "masks/occluded" / f"{name}.png", hidden)
        labels = np.zeros((60, 80), np.uint8)
        labels[:, :20] = 2
        write_image(root / "labels/material" / f"{name}.png", labels)
    (root / "tags.csv").write_text("sample,weather\na,rain\nz,sun\n")
    return root


def test_a_dataset_is_counted(folder, tmp_path):
    found = describe_dataset(folder, "folder")
    assert [each.sample for each in found.samples] == ["a", "b"]
    assert [each.known for each in found.samples] == [0.75, 0.75]
    assert found.samples[1].percentiles == (10.0,) * 5
    assert sum(found.shares) == pytest.approx(1)
    assert found.ends[0] == 6
    assert found.labels == {"material": {"0": 0.75, "2": 0.25}}
    assert found.hazards["occluded"] == (pytest.approx(0.125), 1)
    assert sum(found.texture) == pytest.approx(1)
    assert found.tags == {"weather": {"rain": 1, "(none)": 1}}
    assert "no sample is called z" in found.notes[0]
    assert "fine structure" in found.missing
    assert found.samples[0].difficulty.wrong_share < 0.1
    body = found.to_json()
    assert body["samples"][0]["difficulty"]["matches"] > 10
    path = draw(found, tmp_path / "pictures" / "d.png")
    assert dg.read_image(path).shape[2] == 3


def test_without_matching_and_with_one_sample(folder):
    found = describe_dataset(folder, "folder", only=["b"], sift=False)
    assert len(found.samples) == 1
    assert found.difficulty == ()
