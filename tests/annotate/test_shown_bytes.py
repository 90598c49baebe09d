"""Photographs of any depth as bytes."""

import cv2
import numpy as np
import pytest
from tests.annotate.drawn import ball_before_wall

from depthgauge import io
from depthgauge.annotate.reconstruct.files import write_reconstruction
from depthgauge.annotate.records import write_records
from depthgauge.annotate.shown_bytes import shown_bytes
from depthgauge.errors import BadFile


def test_bytes_stay_grey_becomes_rgb_and_16_bits_are_rounded():
    colours = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    np.testing.assert_array_equal(shown_bytes(colours), colours)
    assert shown_bytes(colours[..., 0]).shape == (2, 4, 3)
    deep = np.array([[0, 257, 32896, 65535]], np.uint16) / np.float32(65535)
    assert shown_bytes(deep)[0, :, 0].tolist() == [0, 1, 128, 255]


def test_nothing_is_refused():
    with pytest.raises(BadFile, match="no pixels"):
        shown_bytes(np.zeros((0, 3), np.uint8))


def test_a_mesh_has_the_colours_of_a_photograph_of_16_bits(tmp_path):
    photograph, record = tmp_path / "deep.png", tmp_path / "deep.jsonl"
    cv2.imwrite(str(photograph), np.full((120, 120, 3), (0, 32896, 65535), np.uint16))
    assert io.is_deep(photograph)
    write_records(record, ball_before_wall())
    made = write_reconstruction(record, tmp_path / "out", image=photograph)
    cloud = io.read_ply(tmp_path / "out" / "points.ply")
    assert made.photograph is not None
    assert set(map(tuple, np.asarray(cloud.colours)[:, :3].tolist())) == {(255, 128, 0)}
