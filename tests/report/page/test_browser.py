"""The report in a real browser: light and dark, wide and narrow, with and without scripts."""

from dataclasses import replace

import pytest
from tests.report.conftest import column, full_page, pictures_of, plain_board, with_hostile_names
from tests.report.layered import run_rooms

from depthgauge.analysis.boards.board import Cell, Row
from depthgauge.report.page.build import build_page
from depthgauge.report.page.html import write_report
from depthgauge.report.page.model import Page


def opened(chromium, path, *, scripts=True, scheme="light", width=1280):
    """A page, with the list of everything that it complained about or asked the network for."""
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
    )
    page, trouble = context.new_page(), []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on(
        "request",
        lambda request: (
            trouble.append(request.url)
            if not request.url.startswith(("data:", path.as_uri()))
            else None
        ),
    )
    page.goto(path.as_uri())
    return page, trouble


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    board = plain_board()
    rows = (*board.rows[:3], *with_hostile_names(board).rows)
    path = tmp_path_factory.mktemp("page") / "report.html"
    examples = tuple(
        replace(pictures_of(["a"], sample), why=why)
        for sample, why in (("s1", ("best", "median")), ("s2", ("worst",)))
    )
    write_report(path, full_page(replace(board, rows=rows), examples=examples))
    return path


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("scripts", "scheme", "width"),
    [
        (True, "light", 1300),
        (False, "dark", 390),
        (True, "dark", 2560),
        pytest.param(True, "dark", 1300, marks=LONG),
        pytest.param(True, "light", 390, marks=LONG),
        pytest.param(True, "dark", 390, marks=LONG),
        pytest.param(False, "light", 1300, marks=LONG),
        pytest.param(False, "dark", 1300, marks=LONG),
        pytest.param(False, "light", 390, marks=LONG),
        pytest.param(False, "light", 2560, marks=LONG),
    ],
)
def test_it_opens_everywhere(chromium, path, scripts, scheme, width):
    page, trouble = opened(chromium, path, scripts=scripts, scheme=scheme, width=width)
    assert page.locator("h2").count() >= 9
    assert page.locator("table.board tbody tr").count() >= 4
    assert page.locator("th button").count() > 0 if scripts else True
    # `evaluate` works with scripts off too: it is the debugger's, not the page's.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    body = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (body == "rgb(21, 23, 26)") == (scheme == "dark")
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    assert trouble == []
    page.context.close()


def crowded_board():
    """Twelve methods with long names, eight scores with intervals, costs and failures."""
    board = plain_board()
    metrics = ("badpix:2", "badpix:2", "median_angular_error", "foreground_fattening", "rms")
    metrics += ("quantile:90", "edge_quality", "spatial_sparsity_and_more")
    regions = ("all", "visible", "planar_surfaces", "all", "discontinuities", "all", "all", "all")
    ids = [f"{metric}@{region}" for metric, region in zip(metrics, regions, strict=True)]
    columns = tuple(column(score_id) for score_id in ids)
    cell = Cell(54.321, low=24.919, high=106.685, used=8, all=8, rank=1, group=1, mean_rank=2.5)
    rows = tuple(
        Row(
            f"a-method-with-a-rather-long-name-{n:02}",
            dict.fromkeys(ids, replace(cell, rank=n + 1)),
            failed={"s1": "crashed"} if n == 3 else {},
            time_s=0.0561,
            peak_memory_mb=12345.0,
        )
        for n in range(12)
    )
    return replace(board, columns=columns, rows=rows, main=ids[0])


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    path = tmp_path_factory.mktemp("crowded") / "report.html"
    write_report(path, Page(crowded_board(), "Crowded", "bench", 1, "ab" * 32))
    return path


@pytest.mark.parametrize("width", [390, 768, 1300, 2560])
def test_the_leaderboard_fits_the_window(chromium, crowded, width):
    """The first table does not scroll sideways; what it hides is in the table of all columns."""
    page, _ = opened(chromium, crowded, scripts=False, width=width)
    scroll = "(s => s.scrollWidth <= s.clientWidth)(document.querySelector('.first').parentElement)"
    assert page.evaluate(scroll)
    heads = page.locator("table.first thead th:visible").count()
    assert heads == {390: 2, 768: 5, 1300: 9, 2560: 9}[width]
    page.locator("details:has(table.whole) > summary").click()
    assert page.locator("table.whole thead tr:last-child th:visible").count() == 8 + 4
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


@pytest.mark.parametrize(
    ("scripts", "scheme", "width"), [(False, "light", 1300), (True, "dark", 390)]
)
def test_a_picture_opens_at_full_size_by_keyboard(chromium, path, scripts, scheme, width):
    page, trouble = opened(chromium, path, scripts=scripts, scheme=scheme, width=width)
    link = page.locator(".example .open").nth(1)
    link.scroll_into_view_if_needed()
    before = link.locator("img").bounding_box()
    heights = [page.evaluate("document.documentElement.scrollHeight")]
    link.focus()
    page.keyboard.press("Enter")
    light = page.locator(".light:target")
    box = light.bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, width, 900)
    assert light.locator("img").bounding_box()["width"] > before["width"]
    assert light.locator(".about").is_visible()
    heights.append(page.evaluate("document.documentElement.scrollHeight"))
    assert heights[0] == heights[1]  # its place on the page stays
    if scripts:
        page.keyboard.press("Escape")
    else:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "close"
        page.keyboard.press("Enter")
    assert page.locator(".light:target").count() == 0
    assert link.locator("img").bounding_box()["width"] == before["width"]
    link.click()
    assert page.locator(".light:target").count() == 1
    page.mouse.click(width / 2, 450)  # anywhere closes it
    assert page.locator(".light:target").count() == 0
    assert trouble == []
    page.context.close()


def test_sorting(chromium, path):
    page, trouble = opened(chromium, path)

    def first():
        return page.locator("table.first tbody.methods tr th .label").first.text_content()

    def names():
        return page.locator("table.first tbody.methods tr th .label").all_text_contents()

    before = names()
    mae = page.locator("table.first th[data-column='2'] button")
    mae.click()
    assert first() == "b"
    assert names()[-1] == "c"  # incomplete: last, either way
    mae.click()
    assert names()[-1] == "c"
    assert first() != "b"
    assert page.locator("table.first th[aria-sort]").count() == 1
    page.locator("table.first th[data-column='1'] button").click()
    assert sorted(names()) == sorted(before)
    assert names()[-1] == "c"
    assert page.locator("table.first tbody.oracles tr").count() == 2
    page.context.close()
    assert trouble == []


def test_a_foreign_script_does_not_run(chromium, path, tmp_path):
    """Even where escaping failed, the policy would stop it."""
    text = path.read_text().replace("</main>", "<script>document.title = 'taken'</script></main>")
    (tmp_path / "taken.html").write_text(text)
    page, _ = opened(chromium, tmp_path / "taken.html")
    assert page.title() != "taken"
    page.context.close()


QUANTITIES = ["normals", *(pytest.param(q, marks=LONG) for q in ("boundaries", "planes", "depth"))]


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), pytest.param("dark", 400, marks=LONG)]
)
def test_pages_of_single_pictures_open(chromium, view_pages, quantity, scheme, width):
    page, trouble = opened(chromium, view_pages(quantity), scheme=scheme, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    # One picture of each method that has an estimate, at least.
    assert page.locator(".gallery .method img").count() >= 2
    assert trouble == []
    page.context.close()


@pytest.fixture(scope="module")
def view_pages(view_page, tmp_path_factory):
    """The page of each quantity, written once."""
    root = tmp_path_factory.mktemp("pages")

    def written(quantity):
        path = root / f"{quantity}.html"
        if not path.exists():
            write_report(path, view_page(quantity))
        return path

    return written


@pytest.mark.long
def test_the_slider_of_layers_needs_no_script(chromium, tmp_path):
    run = run_rooms(tmp_path)
    write_report(tmp_path / "layers.html", build_page(run, most_pictures=1))
    for width in (390, 2560):
        page, trouble = opened(chromium, tmp_path / "layers.html", scripts=False, width=width)
        layers = page.locator(".layers .layer")
        shown = "[...document.querySelectorAll('.layer')].map(e => e.checkVisibility())"
        assert layers.count() == 3
        assert page.evaluate(shown) == [True, False, False]
        page.get_by_role("radio", name="1", exact=True).focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate(shown) == [False, True, False]
        page.get_by_text("last", exact=True).click()
        assert page.evaluate(shown) == [False, False, True]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert trouble == []
        page.context.close()
