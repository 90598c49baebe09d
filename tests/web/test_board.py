"""The leaderboard in a browser: order, filter, columns, priorities, pictures, exports, views."""

import csv
import io
import math
import shutil
import subprocess

import pytest
from tools.gallery.board import METRICS, NAMES, board

from depthgauge.analysis.profiles._costs import make_scale
from depthgauge.report.sanitize import latex

# A browser takes seconds; pages of the site in a browser are among the fast tests.
pytestmark = pytest.mark.long


def labels(page):
    return page.locator("tbody.methods tr:not([hidden]) .label").all_text_contents()


def saved(page, button):
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return download.value.path().read_text("utf-8")


def column(score, by="metric", of="all scenes"):
    """label -> value of the ranked methods."""
    shown = board(by, of)
    place = [head["id"] for head in shown["heads"]].index(score)
    rows = shown["bodies"][0][1]
    return {row["label"]: float(row["cells"][place]["value"] or "nan") for row in rows}


def test_sorting_is_kept_in_the_address(opened):
    page = opened("/board")
    given = labels(page)
    page.get_by_role("button", name="density").click()
    density = column("density")
    assert labels(page) == sorted(density, key=density.get, reverse=True)
    page.get_by_role("button", name="rms@all").click()
    page.get_by_role("button", name="rms@all").click()
    assert labels(page)[-1] == "half-finished"  # no value: last, either way
    assert page.url.endswith("/board?sort=-rms@all")
    page.reload()
    page.wait_for_selector("th[data-sorted=worst]")
    assert labels(page)[0] == "bm"
    assert not page.locator("caption .order").is_visible()
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    assert sorted(labels(page)) == sorted(given)
    assert page.locator("tbody.oracles tr").count() == 2


def test_filter_and_columns(opened):
    page = opened("/board")
    page.get_by_role("searchbox").fill("SGBM")
    assert labels(page) == ["sgbm-tuned", "sgbm"]
    assert page.get_by_role("status").text_content() == "2 of 12 methods."
    page.get_by_label("baselines").uncheck()
    assert labels(page) == ["sgbm-tuned"]
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("checkbox", name="a90@all").uncheck()
    assert page.locator("thead th:visible").count() == len(METRICS) + 1
    assert page.locator("tbody.methods tr:visible td:visible").count() == len(METRICS)
    assert page.url.endswith("/board?q=SGBM&baselines=no&hide=a90@all")
    assert saved(page, "CSV").splitlines()[0].count(",") == len(METRICS)
    page.get_by_role("button", name="Show all").click()
    assert page.locator("thead th:visible").count() == len(METRICS) + 2
    page.get_by_role("searchbox").fill("team w,")  # what else is known of a row
    assert labels(page) == ["window-match-9"]


def test_priorities_cost_what_profiles_cost(opened):
    """The same costs as in `analysis.profiles`, whatever the direction and the unit."""
    weights = {"badpix:2@all": 2, "density": 3, "bias@all": 1, "rms@all": 5}
    query = "&".join(f"weight={name}*{weight}" for name, weight in weights.items())
    page = opened(f"/board?{query}")
    expected = dict.fromkeys(column("rms@all"), 0.0)
    for score, weight in weights.items():
        better, unit = METRICS[score]
        values = column(score)
        scale = make_scale(values, better, unit)
        for label, value in values.items():
            expected[label] += weight * scale.cost(value) / sum(weights.values())
    assert math.isnan(expected["half-finished"])
    ranked = {label: cost for label, cost in expected.items() if not math.isnan(cost)}
    assert labels(page) == [*sorted(ranked, key=ranked.get), "half-finished"]
    texts = page.locator("tbody.methods .cost").all_text_contents()
    shown = [f" cost {cost:.3f}" for cost in sorted(ranked.values())]
    assert texts == [*shown, " a score is missing"]
    assert page.locator(".tie:visible").count() == 0
    page.get_by_role("button", name="My priorities").click()
    assert page.get_by_role("slider", name="density").input_value() == "3"
    assert page.get_by_role("slider").count() == len(METRICS)  # words have no weight
    page.get_by_role("slider", name="runtime").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert "weight=runtime*5" in page.url
    page.get_by_role("button", name="Back to the benchmark's order").click()
    assert page.url.endswith("/board")
    assert labels(page)[0] == NAMES[0]
    assert page.locator("tbody.methods .rank").all_text_contents()[:2] == ["1", "2"]
    assert page.locator(".tie:visible").count() == 2


def test_exports_are_what_is_seen_and_harmless(opened):
    page = opened("/board?sort=rms@all")
    rows = list(csv.reader(io.StringIO(saved(page, "CSV"))))
    assert rows[0] == ["method", *METRICS, "team"]
    assert rows[1][-1] == "Team A, Ltd"
    assert [row[0] for row in rows[1:4]] == labels(page)[:3]
    values = column("rms@all")
    found = {row[0]: row[3] for row in rows[1:-1]}
    assert found["sgbm"] == repr(values["sgbm"])
    assert found["half-finished"] == ""
    assert "'=HYPERLINK(0)" in found
    assert "=HYPERLINK(0)" not in found
    text = saved(page, "LaTeX")
    for name in NAMES:
        assert latex(name) in text
    assert "sorted by rms@all, best first" in text
    assert r"\textit{best of all}" in text
    assert r"{[}px $\to$ 0]" in text
    assert r"\textbf{1.5}" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(opened, tmp_path):
    text = saved(opened("/board"), "LaTeX")
    head = r"\documentclass{article}\usepackage{booktabs}\begin{document}"
    (tmp_path / "t.tex").write_text(f"{head}{text}\\end{{document}}")
    subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True)


def test_a_view_is_drawn_by_the_server(opened):
    page = opened("/board?sort=rms@all")
    assert not page.get_by_role("button", name="Show").is_visible()
    page.locator("select[name=columns]").select_option("scene")
    page.wait_for_selector("th[data-score=kitchen]")
    assert "columns=scene" in page.url
    assert "sort=rms@all" in page.url  # comes back with the metrics
    page.locator("select[name=of]").select_option("density")
    page.wait_for_selector("caption:has-text('density')")
    page.get_by_role("button", name="stairs").click()
    stairs = column("stairs", "scene", "density")
    assert labels(page) == sorted(stairs, key=stairs.get, reverse=True)


def test_a_cell_shows_its_picture_to_pointer_and_keyboard(opened):
    page = opened("/board", width=390)
    link, box = page.locator("td a").first, page.locator("dg-board .preview")
    link.focus()
    box.locator("img").wait_for()
    frame = box.bounding_box()
    assert frame["x"] >= 0
    assert frame["x"] + frame["width"] <= 390
    page.keyboard.press("Escape")
    assert not box.is_visible()
    page.locator("td a").nth(4).hover()
    assert box.is_visible()
    box.hover()
    page.wait_for_timeout(250)
    assert box.is_visible()  # the pointer may rest on it
    page.mouse.move(1, 1)
    box.wait_for(state="hidden")


def test_without_scripts_it_is_a_table_and_a_form(opened):
    page = opened("/board", scripts=False)
    page.locator("select[name=columns]").select_option("scene")
    page.get_by_role("button", name="Show").click()
    assert page.locator("th[data-score=kitchen]").is_visible()
    assert len(labels(page)) == 12


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(390, "dark"), (1300, "light"), pytest.param(2560, "dark", marks=pytest.mark.long)],
)
def test_it_is_accessible(opened, accessible, width, scheme):
    page = opened("/board?weight=rms@all*2&sort=density", width=width, scheme=scheme)
    page.get_by_role("button", name="Columns" if width == 390 else "My priorities").click()
    accessible(page)
