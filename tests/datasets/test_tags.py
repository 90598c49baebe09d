"""Files of tags: what they say, and what is wrong with them."""

import pytest

from depthgauge.datasets.tags import HAZARDS, find_tags, read_tags
from depthgauge.errors import BadFile
from depthgauge.regions import REGIONS

CSV = "sample,weather,hazards\na,rain,glare; fog\nb,sun,\n\nc,,fog\n"
TOML = """
[samples.a]
weather = "rain"
hazards = ["glare", "fog"]
[samples.b]
weather = "sun"
[samples.c]
hazards = "fog"
[regions]
dark = "~saturation:1"
"""


@pytest.mark.parametrize(("name", "text"), [("tags.csv", CSV), ("tags.toml", TOML)])
def test_both_formats_say_the_same(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert find_tags(tmp_path) == tmp_path / name
    tags = read_tags(tmp_path)
    assert tags.kinds == ("weather", "hazards")
    samples = ["a", "b", "c", "d"]
    assert tags.strata("weather", samples) == {
        "rain": ("a",),
        "sun": ("b",),
        "(none)": ("c", "d"),
    }
    assert tags.strata("hazards", samples) == {
        "fog": ("a", "c"),
        "glare": ("a",),
        "(none)": ("b", "d"),
    }
    assert tags.check(samples) == ()
    (said,) = tags.check(["a", "b", "cc"])
    assert "no sample is called c" in said


def test_regions_are_expressions(tmp_path):
    (tmp_path / "tags.toml").write_text(TOML)
    assert read_tags(tmp_path / "tags.toml").regions == {"dark": "~saturation:1"}


def test_hazards_of_pixels_are_registered_regions():
    assert read_tags("hazards").regions == HAZARDS
    assert {text.partition(":")[0] for text in HAZARDS.values()} <= set(REGIONS)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.csv", "id,weather\na,sun\n", "the first line must be 'sample,'"),
        ("t.csv", "sample\na\n", "the first line must be 'sample,'"),
        ("t.csv", "", "the first line must be 'sample,'"),
        ("t.csv", "sample,x,x\na,1,2\n", "must have different names"),
        ("t.csv", "sample,x\na,1,2\n", "row 2 has 3 cells"),
        ("t.csv", "sample,x\na,1\na,2\n", "row 3: 'a' is empty or there twice"),
        ("t.toml", "[weather]\na = 1\n", r"has \[weather\], but only"),
        ("t.toml", "samples = 3\n", "expected a table"),
        ("t.toml", "[samples.a]\nx = 3\n", "must be words or lists of words"),
        ("t.toml", "[regions]\na = 1\n", "must be an expression in quotes"),
        ("t.json", "{}", "tags are in a .csv or a .toml file"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(BadFile, match=said):
        read_tags(tmp_path / name)


def test_a_folder_without_tags(tmp_path):
    assert find_tags(tmp_path) is None
    with pytest.raises(BadFile, match=r"has no tags.toml or tags.csv"):
        read_tags(tmp_path)
