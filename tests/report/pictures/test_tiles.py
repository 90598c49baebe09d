"""Tiles: every value can be read back, at every level."""

import json

import numpy as np
import pytest
from PIL import Image

from depthgauge.report.pictures.tiles import TILE_PX, write_picture_tiles, write_value_tiles


def read_level(folder, level):
    """The whole picture of a level, put together from its tiles."""
    record = json.loads((folder / "tiles.json").read_text())
    paths = (folder / str(level)).iterdir()
    tiles = {tuple(map(int, path.stem.split("_"))): path for path in paths}
    rows = []
    for row in range(1 + max(y for _, y in tiles)):
        strip = [tiles[x, row] for x in range(1 + max(x for x, _ in tiles))]
        strip = [np.asarray(Image.open(path).convert("RGB")) for path in strip]
        rows.append(np.concatenate(strip, axis=1))
    return record, np.concatenate(rows)


def read_values(folder, level):
    record, pixels = read_level(folder, level)
    code = pixels[..., 0].astype(int) * 256 + pixels[..., 1]
    values = record["low"] + (code - 1) / 65534 * (record["high"] - record["low"])
    return record, np.where(code == 0, np.nan, values)


@pytest.fixture
def values():
    random = np.random.default_rng(5)
    values = random.normal(3, 40, (300, 530)).astype(np.float32)
    values[10:20, 30:40] = np.nan
    return values


def test_values_come_back_within_half_a_step(tmp_path, values):
    seen = []
    write_value_tiles(tmp_path, values, "px", progress=lambda *each: seen.append(each))
    record, back = read_values(tmp_path, 0)
    step = (record["high"] - record["low"]) / 65534
    np.testing.assert_array_equal(np.isnan(back), np.isnan(values))
    assert np.nanmax(np.abs(back - values)) <= 0.51 * step
    assert (record["width"], record["height"], record["levels"]) == (530, 300, 3)
    assert record["unit"] == "px"
    assert len(record["colours"]) == 64
    low, high = np.percentile(values[np.isfinite(values)], (1, 99))
    assert record["shown"] == pytest.approx([low, high])
    assert seen[-1] == ("tiles", 4, 4)


def test_smaller_levels_have_values_of_the_map(tmp_path, values):
    write_value_tiles(tmp_path, values, "px")
    step = (np.nanmax(values) - np.nanmin(values)) / 65534
    for level, shape in ((1, (150, 265)), (2, (75, 133))):
        _, back = read_values(tmp_path, level)
        assert back.shape == shape
        known = np.sort(values[np.isfinite(values)])
        some = back[np.isfinite(back)]
        place = np.clip(np.searchsorted(known, some), 1, len(known) - 1)
        nearest = np.minimum(abs(known[place] - some), abs(known[place - 1] - some))
        assert nearest.max() <= 0.51 * step
    assert max(shape) <= TILE_PX


@pytest.mark.parametrize("fill", [7.0, np.nan])
def test_flat_and_empty_maps(tmp_path, fill):
    write_value_tiles(tmp_path, np.full((4, 5), fill, np.float32), "m")
    record, back = read_values(tmp_path, 0)
    assert record["levels"] == 1
    np.testing.assert_allclose(back, np.full((4, 5), fill))


def test_pictures_stay_what_they_are(tmp_path):
    rows, columns = np.mgrid[:300, :400]
    picture = np.stack([rows * 255 / 300, columns * 255 / 400, 128 + 0 * rows], -1).astype(np.uint8)
    write_picture_tiles(tmp_path, picture)
    record, back = read_level(tmp_path, 0)
    assert record["kind"] == "picture"
    assert back.shape == picture.shape
    assert np.abs(back.astype(int) - picture).mean() < 3
    _, small = read_level(tmp_path, 1)
    assert small.shape == (150, 200, 3)
    assert np.abs(small.astype(int) - picture[::2, ::2]).mean() < 4
