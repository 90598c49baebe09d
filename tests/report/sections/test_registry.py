"""Sections that other packages bring, and what is refused."""

import itertools
import warnings
from importlib.metadata import EntryPoint, EntryPoints

import pytest
from tests.report.page.test_html import Reader

from depthgauge._registry import GROUP, PluginWarning, Registry
from depthgauge.errors import BadDeclaration
from depthgauge.report.page.html import render_report
from depthgauge.report.sections import SectionSpec, _section, ordered_sections

COUNT = itertools.count()
OUTSIDE = '''
"""How long every method took, for people who wait."""

from markupsafe import Markup

from depthgauge.report.sections import SectionSpec

SPEC = SectionSpec("patience", "Who waits for {main}?", "Patience", order=25)


def body(page):
    if all(row.time_s != row.time_s for row in page.board.rows):
        return None
    rows = [(row.label, row.time_s) for row in page.board.rows if row.time_s == row.time_s]
    items = Markup().join(Markup("<li>{}: {} s</li>").format(*row) for row in rows)
    return Markup("<ul>{}</ul>").format(items)
'''


@pytest.fixture
def join(tmp_path, monkeypatch):
    """The registry of sections as it is when other packages are installed."""
    monkeypatch.syspath_prepend(tmp_path)

    def joined(text):
        # A module is imported once in a process, so each test has one of its own.
        name = f"gauge_section_{next(COUNT)}"
        (tmp_path / f"{name}.py").write_text(text)
        points = [EntryPoint(name, name, GROUP)]
        monkeypatch.setattr("depthgauge._registry._plug_ins", lambda: EntryPoints(points))
        fresh = Registry("section", "depthgauge.report.sections", collect=_section._collect)
        monkeypatch.setattr(_section, "SECTIONS", fresh)
        return fresh

    return joined


def test_a_section_of_another_package_is_in_the_page(join, page):
    join(OUTSIDE)
    reader = Reader(render_report(page))
    ids = [section["id"] for section in reader.all("section")]
    assert ids[:3] == ["leaderboard", "patience", "certainty"]
    assert "Who waits for badpix:2@all?" in reader.texts
    assert "a: 0.5 s" in reader.texts


def test_a_section_with_nothing_to_show_is_left_out(join, page):
    join(OUTSIDE.replace("if all(", "if any("))
    assert 'id="patience"' not in render_report(page)


def test_what_a_plug_in_returns_as_plain_text_is_escaped(join, page):
    plain = OUTSIDE[: OUTSIDE.index("def body")] + "def body(page):\n    return '<b>bold</b>'\n"
    join(plain)
    assert "&lt;b&gt;bold&lt;/b&gt;" in render_report(page)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("def body(page)", "def text(page)"), "a section needs a function body"),
        (("def body(page)", "def body(page, board)"), "a section needs a function body"),
        (('"patience"', '"Patience!"'), "lower-case letters, digits and -"),
        (('"patience"', '"leaderboard"'), "'leaderboard' is defined in"),
        (("order=25", "order=float('nan')"), "order is nan but must be a finite number"),
        (('"Patience"', '""'), "title and link must not be empty"),
    ],
)
def test_a_wrong_section_is_named_and_the_page_is_made_without_it(join, page, change, said):
    registry = join(OUTSIDE.replace(*change))
    with pytest.warns(PluginWarning, match=said) as found:
        list(registry)
    assert "gauge_section_" in str(found[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 'id="leaderboard"' in render_report(page)


def test_ours_are_in_a_fixed_order():
    assert [each.spec.name for each in ordered_sections()] == [
        "leaderboard",
        "views",
        "layers",
        "examples",
        "certainty",
        "strengths",
        "profiles",
        "regions",
        "degradation",
        "difficulty",
        "strata",
        "precision-recall",
        "curves",
        "settings",
        "confidence",
        "stability",
        "samples",
        "pictures",
        "scatter",
        "how",
        "failures",
        "provenance",
    ]


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(BadDeclaration, match=r"lower-case letters.*; title.*; order"):
        SectionSpec("A b", "", "", order=float("inf"))
