"""Which quantity is drawn how, and drawings that other packages bring."""

import itertools
from importlib.metadata import EntryPoint, EntryPoints

import cv2
import numpy as np
import pytest
from tests.report.views import protocol_of

from depthgauge._registry import GROUP, PluginWarning, Registry
from depthgauge.analysis.comparable import has_pixel_errors, has_value_errors, is_up_to_scale
from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.errors import BadDeclaration
from depthgauge.quantities import QUANTITIES, Part, Quantity, _quantity
from depthgauge.report.pictures import drawing
from depthgauge.report.pictures.colour_bar import colour_bar
from depthgauge.report.pictures.drawing import DRAWINGS, Drawing, drawing_of

COUNT = itertools.count()
RGB = ("y", "x", "c")


def decoded(picture):
    return cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]


def test_every_quantity_of_ours_has_a_file():
    assert list(DRAWINGS) == list(QUANTITIES)
    for name, found in DRAWINGS.items():
        assert found.spec.quantity == name
        assert found.draw.__module__ == f"depthgauge.report.pictures.quantities.{name}"


@pytest.mark.parametrize("quantity", ["normals", "boundaries", "planes"])
def test_what_is_no_plain_map_is_explained(quantity):
    spec = drawing_of(quantity).spec
    assert spec.about.endswith(".")
    assert spec.meaning.endswith(".")
    assert not has_value_errors(protocol_of(quantity))
    assert has_pixel_errors(protocol_of(quantity)) == (quantity == "normals")


def test_depth_is_explained_where_it_is_known_up_to_a_scale():
    assert is_up_to_scale(protocol_of("depth"))
    assert drawing_of("depth").spec.about_up_to_scale.endswith(".")
    scores = [{"metric": "mae", "region": ""}, {"metric": "wkdr", "region": ""}]
    metric = protocol_of("depth", scores=scores)
    assert not is_up_to_scale(metric)
    assert has_value_errors(metric)
    assert not drawing_of("depth").spec.about


# --- quantities without a file ----------------------------------------------------------------


@pytest.fixture
def declare(monkeypatch):
    """Adds a quantity as a package of one's own would."""

    def declared(name, channels, error="channels"):
        part = Part(name, axes=RGB if channels > 1 else RGB[:2], channels=channels)
        spec = Quantity(name=name, about="A test.", unit="lx", parts=(part,), error=error)
        monkeypatch.setitem(QUANTITIES._things, name, spec)

    assert _quantity.QUANTITIES is QUANTITIES
    return declared


def drawn(quantity, truth, **estimates):
    errors = {
        label: np.abs(values - truth).reshape(*truth.shape[:2], -1).mean(axis=-1)
        for label, values in estimates.items()
    }
    sample = SampleMaps("s", quantity, truth, estimates=estimates, errors=errors)
    return drawing_of(quantity).draw(sample)


def test_three_channels_are_a_picture_and_no_flow(declare):
    declare("albedo", 3)
    truth = np.zeros((8, 9, 3), np.float32)
    truth[..., 0], truth[:4] = 1.0, (0.5, 0.5, 0.5)
    estimate = truth.copy()
    estimate[0, 0] = np.nan
    group = drawn("albedo", truth, mine=estimate)
    assert group.truth.bar.colours == "rgb"
    assert (group.truth.bar.low, group.truth.bar.high, group.truth.bar.unit) == (0, 1, "lx")
    picture = decoded(group.truth).astype(int)
    assert np.abs(picture[6, 4] - (255, 0, 0)).max() < 40  # encoded with a little loss
    assert np.abs(picture[1, 6] - 128).max() < 40
    assert group.methods[0].estimate.bar.missing
    assert group.methods[0].error.caption == "absolute error"
    text = str(colour_bar(group.truth.bar, "key"))
    assert "red, green and blue" in text
    assert "direction of motion" not in text


def test_one_channel_is_drawn_in_colours_of_its_values(declare):
    declare("roughness", 1, error="difference")
    values = np.linspace(0, 1, 72, dtype=np.float32).reshape(8, 9)
    group = drawn("roughness", values, mine=values)
    assert group.truth.bar.colours == "viridis"
    assert not [row for row in group.rows if row.title.startswith("Channel")]


def test_other_numbers_of_channels_are_drawn_one_by_one(declare):
    declare("spectrum", 4)
    values = np.linspace(0, 1, 8 * 9 * 4, dtype=np.float32).reshape(8, 9, 4)
    group = drawn("spectrum", values, mine=values)
    rows = [row for row in group.rows if row.title.startswith("Channel")]
    assert [row.title for row in rows] == ["Channel 1", "Channel 2", "Channel 3", "Channel 4"]
    assert all(list(row.pictures) == ["the truth", "mine"] for row in rows)


# --- drawings from outside ---------------------------------------------------------------------

OUTSIDE = """
from depthgauge.quantities import Part, Quantity
from depthgauge.report.pictures.drawing import Drawing

SPEC = Quantity(
    name="shade", about="How dark it is.", unit="", error="difference", parts=(Part("shade"),)
)
DRAWING = Drawing("shade", about="Dark is dark.", wrong_above=0.2)


def draw(sample):
    from depthgauge.report.pictures.encode import value_bar
    from depthgauge.report.pictures.layout import draw_maps

    return draw_maps(sample, lambda values, unit: value_bar(values, unit, "magma"))
"""


@pytest.fixture
def join(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def joined(text):
        name = f"gauge_drawing_{next(COUNT)}"
        (tmp_path / f"{name}.py").write_text(text)
        points = EntryPoints([EntryPoint(name, name, GROUP)])
        monkeypatch.setattr("depthgauge._registry._plug_ins", lambda: points)
        place = "depthgauge.report.pictures.quantities"
        fresh = Registry("drawing", place, collect=drawing._collect)
        monkeypatch.setattr(drawing, "DRAWINGS", fresh)
        return fresh

    return joined


def test_a_quantity_of_another_package_brings_its_own_drawing(join, declare):
    join(OUTSIDE)
    declare("shade", 1, error="difference")
    assert drawing_of("shade").spec.about == "Dark is dark."
    values = np.linspace(0, 1, 72, dtype=np.float32).reshape(8, 9)
    assert drawn("shade", values, mine=values).truth.bar.colours == "magma"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("def draw(sample)", "def paint(sample)"), "a drawing needs a function draw"),
        (("def draw(sample)", "def draw(sample, image)"), "a drawing needs a function draw"),
        (("wrong_above=0.2", "wrong_above=0"), "wrong_above is 0 but must be above 0"),
        (('Drawing("shade"', 'Drawing("flow"'), "'flow' is defined in"),
    ],
)
def test_a_wrong_drawing_is_named_and_the_others_work(join, change, said):
    registry = join(OUTSIDE.replace(*change))
    with pytest.warns(PluginWarning, match=said):
        list(registry)
    assert set(QUANTITIES) <= set(registry)


def test_a_threshold_is_above_zero():
    with pytest.raises(BadDeclaration, match="wrong_above is nan"):
        Drawing("depth", wrong_above=float("nan"))
