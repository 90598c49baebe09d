"""The example networks: run as methods on a real pair, their arithmetic, and what they say when
something is not there.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.errors import MethodFailed
from depthgauge.methods import find_method
from depthgauge.types import Inputs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
METHODS = sorted(EXAMPLES.glob("*.toml"))
FOLDERS = {
    "MCCNN_WEIGHTS": "data/net-stereo-mccnn",
    "NVTINY_WEIGHTS": "data/net-stereo-redtail",
    "TCMONODEPTH_WEIGHTS": "data/net-mono-tcmonodepth",
}


def module(name: str, monkeypatch):
    """A script of the folder, as Python finds it when it is run."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def this_python(monkeypatch):
    """`python` of a command is the one that runs the tests."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def weights(shared, monkeypatch, this_python):
    pytest.importorskip("onnxruntime", reason="the example networks need onnxruntime")
    for variable, folder in FOLDERS.items():
        monkeypatch.setenv(variable, str(shared(folder)))


@pytest.fixture
def motorcycle(shared):
    folder = shared("data/middlebury-motorcycle")
    images = {
        f"{n}_image": io.read_image(folder / f"motorcycle_{n}.png") for n in ("left", "right")
    }
    with np.load(folder / "motorcycle_disp.npz") as file:
        truth = np.where(np.isfinite(file["arr_0"]), file["arr_0"], np.nan)
    return images, truth


def estimated(name: str, images, quantity: str = "disparity") -> np.ndarray:
    inputs = Inputs({**images, "quantity": quantity, "sample": "Motorcycle", "seed": 0})
    return find_method(EXAMPLES / name).estimate(inputs, quantity).values


def bad(values, truth, threshold_px: float) -> float:
    known = np.isfinite(truth)
    return 100 * float((~(np.abs(values - truth) <= threshold_px))[known].mean())


@pytest.mark.parametrize("path", METHODS, ids=lambda path: path.stem)
def test_every_method_file_can_be_read(path):
    method = find_method(path)
    assert method.options.input_size
    assert method.label == path.stem
    assert method.spec.quantities


@pytest.mark.long
def test_mccnn_on_motorcycle(weights, motorcycle):
    images, truth = motorcycle
    values = estimated("mccnn.toml", images)
    assert values.shape == truth.shape
    assert bad(values, truth, 2) == pytest.approx(15.0, abs=1)  # what its float weights reach, too


def test_mccnn_at_a_quarter_with_a_smaller_right_picture(weights, motorcycle):
    images, truth = motorcycle
    whole = estimated("mccnn-quarter.toml", images)
    smaller = estimated(
        "mccnn-quarter.toml", {**images, "right_image": images["right_image"][::2, ::2]}
    )
    assert whole.shape == smaller.shape == truth.shape
    assert bad(whole, truth, 4) < 25
    assert bad(smaller, truth, 4) < 40


@pytest.mark.long
def test_nvtiny_on_motorcycle(weights, motorcycle):
    """It was made for streets; 3.63 px and 30.9 % with linear instead of nearest enlargement."""
    images, truth = motorcycle
    values = estimated("nvtiny.toml", images)
    known = np.isfinite(truth)
    assert np.abs(values - truth)[known].mean() == pytest.approx(3.63, abs=0.1)
    assert bad(values, truth, 3) == pytest.approx(30.9, abs=2)


def test_tcmonodepth_on_motorcycle(weights, motorcycle):
    from scipy.stats import spearmanr

    images, truth = motorcycle
    known = np.isfinite(truth)
    depth = estimated("tcmonodepth.toml", images, "depth")
    inverse = estimated("tcmonodepth.toml", images, "disparity")
    assert depth.shape == truth.shape
    assert (depth > 0).all()
    assert np.allclose(depth * inverse, 741 / 320, rtol=1e-5)  # it is scaled like a disparity
    found = spearmanr(inverse[known], truth[known]).statistic
    assert found == pytest.approx(0.756, abs=0.02)


@pytest.mark.parametrize(
    ("name", "variable", "source"),
    [
        ("mccnn.toml", "MCCNN_WEIGHTS", "pypi.org"),
        ("nvtiny.toml", "NVTINY_WEIGHTS", "redtail"),
        ("tcmonodepth.toml", "TCMONODEPTH_WEIGHTS", "obs-backgroundremoval"),
    ],
)
def test_weights_that_are_not_there_are_one_sentence(
    name, variable, source, this_python, monkeypatch, tmp_path
):
    monkeypatch.setenv(variable, str(tmp_path))
    images = dict.fromkeys(("left_image", "right_image"), np.zeros((8, 12, 3), np.uint8))
    with pytest.raises(MethodFailed, match=rf"exit code 1: no .*{source}.*{variable}\.") as caught:
        estimated(name, images)
    assert "Traceback" not in caught.value.details


def test_onnxruntime_that_is_not_there_is_one_sentence(tmp_path):
    (tmp_path / "onnxruntime.py").write_text("raise ImportError")
    code = "import network_files, pathlib; network_files.session(pathlib.Path('x'))"
    where = os.pathsep.join([str(tmp_path), str(EXAMPLES)])
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": where},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        "onnxruntime is not installed in this Python; say: pip install onnxruntime"
    ]


def test_the_most_alike_of_rows_that_are_moved(monkeypatch):
    """Features of length 1 that are moved by 5 px are found there."""
    mccnn = module("mccnn", monkeypatch)
    rng = np.random.default_rng(0)
    row = rng.normal(size=(3, 60, 16)).astype(np.float32)
    row /= np.linalg.norm(row, axis=2, keepdims=True)
    left, right = row[:, :50], row[:, 5:55]
    values = mccnn.most_alike(left, right, 12)
    assert np.abs(values[:, 5:] - 5).max() < 0.5
    assert values.dtype == np.float32
    assert (mccnn.most_alike(left, left, 1) == 0).all()


def test_a_parabola_between_disparities(monkeypatch):
    mccnn = module("mccnn", monkeypatch)
    costs = -((np.arange(9)[:, None] - np.array([[3.25, 4.0, 5.4]])) ** 2).astype(np.float32)
    wide = np.concatenate([np.full((9, 8), -99, np.float32), costs], axis=1)  # not at the border
    assert mccnn._peak(wide)[8:] == pytest.approx([3.25, 4.0, 5.4], abs=1e-5)


def test_a_cost_volume_by_hand(monkeypatch):
    nvtiny = module("nvtiny", monkeypatch)
    left = np.arange(30, dtype=np.float32).reshape(1, 1, 30, 1)
    volume = nvtiny.cost_volume(left, 100 + left)
    assert volume.shape == (1, 24, 1, 30, 2)
    assert volume[0, 3, 0, 10].tolist() == [10, 107]  # x = 10 beside x = 7 of the right view
    assert volume[0, 3, 0, 2].tolist() == [2, 0]  # beyond its border


def test_the_readme_names_every_example():
    text = (EXAMPLES / "README.md").read_text()
    for path in METHODS:
        assert path.name in text
    for variable in FOLDERS:
        assert variable in text


@pytest.mark.nets
def test_a_network_of_torchvision_takes_ten_lines(monkeypatch):
    """With a module in its place: torchvision itself is not installed for the tests."""
    torch = pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    import types

    class Stub(torch.nn.Module):
        """Like torchvision's RAFT: pictures from -1 to 1, a list of flows, sides in eights."""

        def forward(self, first, second):
            assert first.shape == second.shape
            assert first.shape[2] % 8 == first.shape[3] % 8 == 0
            assert float(first.min()) >= -1
            assert float(first.max()) <= 1
            flow = torch.stack([first[:, 0], second[:, 1]], 1)
            return [torch.zeros_like(flow), flow]

    fake = types.ModuleType("torchvision.models.optical_flow")
    fake.raft_small = lambda weights: Stub()
    for name in ("torchvision", "torchvision.models"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    adapter = module("torchvision_raft", monkeypatch)
    pictures = np.random.default_rng(0).integers(0, 255, (2, 21, 30, 3), dtype=np.uint8)
    flow = adapter.estimate({"first_image": pictures[0], "second_image": pictures[1]})
    assert flow.shape == (21, 30, 2)
    np.testing.assert_allclose(flow[..., 0], pictures[0, ..., 0] / 127.5 - 1, atol=1e-6)
