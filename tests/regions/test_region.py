"""The contract: what a decorated function declares, and how words become parameters."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from depthgauge.errors import BadScoreId, DuplicateName, UnknownName
from depthgauge.regions import REGIONS, region


def test_the_folder_is_the_registry():
    assert set(REGIONS) >= {
        "all",
        "border",
        "discontinuities",
        "far",
        "near",
        "occluded",
        "textured",
        "textureless",
        "visible",
    }


def test_declares_params_in_order_with_defaults():
    made = REGIONS["textureless"]
    assert list(made.params.items()) == [("window", 3), ("threshold", 4.0)]
    assert made.needs == ("left_image",)
    assert made.revision == 1
    assert made.doc.startswith("Pixels around which")


def test_every_region_is_documented():
    assert all(made.doc for made in REGIONS.values())


def test_binds_words_to_types():
    values = REGIONS["textureless"].bind(["5"])
    assert values == {"window": 5, "threshold": 4.0}
    assert type(values["window"]) is int
    assert REGIONS["textureless"].fill(["5"]) == ("5", "4")


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("textureless", ["3", "4", "5"], "takes only window, threshold"),
        ("all", ["3"], "takes no parameters"),
        ("textureless", ["2.5"], "window is a whole number, not '2.5'"),
        ("near", ["inf"], "limit is a number, not 'inf'"),
        ("near", ["close"], "limit is a number, not 'close'"),
        ("near", [], "needs its limit: near:<limit>"),
    ],
)
def test_wrong_params_are_refused(name, words, message):
    with pytest.raises(BadScoreId, match=message):
        REGIONS[name].bind(words)


def test_a_second_region_of_a_name_is_refused():
    with pytest.raises(DuplicateName, match=r"depthgauge\.regions\.everything"):
        region("all")(lambda truth: np.isfinite(truth))


def test_a_declaration_that_contradicts_the_signature_is_refused():
    with pytest.raises(TypeError, match="takes no keyword left_image"):
        region("never", needs=("left_image",))(lambda truth: truth)
    with pytest.raises(TypeError, match="must be an int, float or str"):
        region("never")(lambda truth, *, untyped=1: truth)
    assert "never" not in REGIONS


def test_unknown_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'textureless'"):
        REGIONS["texturless"]


def test_listing_loads_nothing_heavy():
    heavy = "{'numba', 'scipy', 'skimage', 'cv2'}"
    code = (
        f"import sys, depthgauge.regions as r; list(r.REGIONS); print({heavy} & {{*sys.modules}})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
