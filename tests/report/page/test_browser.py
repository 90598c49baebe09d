"""The report in a real browser: light and dark, wide and narrow, with and without scripts."""

import shutil
from dataclasses import replace

import pytest
from tests.report.conftest import full_page, plain_board, with_hostile_names

from depthgauge.report.page.html import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("needs chromium, which is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser, path, *, scripts=True, scheme="light", width=1280):
    """A page, with the list of everything that it complained about or asked the network for."""
    context = browser.new_context(
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
    write_report(path, full_page(replace(board, rows=rows)))
    return path


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("scripts", "scheme", "width"),
    [
        (True, "light", 1280),
        (False, "dark", 400),
        pytest.param(True, "dark", 1280, marks=LONG),
        pytest.param(True, "light", 400, marks=LONG),
        pytest.param(True, "dark", 400, marks=LONG),
        pytest.param(False, "light", 1280, marks=LONG),
        pytest.param(False, "dark", 1280, marks=LONG),
        pytest.param(False, "light", 400, marks=LONG),
    ],
)
def test_it_opens_everywhere(browser, path, scripts, scheme, width):
    page, trouble = opened(browser, path, scripts=scripts, scheme=scheme, width=width)
    assert page.locator("h2").count() >= 9
    assert page.locator("table.board tbody tr").count() >= 4
    assert page.locator("th button").count() > 0 if scripts else True
    # `evaluate` works with scripts off too: it is the debugger's, not the page's.
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    body = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (body == "rgb(21, 23, 26)") == (scheme == "dark")
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    assert trouble == []
    page.context.close()


def test_sorting(browser, path):
    page, trouble = opened(browser, path)

    def first():
        return page.locator("table.board tbody.methods tr th .label").first.text_content()

    def names():
        return page.locator("table.board tbody.methods tr th .label").all_text_contents()

    before = names()
    mae = page.locator("table.board th[data-column='2'] button")
    mae.click()
    assert first() == "b"
    assert names()[-1] == "c"  # incomplete: last, either way
    mae.click()
    assert names()[-1] == "c"
    assert first() != "b"
    assert page.locator("table.board th[aria-sort]").count() == 1
    page.locator("table.board th[data-column='1'] button").click()
    assert sorted(names()) == sorted(before)
    assert names()[-1] == "c"
    assert page.locator("table.board tbody.oracles tr").count() == 2
    page.context.close()
    assert trouble == []


def test_a_foreign_script_does_not_run(browser, path, tmp_path):
    """Even where escaping failed, the policy would stop it."""
    text = path.read_text().replace("</main>", "<script>document.title = 'taken'</script></main>")
    (tmp_path / "taken.html").write_text(text)
    page, _ = opened(browser, tmp_path / "taken.html")
    assert page.title() != "taken"
    page.context.close()


@pytest.mark.parametrize("quantity", ["normals", "boundaries", "planes", "depth"])
@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), pytest.param("dark", 400, marks=LONG)]
)
def test_pages_of_single_pictures_open(browser, view_pages, quantity, scheme, width):
    page, trouble = opened(browser, view_pages(quantity), scheme=scheme, width=width)
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
