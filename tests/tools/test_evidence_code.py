"""Which changes of the code make a record stale, and which do not."""

import json

import pytest
from tools.evidence import Figure, Number, _code, _sources

KERNEL = '''"""How errors are summed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from depthgauge.io import maps

LIMIT_PX = 3.0
"""Larger errors are bad."""


@dataclass(frozen=True)
class Options:
    """What may be chosen."""

    radius_px: int = 2
    """Of the window."""
    border: float | None = None


def bad(errors: np.ndarray, limit: float = LIMIT_PX) -> float:
    """The share of bad pixels."""
    from depthgauge.io import npy

    if errors.size == 0:
        raise ValueError(f"errors: {errors.shape} has no pixels; give at least one.", errors.size)
    values = maps.read_map(npy.read(errors))  # as they are
    return 100.0 * float(np.mean(~(values <= limit)))
'''
OTHER = """\
from depthgauge.kernel import bad

WEIGHT = 0.5


def total(errors):
    return WEIGHT * bad(errors)
"""
MAPS = "def read_map(values):\n    return values\n"


class House:
    """A repository of four modules and a figure of two of them."""

    def __init__(self, root, monkeypatch):
        self.root = root
        self.figure = Figure(
            "share",
            "nothing",
            ("depthgauge.kernel", "depthgauge.other", "data/limits.toml"),
            (),
            lambda: [Number("share", 1.0)],
            "",
        )
        for name, text in {
            "src/depthgauge/__init__.py": "",
            "src/depthgauge/kernel.py": KERNEL,
            "src/depthgauge/other.py": OTHER,
            "src/depthgauge/io/__init__.py": "",
            "src/depthgauge/io/maps.py": MAPS,
            "src/depthgauge/io/npy.py": "def read(values):\n    return values\n",
            "tools/__init__.py": "",
            "data/limits.toml": "# metres\nmost = 3\n",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        monkeypatch.setattr(_code, "REPOSITORY", root)
        self.record()

    def record(self):
        self._forget()
        self.figure.record(self.root)

    def _forget(self):
        _code.files_of.cache_clear()
        _code.code_of.cache_clear()

    def edit(self, module, *pairs):
        path = self.root / "src" / "depthgauge" / f"{module}.py"
        text = path.read_text()
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        path.write_text(text)

    def move(self, old, new):
        place = self.root / "src" / "depthgauge"
        (place / new).parent.mkdir(exist_ok=True)
        (place / f"{old}.py").rename(place / f"{new}.py")

    def changes(self, *sources):
        self._forget()
        names = sources or self.figure.sources
        figure = Figure(**{**vars(self.figure), "sources": names})
        return figure.changes(self.root)


@pytest.fixture
def house(tmp_path, monkeypatch):
    yield House(tmp_path, monkeypatch)
    _code.files_of.cache_clear()
    _code.code_of.cache_clear()


FREE = {
    "module's docstring": ("How errors are summed.", "Sums of errors."),
    "docstring of a constant": ("Larger errors are bad.", "Errors above it are bad."),
    "docstring of a function": ("The share of bad pixels.", "Share of the pixels that are bad."),
    "docstring of a field": ("Of the window.", "Half of the window."),
    "comment": ("  # as they are", ""),
    "raised message": ("has no pixels; give at least one.", "must have a pixel."),
    "raised message without a value": (
        'f"errors: {errors.shape} has no pixels; give at least one."',
        '"No pixels."',
    ),
    "annotations of arguments": ("errors: np.ndarray, limit: float", "errors, limit"),
    "annotation of a field": ("float | None = None", "int | None = None"),
    "annotation of a constant": ("LIMIT_PX = 3.0", "LIMIT_PX: float = 3.0"),
    "one more import": ("import numpy as np\n", "import numpy as np\nfrom typing import Any\n"),
    "alias of an import": ("import maps\n", "import maps as reading\n"),
    "name of a type": ("LIMIT_PX = 3.0", "Map = tuple[int, int]\nLIMIT_PX = 3.0"),
    "one more definition": ("LIMIT_PX = 3.0", "NEW = 7\nLIMIT_PX = 3.0"),
    "empty lines": ("\n\n\ndef bad", "\n\n\n\ndef bad"),
}
STALE = {
    "constant": (("LIMIT_PX = 3.0", "LIMIT_PX = 3.5"), "LIMIT_PX"),
    "type of a constant": (("LIMIT_PX = 3.0", "LIMIT_PX = 3"), "LIMIT_PX"),
    "default of a field": (("radius_px: int = 2", "radius_px: int = 3"), "Options"),
    "name of a field": (("radius_px", "radius"), "Options"),
    "lost field": (("    border: float | None = None\n", ""), "Options"),
    "decorator": (("frozen=True", "frozen=False"), "Options"),
    "comparison": (("values <= limit", "values < limit"), "bad"),
    "factor": (("100.0 *", "10.0 *"), "bad"),
    "number in a raised message": (("errors.size)\n    v", "1)\n    v"), "bad"),
    "condition of a message": (("errors.size == 0", "errors.size == 1"), "bad"),
    "default of an argument": (("limit: float = LIMIT_PX", "limit: float = 1.0"), "bad"),
    "lost definition": (('LIMIT_PX = 3.0\n"""Larger errors are bad."""\n', ""), "LIMIT_PX"),
}


@pytest.mark.parametrize("pair", FREE.values(), ids=FREE)
def test_words_annotations_and_imports_leave_a_record_fresh(house, pair):
    house.edit("kernel", pair)
    if pair[1].endswith("as reading\n"):
        house.edit("kernel", ("maps.read_map", "reading.read_map"))
    assert house.changes() == []


@pytest.mark.parametrize(("pair", "name"), STALE.values(), ids=STALE)
def test_changed_code_makes_a_record_stale(house, pair, name):
    house.edit("kernel", pair)
    assert house.changes() == [name]


def test_a_moved_and_renamed_module_leaves_a_record_fresh(house):
    house.move("kernel", "sums/_pixels")
    house.edit("other", ("depthgauge.kernel", "depthgauge.sums._pixels"))
    assert house.changes("depthgauge.sums._pixels", "depthgauge.other", "data/limits.toml") == []
    # Even before the list of sources names the new place of what moved.
    assert house.changes("depthgauge.other", "data/limits.toml") == []


def test_a_module_merged_into_its_importer_leaves_a_record_fresh(house):
    kernel = house.root / "src" / "depthgauge" / "kernel.py"
    house.edit("other", ("from depthgauge.kernel import bad\n", kernel.read_text()))
    kernel.unlink()
    assert house.changes("depthgauge.other", "data/limits.toml") == []


def test_a_thing_reached_through_its_module_or_by_its_own_name_is_the_same(house):
    house.edit(
        "kernel", ("import maps\n", "import maps\nfrom depthgauge.io.maps import read_map\n")
    )
    house.edit("kernel", ("maps.read_map(", "read_map("))
    assert house.changes() == []


def test_a_moved_constant_that_was_also_changed_is_found(house):
    house.edit("kernel", ("LIMIT_PX = 3.0", "LIMIT_PX = 3.5"))
    house.move("kernel", "sums")
    assert house.changes("depthgauge.other", "data/limits.toml") == ["LIMIT_PX"]


def test_an_equal_constant_elsewhere_does_not_hide_a_changed_one(house):
    (house.root / "src" / "depthgauge" / "io" / "maps.py").write_text(MAPS + "LIMIT_PX = 3.0\n")
    house.edit("kernel", ("LIMIT_PX = 3.0", "LIMIT_PX = 3.5"))
    assert house.changes() == ["LIMIT_PX"]


def test_data_counts_by_its_values(house):
    data = house.root / "data" / "limits.toml"
    data.write_text("most = 3   # m\n")
    assert house.changes() == []
    data.write_text("most = 4\n")
    assert house.changes() == [_code.DATA]


def test_names_of_our_modules_in_strings_do_not_count(house):
    house.edit("other", ("WEIGHT = 0.5", 'WEIGHT = "depthgauge.kernel:bad"'))
    house.record()
    house.edit("other", ("depthgauge.kernel:bad", "depthgauge.sums._pixels:bad"))
    assert house.changes() == []
    house.edit("other", (":bad", ":worse"))
    assert house.changes() == ["WEIGHT"]


def test_a_source_that_does_not_exist_is_named(house):
    house.move("kernel", "sums")
    expected = r"lists depthgauge\.kernel, which does not exist\. .* now in depthgauge\.sums\."
    with pytest.raises(_sources.SourceMissing, match=expected):
        house.changes()


def test_sources_can_be_left_out_of_a_package(house):
    names = ("depthgauge", "!depthgauge.io.npy", "!depthgauge.other")
    found = _sources.code_by_file(names)
    assert set(found) == {"depthgauge", "depthgauge.io", "depthgauge.io.maps", "depthgauge.kernel"}


def test_a_module_that_is_left_out_later_does_not_count_in_an_older_record(house):
    sources = ("depthgauge.kernel", "depthgauge.other", "data/limits.toml")
    house.edit("other", ("WEIGHT = 0.5", "WEIGHT = 0.6"))
    assert house.changes(*sources) == ["WEIGHT"]
    without = ("depthgauge.kernel", "depthgauge", "!depthgauge.other", "data/limits.toml")
    assert house.changes(*without) == []
    house.edit("kernel", ("LIMIT_PX = 3.0", "LIMIT_PX = 3.5"))
    assert house.changes(*without) == ["LIMIT_PX"]


def test_a_record_names_the_modules_of_its_code(house):
    code = json.loads((house.root / "share.json").read_text())["code"]
    assert list(code) == ["data/limits.toml", "depthgauge.kernel", "depthgauge.other"]
    assert [token.partition(":")[0] for token in code["depthgauge.other"].split()] == [
        "WEIGHT",
        "total",
    ]
