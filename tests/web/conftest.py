"""One gallery for all tests of the front end."""

import pytest
from tools.gallery.server import served
from tools.web import WEB

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="session")
def gallery(tmp_path_factory):
    with served(tmp_path_factory.mktemp("gallery")) as address:
        yield address


@pytest.fixture
def opened(chromium, gallery):
    """Opens pages of the gallery; at the end, none of them may have complained about anything."""
    contexts, trouble = [], []

    def note(message):
        # The browser says that looking at pixels, as tests do, is slow.
        if "GL Driver Message" not in message.text and "readback" not in message.text:
            trouble.append(message.text)

    def opened(path, *, width=1300, scheme="light", scripts=True):
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=scripts,
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(8000)
        page.on("console", note)
        page.complaints = trouble
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(gallery + path)
        if scripts:
            name = path.strip("/").partition("?")[0]
            page.wait_for_selector(f"dg-{name}:defined", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.fixture
def accessible():
    """Asserts that axe finds nothing on a page, and that it does not scroll sideways."""
    if not AXE.exists():
        pytest.skip("needs axe-core; say: make web")

    def accessible(page):
        width = page.viewport_size["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate(
            "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', "
            "'best-practice']}).then(r => r.violations.map(v => v.id + ': ' "
            "+ v.nodes.map(n => n.html + ' ' + n.failureSummary).join(' | ')))"
        )
        assert found == []

    return accessible
