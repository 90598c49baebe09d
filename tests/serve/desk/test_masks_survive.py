"""Masks in a real browser when things go wrong: lost servers, two tabs, kill -9."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.serve.desk.browsing import browsing, served_desk
from tests.serve.desk.masked import drawable, mask, open_masks, places, saved, shown, standing

from depthgauge import io
from depthgauge.serve.desk.session_desk import make_session_desk

AWAY = (
    *("ERR_CONNECTION_REFUSED", "Failed to load resource"),
    *("ERR_CONNECTION_RESET", "ERR_EMPTY"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return drawable(tmp_path_factory.mktemp("world"))


@pytest.fixture
def fresh(made):
    """The session without a mask, and what makes its desk."""
    session, work, world = made
    for folder in ("by-hand", "labels"):
        for path in (session.folder / folder).glob("*"):
            path.unlink()

    def make(access):
        return make_session_desk(session, work, access)

    return session, work, world, make


@pytest.mark.long
def test_a_page_keeps_what_is_done_while_the_server_is_away(chromium, fresh):
    session, _, _, make = fresh
    with browsing(chromium, allow=AWAY) as context:
        with served_desk(make) as access:
            page = open_masks(context, access)
            saved(page)
            page.keyboard.press("b")
            at = places(page, 200, 150)
        page.mouse.move(*at(50, 50))
        page.mouse.down()
        page.mouse.move(*at(90, 60), steps=4)
        page.mouse.up()
        page.get_by_text("1 action is kept in this browser").wait_for()
        standing(page, 1)
        # A proposal needs the server; that is said, and nothing else is lost.
        page.keyboard.press("f")
        page.mouse.click(*at(100, 100))
        page.get_by_text("polygon and brush work without").wait_for()
        page.close()
        with served_desk(make, access.port):
            again = open_masks(context, access)
            saved(again)
            standing(again, 1)
            other = open_masks(context, access)
            other.get_by_text("open in 1 other tab").wait_for()
            again.keyboard.press("Control+z")
            standing(other, 0)
            again.keyboard.press("Control+Shift+z")
            saved(again)
            assert np.array_equal(shown(again, (150, 200)), mask(session))
    assert mask(session).max() == 3


@pytest.mark.long
def test_two_tabs_that_paint_one_place_show_what_is_saved(chromium, fresh):
    """Both paint while the server is away: whichever comes later is on top, in both tabs."""
    session, _, _, make = fresh
    with browsing(chromium, allow=AWAY) as context:
        with served_desk(make) as access:
            tabs = [open_masks(context, access) for _ in range(2)]
            for page in tabs:
                saved(page)
                page.keyboard.press("b")
            at = places(tabs[0], 200, 150)
        for page, number, x in ((tabs[0], "1", 100), (tabs[1], "2", 110)):
            page.keyboard.press(number)
            page.mouse.click(*at(x, 75))
            page.get_by_text("1 action is kept in this browser").wait_for()
        with served_desk(make, access.port):
            for page in tabs:
                standing(page, 2)
                saved(page)
            labels = [shown(page, (150, 200)) for page in tabs]
    assert np.array_equal(labels[0], labels[1])
    assert np.array_equal(labels[0], mask(session))
    assert {1, 2} <= set(np.unique(labels[0]))


@pytest.mark.long
def test_a_killed_server_has_everything_that_the_page_calls_saved(chromium, made, tmp_path):
    """kill -9 in the middle of work; the same page goes on with the next server."""
    session, _, _ = made
    shutil.copytree(session.folder, tmp_path / "copy")
    folder = tmp_path / "copy"
    for path in (*(folder / "labels").glob("*"), *(folder / "by-hand").glob("*")):
        path.unlink()
    text = (folder / "session.json").read_text()
    (folder / "session.json").write_text(text.replace('"raw"', '"rectified"'))
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}

    def start(port):
        command = [sys.executable, "-m", "depthgauge", "capture", "edit", str(folder)]
        started = subprocess.Popen(
            [*command, "--port", str(port)],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "PYTHONUNBUFFERED": "1"},
        )
        with started.stdout as said:
            return started, said.readline().strip()

    server, address = start(0)
    port = int(address.split(":")[2].split("/")[0])
    try:
        with browsing(chromium, allow=AWAY) as context:
            page = context.new_page()
            page.goto(address)
            page.goto(f"http://127.0.0.1:{port}/masks")
            page.wait_for_selector("dg-masks[data-ready]")
            page.keyboard.press("b")
            at = places(page, 200, 150)
            for x in (30, 60, 90):
                page.mouse.click(*at(x, 40))
            standing(page, 3)
            saved(page)
            server.send_signal(signal.SIGKILL)
            server.wait()
            page.mouse.click(*at(120, 40))
            page.get_by_text("1 action is kept in this browser").wait_for()
            server, _ = start(port)
            saved(page)
            labels = shown(page, (150, 200))
            page.reload()
            standing(page, 4)
    finally:
        server.kill()
        server.wait()
    found = io.read_labels(folder / "labels" / "materials.png")
    assert np.array_equal(found, labels)
    assert all(found[40, x] == 3 for x in (30, 60, 90, 120))
