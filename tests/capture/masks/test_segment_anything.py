"""A segment-anything model from ONNX files; the networks are made here."""

import sys

import numpy as np
import pytest
from tests.capture.masks.networks import decoder, encoder

from depthgauge.capture.masks.proposals import Click, Window
from depthgauge.capture.masks.segment_anything import open_networks
from depthgauge.errors import BadData, BadFile, MissingExtra


@pytest.fixture
def files(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "encoder.onnx").write_bytes(encoder())
    (tmp_path / "decoder.onnx").write_bytes(decoder())
    return tmp_path / "encoder.onnx", tmp_path / "decoder.onnx"


@pytest.fixture
def picture():
    """Two bright squares on a dark ground."""
    image = np.full((512, 512, 3), 20, np.uint8)
    image[64:192, 64:192] = image[320:448, 320:384] = 240
    return image


def test_the_clicked_square_is_found(files, picture):
    networks = open_networks(*files)
    found = networks.segment(picture, [Click(100, 100), Click(300, 20, wanted=False)])
    assert (found.x, found.y, found.inside.shape) == (64, 64, (128, 128))
    both = networks.segment(picture, [Click(100, 100), Click(350, 400)])
    assert both.pixels == pytest.approx(128 * 128 + 128 * 64, rel=0.01)


def test_a_large_picture_gets_its_rim_at_full_size(files, picture):
    large = np.repeat(np.repeat(picture, 5, axis=0), 5, axis=1)
    found = open_networks(*files).segment(large, [Click(500, 500)])
    assert [found.x, found.y, *found.inside.shape] == pytest.approx([320, 320, 640, 640], abs=2)
    assert found.inside.mean() > 0.99


def test_the_encoder_runs_once_for_many_clicks(files, picture, monkeypatch):
    networks = open_networks(*files)
    ran = []
    true_run = networks._encoded
    monkeypatch.setattr(networks, "_encoded", lambda small: ran.append(1) or true_run(small))
    window = Window.of(picture, [0, 0, 256, 256])
    for place in (70, 100, 130):
        networks.segment(picture, [Click(place, 100)], window, key="im0")
    assert len(ran) == 1
    networks.segment(picture, [Click(100, 100)], window, key="im1")
    networks.segment(picture, [Click(100, 100)], key="im1")
    assert len(ran) == 3


def test_an_encoder_that_normalises_by_itself(files, picture, tmp_path):
    path = tmp_path / "rows.onnx"
    path.write_bytes(encoder(rows_first=True))
    # It does not: everything above 0 is bright, to half a cell of its average around a square.
    picture[picture == 20] = 0
    found = open_networks(path, files[1]).segment(picture, [Click(100, 100)])
    assert 128 * 128 <= found.pixels <= 136 * 136
    assert 60 <= found.x <= 64


def test_files_that_are_no_such_networks(files, tmp_path):
    bad = tmp_path / "bad.onnx"
    with pytest.raises(BadFile, match="there is no such file"):
        open_networks(bad, files[1])
    bad.write_bytes(b"no network")
    with pytest.raises(BadFile, match="is no ONNX file"):
        open_networks(bad, files[1])
    with pytest.raises(BadFile, match="is no encoder"):
        open_networks(files[1], files[1])
    bad.write_bytes(decoder(without="mask_input"))
    with pytest.raises(BadFile, match="is no decoder: expected the inputs has_mask_input"):
        open_networks(files[0], bad)


def test_clicks_are_needed(files, picture):
    with pytest.raises(BadData, match="no click says"):
        open_networks(*files).segment(picture, [])


def test_a_missing_library_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match="say: pip install onnxruntime"):
        open_networks(tmp_path, tmp_path)
