"""A desk on a real port, and a browser that may complain about nothing."""

import os
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from tools.web import WEB

from depthgauge.serve.desk.access import Access

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
SCREENSHOTS = os.environ.get("DEPTHGAUGE_SCREENSHOTS", "")
TOKEN = "a-token-for-tests-only-123"


@contextmanager
def served_desk(make, port=0):
    """Serves `make(access)` as long as the block lasts; gives the address with its token."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(64)
    access = Access(listening.getsockname()[1], TOKEN)
    config = uvicorn.Config(make(access), log_level="error", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield access
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join()
        listening.close()


@contextmanager
def browsing(chromium, *, width=1440, height=900, scheme="light", allow=()):
    """Pages of one visitor; none of them may complain, except about what is allowed."""
    trouble = []

    def note(message):
        text = message.text
        quiet = ("GL Driver Message", "readback", *allow)
        if not any(word in text for word in quiet) and not text.startswith("[DOM]"):
            trouble.append(text)

    context = chromium.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    context.set_default_timeout(45000)  # on a busy machine, too
    context.on("console", note)
    context.on("weberror", lambda error: trouble.append(str(error.error)))
    try:
        yield context
        assert trouble == [], trouble
    finally:
        context.close()


def wait_until(page, expression, seconds=45):
    """Waits until the expression holds in the page.

    `page.wait_for_function` evaluates its text within the page from its second look on, which
    our pages forbid: it passes or fails depending on the machine's speed.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"{page.url}: {expression} did not hold in {seconds} s"
        page.wait_for_timeout(50)


def check_page(page, name=""):
    """Axe finds nothing, nothing scrolls sideways; keeps a picture if that is wanted."""
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
    if SCREENSHOTS and name:
        page.screenshot(path=str(Path(SCREENSHOTS) / f"{name}.png"), full_page=True)
    if AXE.exists():
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate(
            "axe.run().then(r => r.violations.map(v => v.id + ': ' "
            "+ v.nodes.map(n => n.html + ' ' + n.failureSummary).join(' | ')))"
        )
        assert found == [], found
