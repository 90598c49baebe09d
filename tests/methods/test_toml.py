"""Methods in TOML files."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from depthgauge.errors import BadFile, Misuse
from depthgauge.methods import find_method, find_methods
from depthgauge.types import Inputs


@pytest.fixture
def toml(tmp_path):
    """Writes a method file."""

    def write(text: str, name: str = "mine.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_method_with_options(toml):
    path = toml("method = 'sgbm'\n[options]\nblock_size = 7\nmode = 'hh'")
    method = find_method(str(path))
    assert (method.label, method.source) == ("mine", str(path))
    assert (method.options.block_size, method.options.mode) == (7, "hh")
    assert method.options_hash == find_method("sgbm:mode=hh,block_size=7").options_hash
    assert method.spec.quantities == ("disparity",)


def test_labels(toml):
    path = toml("method = 'sgbm'\nlabel = 'ours'")
    assert find_method(path).label == "ours"
    assert find_method(f"theirs={path}").label == "theirs"
    assert find_method(path, "whose").label == "whose"
    assert len(find_methods([path, "ours=sgbm"])) == 1
    with pytest.raises(Misuse, match="starts with"):
        find_method(toml("method = 'sgbm'\nlabel = '..'"))


def test_quantities_narrow_a_method(toml):
    method = find_method(toml("method = 'constant'\nquantities = ['flow']"))
    inputs = Inputs({"image": np.zeros((2, 2), np.uint8), "quantity": "depth"})
    with pytest.raises(Misuse, match="method 'mine' estimates flow, but depth is wanted"):
        method.estimate(inputs, "depth")


def test_a_python_file_beside_it(toml, tmp_path):
    (tmp_path / "net.py").write_text("def estimate(inputs): return inputs.image * 2.0")
    method = find_method(toml("method = 'net.py'\nlabel = 'twice'"))
    values = method.estimate(Inputs({"image": np.ones((2, 2))}), "depth").values
    assert (method.label, values.tolist()) == ("twice", [[2, 2], [2, 2]])


def test_a_command_runs_in_the_folder_of_its_file(toml, tmp_path, monkeypatch):
    (tmp_path / "infer.py").write_text(
        "import sys, numpy as np\nnp.save(sys.argv[1], np.full((2, 3), 4.0))"
    )
    path = toml(f"command = '{sys.executable} infer.py {{out}}'\n[options]\ntime_limit_s = 60")
    monkeypatch.chdir("/")
    method = find_method(path)
    assert method.label == "mine"
    assert method.described()["folder"] == str(tmp_path)
    assert (method.estimate(Inputs({"quantity": "depth"}), "depth").values == 4).all()
    by_text = find_method(f"command:{sys.executable} infer.py {{out}}")
    assert by_text.options_hash == method.options_hash  # neither folder nor limit count


MISTAKES = [
    ("", "method, command: exactly one of the two is needed, neither is given"),
    (
        "method = 'sgbm'\ncommand = 'x {out}'",
        "method, command: exactly one of the two is needed, both are given",
    ),
    ("method = 'sgmb'", "method: no method 'sgmb'. Did you mean 'sgbm'?"),
    ("method = 'no.py'", "no.py: cannot be read"),
    ("method = 3", "method: is 3 but must be a text"),
    ("method = 'sgbm'\nlabel = 3", "label: is 3 but must be a text"),
    ("method = 'sgbm'\nlable = 'x'", "lable: is not a key (Did you mean 'label'?)"),
    ("method = 'sgbm'\noptions = 3", "options: is 3 but must be a table: [options]"),
    ("method = 'sgbm'\nquantities = 'flow'", "quantities: is 'flow' but must be a list"),
    ("method = 'sgbm'\nquantities = ['flwo']", "'flwo' is not a quantity (Did you mean 'flow'?)"),
    ("command = 'x {lef} {out}'", "command: has an unknown {lef}. Did you mean 'left'?"),
    ("command = 3", "command: is 3 but must be a text"),
    ("command = 'x {out}'\n[options]\ntemplate = 'y {out}'", "options.template: is already given"),
    ("method = 'sgbm'\n[options]\nblock_size = true", "options.block_size: is true but must be"),
    ("method = ", "is not TOML"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_mistakes(text, message, toml):
    path = toml(text)
    with pytest.raises(BadFile) as caught:
        find_method(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_all_mistakes_are_named_at_once(toml):
    text = (
        "method = 'sgbm'\nlable = 'x'\nquantities = ['flwo']\n"
        "[options]\nblok_size = 5\nblock_size = 4\nmode = 'x'"
    )
    path = toml(text)
    with pytest.raises(BadFile) as caught:
        find_method(path)
    assert str(caught.value) == (
        f"{path}: lable: is not a key (Did you mean 'label'?); "
        "quantities: 'flwo' is not a quantity (Did you mean 'flow'?); "
        "options.block_size: is 4 but must be odd; "
        "options.mode: is 'x' but must be 'sgbm', 'hh', '3way' or 'hh4'; "
        "options.blok_size: is not an option of 'sgbm' (Did you mean 'block_size'?)."
    )
