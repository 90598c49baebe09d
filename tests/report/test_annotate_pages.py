"""Pages of annotations: charts that say what they show, in words too, and open in a browser."""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from depthgauge.annotate.quality.agreement import AgreementTable, Mean, PairRow
from depthgauge.annotate.quality.statistics import RINGS, RegionFacts, histogram, statistics
from depthgauge.report.annotate.agreement_page import (
    agreement_rows,
    show_mean,
    write_agreement_page,
)
from depthgauge.report.annotate.charts import bar_chart, mean_dots, normal_disc, share_bars
from depthgauge.report.annotate.statistics_page import statistics_rows, write_statistics_page

from .page.test_browser import opened

NAN = math.nan
HOSTILE = '<script>alert("x")</script>'


def parsed(markup):
    text = str(markup)
    assert "nan" not in re.sub(r"<(title|desc|text).*?</\1>", "", text)
    return ET.fromstring(text)


def of(root, kind):
    return [e for e in root.iter() if kind in (e.get("class") or "").split()]


def some_facts(n=12):
    rng = np.random.default_rng(0)
    for i in range(n):
        counts = rng.poisson(2, 3)
        yield RegionFacts(
            id=str(i),
            focal_ratio=float(rng.uniform(0.6, 4)),
            surfaces={
                "continuous": 1 + int(counts[0]),
                "smooth": 1 + int(counts.sum()),
                "planar": int(counts[1]),
                "curved": int(counts[2]),
            },
            has_occlusion=bool(i % 5),
            has_fold=bool(i % 2),
            normals=rng.poisson(30, RINGS**2),
            strokes=int(rng.poisson(14)),
            seconds=float(rng.gamma(4, 76)),
            source=HOSTILE if i % 3 else "crowd",
        )


def some_rows():
    for sample in ("one", HOSTILE):
        for comparison, moving, fixed in (
            ("human-human", "anna", "ben"),
            ("human-sensor", "anna", "sensor"),
            ("method-sensor", "net", "sensor"),
        ):
            rotated = NAN if moving == "net" else 0.03
            values = (0.078, 0.12, 0.079, NAN, rotated, 9.0, 13.1 + len(sample) / 10, 5.7)
            yield PairRow(sample, comparison, moving, fixed, 1000, *values)


def test_bars_are_as_high_as_their_shares():
    root = parsed(bar_chart(histogram([1, 1, 1, 6], (0.0, 5.0, 10.0)), "t", "x", "c"))
    first, second = (float(bar.get("height")) for bar in of(root, "bar"))
    assert first == pytest.approx(3 * second, rel=0.01)
    assert root.find("{*}desc").text == "mean 2.25, median 1; 4 images"
    nothing = parsed(bar_chart(histogram([], (0.0, 5.0, 10.0)), "t", "x", "c"))
    assert of(nothing, "bar") == []


def test_shares_fill_the_bar():
    root = parsed(share_bars({"row": {"a": 1, "b": 3, "c": 0}}, "t", "c"))
    widths = [float(bar.get("width")) for bar in of(root, "bar") if float(bar.get("height")) > 20]
    assert len(widths) == 2
    assert (widths[1] + 1) / (widths[0] + 1) == pytest.approx(3, rel=0.01)
    assert "a 25.0\u00a0%, b 75.0\u00a0%, c 0.0\u00a0%" in root.find("{*}desc").text


def test_the_disc_has_a_cell_for_every_direction():
    counts = [0] * 9
    counts[0], counts[1] = 4, 1
    root = parsed(normal_disc(counts, 3, "t", "c"))
    cells = [e for e in of(root, "bar") if e.tag.endswith("path")]
    inks = [float(cell.get("fill-opacity")) for cell in cells]
    assert inks == [1.0, 0.5, *[0.0] * 7]
    assert "80\u00a0% within 27\u00b0" in root.find("{*}desc").text
    assert parsed(normal_disc([0] * 9, 3, "t", "c")).find("{*}desc").text == "no normals"


def test_cells_of_the_disc_are_equally_large():
    root = parsed(normal_disc([1] * 16, 4, "t", "c"))
    cells = [e.get("d") for e in of(root, "bar") if e.tag.endswith("path")]
    areas = []
    for cell in cells[1:]:
        ax, ay, bx, by = map(float, re.findall(r"-?\d+(?:\.\d+)?", cell)[:4])
        inner, outer = math.hypot(ax - 130, ay - 146), math.hypot(bx - 130, by - 146)
        ring = round(inner / (104 / 4))
        areas.append((outer**2 - inner**2) / (2 * ring + 1))
    assert areas == pytest.approx([areas[0]] * len(areas), rel=0.01)
    assert areas[0] == pytest.approx((104 / 4) ** 2, rel=0.01)


def test_dots_have_their_errors():
    means = {"a": Mean(2.0, 0.5, 4, 2), "b": Mean(1.0, NAN, 1, 1), "c": Mean(NAN, NAN, 0, 0)}
    root = parsed(mean_dots({"group": means}, "t", "m", "c"))
    assert len(of(root, "interval")) == 1
    assert len(of(root, "mark")) == 2
    assert [e.text for e in of(root, "number")] == ["2", "1", "-"]


@pytest.mark.parametrize(
    ("mean", "text"),
    [
        (Mean(0.2561, 0.01747, 9, 2), "0.256 \u00b1 0.017"),
        (Mean(15.55, 4.69, 9, 2), "15.6 \u00b1 4.7"),
        (Mean(155.5, 46.9, 9, 2), "156 \u00b1 47"),
        (Mean(0.5, 0.0, 9, 2), "0.5"),
        (Mean(NAN, NAN, 0, 0), "-"),
    ],
)
def test_two_digits_of_an_error_count(mean, text):
    assert show_mean(mean) == text


def test_the_table_has_a_line_a_measure():
    columns, rows = agreement_rows(AgreementTable(tuple(some_rows()), "m", 2.5, 0.7))
    assert [name for name, _ in columns][2:] == ["human-human", "human-sensor", "method-sensor"]
    assert all(len(row) == len(columns) for row in rows)
    assert rows[0][:3] == ["EDist, a scale for each surface", "m", "0.078"]
    assert rows[4][-1] == "-"
    assert rows[-1][2:] == ["2", "2", "2"]


def test_figures_as_text():
    rows = dict(map(tuple, statistics_rows(statistics(some_facts()))))
    assert rows["images"] == "12"
    assert rows["source, crowd"] == "33.3 %"


@pytest.fixture(params=["statistics", "agreement"])
def page(request, tmp_path):
    path = tmp_path / "new" / "index.html"
    if request.param == "statistics":
        return write_statistics_page(path, statistics(some_facts()), f"About {HOSTILE}")
    table = AgreementTable(tuple(some_rows()), "m", 2.5, 0.7)
    return write_agreement_page(path, table, f"About {HOSTILE}")


def test_pages_are_the_same_every_time_and_harmless(page):
    text = page.read_text()
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_pages_open_everywhere(chromium, page, scheme, width):
    shown, trouble = opened(chromium, page, scheme=scheme, width=width)
    assert shown.locator("h2").count() >= 2
    assert shown.locator("svg.chart").count() >= 4
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert trouble == []
    shown.context.close()
