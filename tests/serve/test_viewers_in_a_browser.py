"""Methods, comparisons, samples and points of a running site in a real browser.

Set DEPTHGAUGE_SCREENSHOTS to a folder to keep pictures of every page.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD, served
from tests.serve.exhibiting import draw_all, score_and_publish
from tools.web import WEB

from depthgauge.datasets import manifest_folder
from depthgauge.serve.storage.models import Submission
from depthgauge.serve.submissions import worker
from depthgauge.serve.submissions.registry import add_benchmark

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
SCREENSHOTS = os.environ.get("DEPTHGAUGE_SCREENSHOTS", "")


@pytest.fixture
def opened(chromium):
    """Opens pages; none of them may complain about anything."""
    contexts, trouble = [], []

    def note(message):
        # Looking at pixels, as screenshots do, is slow; hints on forms are no faults.
        if "GL Driver Message" not in message.text and not message.text.startswith("[DOM]"):
            trouble.append(message.text)

    def open_page(address, *, width=1440, scheme="light"):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        assert page.goto(address).status == 200, address
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []


def check(page):
    """Axe finds nothing, and nothing scrolls sideways."""
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
    if AXE.exists():
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate(
            "axe.run().then(r => r.violations.map(v => v.id + ': ' "
            "+ v.nodes.map(n => n.html.slice(0, 200)).join(' | ')))"
        )
        assert found == [], page.url


def test_two_methods_are_compared(site, database, public, add_user, send, opened):
    """The short one: every page once, the islands start, a wipe, a difference, the numbers."""
    ann = add_user(admin=True)
    ids = [
        score_and_publish(site, database, send(ann, made.archive(made.estimates(e)), m), ann)
        for e, m in ((0.4, "near"), (3, "far"))
    ]
    draw_all(site, database)
    with served(site, database) as address:
        page = opened(f"{address}/benchmarks/tiny/compare?method={ids[0]}&method={ids[1]}")
        page.wait_for_selector("dg-compare:defined")
        first = page.locator("dg-compare").first
        first.get_by_role("button", name="Wipe").click()
        assert first.get_by_role("slider").count() == 1
        first.get_by_role("button", name="Difference").click()
        page.goto(f"{address}/benchmarks/tiny/methods/{ids[0]}")
        page.locator("dg-chart").first.scroll_into_view_if_needed()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download as CSV").first.click()
        lines = download.value.path().read_text("utf-8").splitlines()
        assert [line.split(",")[0] for line in lines] == ["Method", "near", "far"]
        assert float(lines[1].split(",")[1]) == pytest.approx(0.4, abs=1e-5)


# --- the long ones: a site of stereo pairs and light fields ---------------------------------------


@pytest.fixture
def shown(site, database, add_user, tmp_path):
    """A site with two stereo scenes, three methods and a light field; its address and ids."""
    from depthgauge.serve import demo
    from depthgauge.synth.generators.stratified import StratifiedOptions, make
    from depthgauge.synth.sets.stereo_scenes import make_scenes

    ann = add_user(admin=True)
    scenes = list(make_scenes(("clutter", "fence"), size_px=(160, 120)))
    about = {"id": "stereo-scenes", "title": "Stereo scenes", "licence": "CC0-1.0"}
    manifest_folder.write(tmp_path / "stereo", scenes, **about)
    add_benchmark(site, database, "stereo-scenes", tmp_path / "stereo", monthly_quota=20)
    make(
        tmp_path / "fields",
        StratifiedOptions(scenes=("backgammon",), size_px=64, views=3, scale=2),
        overwrite=False,
        progress=None,
    )
    add_benchmark(site, database, "stratified", tmp_path / "fields", monthly_quota=20)
    rng = np.random.default_rng(0)
    for name, noise, holes in (("fine", 0.2, 0.0), ("coarse", 1.5, 0.1), ("holes", 0.4, 0.3)):
        for scene in scenes:
            values = scene.truth["disparity"] + rng.normal(0, noise, (120, 160))
            values = np.clip(values, *scene.inputs["disparity_range"])
            values[rng.random((120, 160)) < holes] = np.nan
            folder = tmp_path / name / scene.id
            folder.mkdir(parents=True)
            np.save(folder / "disparity.npy", values.astype(np.float32))
        demo.submit(site, database, ann, "stereo-scenes", name, tmp_path / name)
    draw_all(site, database)
    with database.begin() as session:
        ids = {one.method: one.id for one in session.query(Submission)}
        assert {one.state for one in session.query(Submission)} == {"scored"}
    with served(site, database) as address:
        yield address, ids


PAGES = {
    "method": "/benchmarks/stereo-scenes/methods/{fine}?sample=fence",
    "compare": "/benchmarks/stereo-scenes/compare?sample=clutter&method={fine}&method={coarse}",
    "three": "/benchmarks/stereo-scenes/compare?method={fine}&method={coarse}&method={holes}",
    "sample": "/benchmarks/stereo-scenes/samples/clutter",
    "points": "/benchmarks/stereo-scenes/points?sample=clutter&method={fine}&method={holes}",
    "field": "/benchmarks/stratified/samples/backgammon",
}


@pytest.mark.long
def test_every_page_fits_every_screen_in_light_and_dark(shown, opened):
    address, ids = shown
    for width in (390, 1440, 3840):
        for scheme in ("light", "dark"):
            for name, place in PAGES.items():
                page = opened(f"{address}{place.format(**ids)}", width=width, scheme=scheme)
                _see_everything(page)
                check(page)
                if SCREENSHOTS:
                    file = Path(SCREENSHOTS) / f"{name}-{width}-{scheme}.png"
                    page.screenshot(path=file, full_page=True)
                page.context.close()


def _see_everything(page):
    """Scrolls through a page, so that what is loaded when it is seen is there."""
    height = page.evaluate("document.documentElement.scrollHeight")
    for y in range(0, height, 600):
        page.evaluate(f"window.scrollTo(0, {y})")
        page.wait_for_timeout(40)
    page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_load_state("networkidle")


@pytest.mark.long
def test_points_are_opened(shown, opened):
    address, ids = shown
    page = opened(f"{address}{PAGES['points'].format(**ids)}")
    for place in range(3):  # the truth and two methods
        page.get_by_role("button", name="Show in 3D").first.click()
        page.wait_for_selector(f"dg-points[data-shown] >> nth={place}")
    counts = page.locator("dg-points").evaluate_all("all => all.map(e => Number(e.dataset.shown))")
    assert counts[0] == 160 * 120
    assert counts[2] < 0.8 * counts[1]  # a method with holes has fewer points
    colours = page.get_by_label("colours").nth(1)
    assert colours.locator("option").all_inner_texts() == ["image", "disparity", "error"]
    colours.select_option("error")
    check(page)


@pytest.mark.long
def test_a_light_field_is_moved(shown, opened):
    address, _ = shown
    page = opened(f"{address}{PAGES['field']}")
    page.wait_for_selector("dg-lightfield[data-loaded]")
    field = page.get_by_role("img", name="Light field")
    field.press("ArrowLeft")
    page.get_by_text("1 of 3 across").wait_for()
    page.locator('dg-lightfield[data-loaded="9"]').wait_for()


@pytest.mark.long
def test_a_participant_submits_sees_the_score_and_compares(
    site, database, shown, add_user, opened, tmp_path
):
    """From the form to the score, the pictures, and a comparison with another method."""
    from depthgauge.serve.client import pack

    address, _ = shown
    add_user("ben@example.org")
    page = opened(f"{address}/login")
    page.get_by_label("E-mail").fill("ben@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    pack(tmp_path / "fine", tmp_path / "mine.zip")
    page.goto(f"{address}/benchmarks/stereo-scenes")
    page.locator('input[name="method"]:not([type=checkbox])').fill("Ben's method")
    page.locator('input[name="archive"]').set_input_files(tmp_path / "mine.zip")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_text("queued").first.wait_for()
    worker.work_once(site, database)
    draw_all(site, database)
    page.reload()
    page.get_by_role("button", name="Publish on the leaderboard").click()
    page.goto(f"{address}/benchmarks/stereo-scenes")
    page.get_by_role("link", name="Ben's method").first.click()
    page.goto(f"{address}/benchmarks/stereo-scenes/compare")
    page.get_by_role("checkbox", name="Ben's method").check()
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("cannot be told apart").or_(
        page.get_by_text("too few samples")
    ).first.wait_for()


@pytest.mark.long
def test_maps_of_several_tiles_are_compared_pixel_by_pixel(
    site, database, add_user, opened, tmp_path
):
    """Large maps: small pictures first, tiles of full size where the reader zooms in.

    `docs/operators.md` has figures of 12 megapixels; the tiles are of the same size here.
    """
    from depthgauge.serve import demo
    from depthgauge.synth.sets.stereo_scenes import make_scenes

    ann, size = add_user(admin=True), (1400, 1050)
    scenes = list(make_scenes(("boxes",), size_px=size))
    about = {"id": "stereo-scenes", "title": "Stereo scenes", "licence": "CC0-1.0"}
    manifest_folder.write(tmp_path / "stereo", scenes, **about)
    add_benchmark(site, database, "stereo-scenes", tmp_path / "stereo", monthly_quota=20)
    truth = scenes[0].truth["disparity"]
    for name, shift in (("near", 0.25), ("far", 1.5)):
        folder = tmp_path / name / "boxes"
        folder.mkdir(parents=True)
        np.save(folder / "disparity.npy", (truth + shift).astype(np.float32))
        demo.submit(site, database, ann, "stereo-scenes", name, tmp_path / name)
    draw_all(site, database)
    with database.begin() as session:
        ids = {one.method: one.id for one in session.query(Submission)}
    asked = []
    with served(site, database) as address:
        place = "/benchmarks/stereo-scenes/compare?method={near}&method={far}".format(**ids)
        page = opened(f"{address}{place}", width=600)
        page.on("request", lambda request: asked.append(request.url))
        first = page.locator("dg-compare").first
        first.scroll_into_view_if_needed()
        first.get_by_role("button", name="Wipe").click()
        page.wait_for_load_state("networkidle")
        whole = [url for url in asked if "-tiles/" in url]
        assert not any("-tiles/0/" in url for url in whole)  # the whole picture needs no detail
        for _ in range(8):
            first.get_by_role("button", name="Larger").click()
        page.wait_for_load_state("networkidle")
        detail = {url for url in asked if "-tiles/0/" in url}
        assert detail
        # Of two maps, those tiles that are seen: 30 tiles cover a map of this size.
        assert len(detail) < 2 * 30
        box = first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        reading = first.locator(".reading")  # in the island's own tree
        reading.get_by_text("near").wait_for()
        told = dict(re.findall(r"(truth|near|far) ([\d.]+) px", reading.inner_text()))
        assert float(told["near"]) - float(told["truth"]) == pytest.approx(0.25, abs=0.02)
        first.get_by_role("button", name="Difference").click()
        page.goto(f"{address}/benchmarks/stereo-scenes/points?method={ids['near']}")
        page.get_by_role("button", name="Show in 3D").first.click()
        page.wait_for_selector("dg-points[data-shown]")
        count = int(page.locator("dg-points").first.get_attribute("data-shown"))
        assert 50_000 < count <= 150_000  # every fourth row and column
