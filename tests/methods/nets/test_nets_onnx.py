"""Exported networks: the file runs without PyTorch and says the same."""

from __future__ import annotations

import hashlib
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from depthgauge.cli.workshop.train_verb import command as train
from depthgauge.errors import BadFile, DepthgaugeError, Misuse, Unavailable
from depthgauge.io import weights as io_weights
from depthgauge.io.weights import MATCHER, MATCHER_SIZE, MATCHER_UPDATES
from depthgauge.methods import find_method
from depthgauge.methods.nets._networks import WEIGHTS
from depthgauge.methods.nets.stereo import StereoNetOptions
from depthgauge.metrics.views._stereo import match_views


def test_a_file_that_is_not_there(frames):
    with pytest.raises(Unavailable, match="there is no such file"):
        find_method("nets-onnx:kind=flow,model=nowhere.onnx").estimate(frames(1, 1), "flow")


def test_a_file_that_is_no_network(frames, tmp_path):
    (tmp_path / "a.onnx").write_bytes(b"no network")
    method = find_method(f"nets-onnx:kind=flow,model={tmp_path / 'a.onnx'}")
    with pytest.raises(BadFile, match="is no ONNX file"):
        method.estimate(frames(1, 1), "flow")


def test_the_file_gives_the_label():
    assert find_method("nets-onnx:model=nets/flow.onnx").label == "flow"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    torch = pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    pytest.importorskip("onnx", reason="needs onnx: make test-nets")
    from depthgauge.methods.nets._torch.export import export_onnx

    assert torch
    folder = tmp_path_factory.mktemp("onnx")
    for kind in ("stereo", "flow", "layers"):
        weights = WEIGHTS / f"{kind}.safetensors"
        export_onnx(kind, weights, folder / f"{kind}.onnx", (96, 128), 2)
    return folder


@pytest.mark.nets
@pytest.mark.parametrize("kind", ["stereo", "flow", "layers"])
def test_an_exported_network_says_the_same(kind, exported, frames, stereo, monkeypatch):
    inputs = stereo(4.0, size=(80, 120)) if kind == "stereo" else frames(2, 1)
    quantity = {"stereo": "disparity", "flow": "flow", "layers": "layered_flow"}[kind]
    once = "" if kind == "layers" else ",averaged=false"
    expected = find_method(f"nets-{kind}:updates=2{once}").estimate(inputs, quantity).values
    monkeypatch.setitem(sys.modules, "torch", None)
    method = find_method(f"nets-onnx:kind={kind},model={exported / kind}.onnx")
    found = method.estimate(inputs, quantity).values
    assert found.shape == expected.shape
    away = np.abs(found - expected)
    assert np.nanmedian(away) < 0.01


def test_the_name_of_our_matcher_stands_for_the_weights_of_the_package():
    """Other weights need another number in the name: scores of both must not be mixed."""
    sha256 = hashlib.sha256((WEIGHTS / "stereo.safetensors").read_bytes()).hexdigest()
    height, width = MATCHER_SIZE
    made_of = f"weights {sha256}, {width}x{height} px, {MATCHER_UPDATES} updates, white 255"
    assert made_of == io_weights._MATCHER_IS
    assert StereoNetOptions().updates == MATCHER_UPDATES


@pytest.mark.nets
def test_the_stereo_network_is_a_matcher_of_disparity_scale(tmp_path, stereo, monkeypatch):
    """Exported without any option it has a name that no version of PyTorch changes."""
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    pytest.importorskip("onnx", reason="needs onnx: make test-nets")
    monkeypatch.setenv("DEPTHGAUGE_WEIGHTS", str(tmp_path))
    done = CliRunner().invoke(train, ["export", "stereo", "--as-matcher"])
    assert f'the matcher "{MATCHER}"' in done.output, done.output
    inputs = stereo(5.0, size=(96, 160))
    views = [
        np.atleast_3d(inputs[name]).repeat(3, 2)[..., :3].astype(np.float32) / 255
        for name in ("left_image", "right_image")
    ]
    for name in (MATCHER, io_weights.network_name(io_weights.matcher_path())):
        found = match_views(*views, name, 64)
        assert np.median(np.abs(found - 5)[8:-8, 16:-8]) < 0.5


@pytest.mark.nets
def test_another_export_needs_a_place():
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    for more in (["--as-matcher", "--updates", "4"], []):
        with pytest.raises(Misuse, match="--out: say where"):
            train.main(["export", "stereo", *more], standalone_mode=False)


@pytest.mark.nets
def test_another_kind_and_larger_pictures_are_refused(exported, frames):
    inputs = frames(1, 1, size=(120, 160))
    with pytest.raises(DepthgaugeError, match="128x96 px, these are 160x120"):
        find_method(f"nets-onnx:kind=flow,model={exported}/flow.onnx").estimate(inputs, "flow")
    with pytest.raises(BadFile, match="is no flow network of ours"):
        find_method(f"nets-onnx:kind=flow,model={exported}/stereo.onnx").estimate(inputs, "flow")
