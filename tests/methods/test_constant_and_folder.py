from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.errors import BadData, BadFile, Misuse, Unavailable
from depthgauge.methods import find_method
from depthgauge.types import Estimate, Inputs

IMAGE = np.zeros((3, 5, 3), np.uint8)


def constant(text: str, quantity: str, **items) -> np.ndarray:
    inputs = Inputs({"image": IMAGE, "quantity": quantity, **items})
    return find_method(text).estimate(inputs, quantity).values


def test_a_constant_of_each_quantity():
    assert np.array_equal(constant("constant:value=2.5", "depth"), np.full((3, 5), 2.5))
    assert np.array_equal(constant("constant:value=-3", "disparity"), np.full((3, 5), -3))
    flow = constant("constant:value=1,value_v=-2", "flow")
    assert flow.shape == (3, 5, 2)
    assert (flow == [1, -2]).all()


def test_what_is_constant_where_nothing_is_said():
    assert (constant("constant", "disparity", disparity_range=(10, 40)) == 25).all()
    assert (constant("constant", "disparity") == 0).all()
    assert (constant("constant", "flow", disparity_range=(10, 40)) == 0).all()
    with pytest.raises(Misuse, match="constant:value=2"):
        constant("constant", "depth")


def test_the_size_is_that_of_a_picture():
    wide = np.zeros((4, 9), np.uint8)
    assert constant("constant", "disparity", left_image=wide).shape == (4, 9)
    assert constant("constant", "disparity", other_image=wide).shape == (3, 5)
    only = Inputs({"view_7_image": wide, "quantity": "flow", "sample": "a"})
    assert find_method("constant").estimate(only, "flow").values.shape == (4, 9, 2)
    with pytest.raises(Unavailable, match="none among the inputs: quantity, sample"):
        find_method("constant").estimate(Inputs({"quantity": "flow", "sample": "a"}), "flow")


class Finder:
    """As the engine gives one."""

    def __init__(self, quantity: str = "disparity") -> None:
        self.quantity = quantity

    def read(self, root: Path, name: str | None, pattern: str | None = None) -> Estimate:
        path = root / f"a{name or ''}.npy"
        if not path.exists():
            raise BadData(f"{root}: no estimate of sample 'a'; looked for {path.name}.")
        values = io.read_map(path, quantity=self.quantity)
        return Estimate(values, self.quantity, extras={"path": str(path)})


def test_a_folder_reads_what_the_finder_finds(tmp_path, monkeypatch):
    values = np.arange(15, dtype=np.float32).reshape(3, 5)
    (tmp_path / "runs/mine").mkdir(parents=True)
    io.write_map(tmp_path / "runs/mine/a.npy", values)
    monkeypatch.chdir(tmp_path)
    method = find_method("folder:runs/mine")
    monkeypatch.chdir("/")  # the path was made absolute
    assert (method.label, method.spec.keeps) == ("mine", False)
    inputs = Inputs({"finder": Finder(), "quantity": "disparity"})
    estimate = method.estimate(inputs, "disparity")
    assert np.array_equal(estimate.values, values)
    assert estimate.extras == {"path": str(tmp_path / "runs/mine/a.npy")}
    with pytest.raises(BadFile, match=r"flow is a map \(H, W, 2\)"):
        method.estimate(Inputs({"finder": Finder("flow"), "quantity": "flow"}), "flow")


def test_a_folder_with_a_name(tmp_path):
    io.write_map(tmp_path / "a-sgm.npy", np.ones((3, 5), np.float32))
    (tmp_path / "m.toml").write_text("method = 'folder'\n[options]\npath = '.'\nname = '-sgm'")
    inputs = Inputs({"finder": Finder(), "quantity": "disparity"})
    assert find_method(tmp_path / "m.toml").estimate(inputs, "disparity").values.all()
    with pytest.raises(BadData, match=r"looked for a\.npy"):
        find_method(f"folder:{tmp_path}").estimate(inputs, "disparity")


def test_a_folder_is_named_by_itself(tmp_path, monkeypatch):
    (tmp_path / "here/there").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    texts = ("folder:.", "folder:there/", "folder:there/../../here", "folder:a=b:c")
    assert [find_method(text).label for text in texts] == ["here", "there", "here", "a=b:c"]
