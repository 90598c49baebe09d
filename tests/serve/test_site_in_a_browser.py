"""The leaderboard of a running site in a real browser, under the site's own policy."""

import pytest
from tests.serve import boards
from tests.serve import tiny as made
from tools.web import WEB

from depthgauge.serve.board import publish
from depthgauge.serve.storage.models import Submission
from depthgauge.serve.submissions import worker

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"


def test_readers_sort_weigh_and_save(site, database, tiny, add_user, send, running, page):
    ann = add_user(admin=True)  # who may make baselines
    for error, method in ((0.9, "middle"), (0.5, "=best"), (3.0, "worst")):
        sent = send(ann, made.archive(made.estimates(error)), method)
        worker.work_once(site, database)
        with database.begin() as session:
            shown = "baseline" if method == "worst" else "public"
            publish(session, session.get_one(Submission, sent.id), ann, shown)
    trouble = []
    page.on("console", lambda message: trouble.append(message.text))
    page.goto(f"{running}/benchmarks/tiny")
    page.wait_for_selector("dg-board:defined")

    def methods():
        return page.locator("tbody .name a").all_inner_texts()

    assert methods() == ["=best", "middle", "worst"]
    page.locator('th[data-score="mae@all"] button').click()
    page.locator('th[data-score="mae@all"] button').click()
    assert methods() == ["worst", "middle", "=best"]
    page.get_by_label("baselines").uncheck()
    assert page.locator("tbody tr:visible").count() == 2
    page.get_by_role("button", name="My priorities").click()
    assert page.get_by_role("slider").count() == 2  # the released scores
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    lines = download.value.path().read_text("utf-8").splitlines()
    assert lines[0] == "method,mae@all,badpix:1@all,team"
    assert [line.split(",")[0] for line in lines[1:]] == ["middle", "'=best"]
    assert trouble == []
    accessible(page)


@pytest.mark.long
def test_all_pages_are_accessible_and_fit_a_phone(tiny, running, page):
    trouble = []
    page.on("console", lambda message: trouble.append(message.text))
    for path in ("/", "/benchmarks/tiny", "/benchmarks/tiny/data", "/tools", "/changelog"):
        page.goto(f"{running}{path}")
        accessible(page)
    assert trouble == []


@pytest.mark.long
def test_tiers_stay_apart_when_readers_sort(database, running, page):
    with database.begin() as session:
        benchmark = boards.add_benchmark(session, toml=boards.TIERS)
        for method, tier, first in (("a", "G0", 1), ("b", "G0", 2), ("c", "G1", 0), ("d", "G1", 3)):
            values = [first + place for place in range(len(boards.SCENES))]
            boards.publish(session, benchmark, method, values, details={"tier": tier})
    page.goto(f"{running}/benchmarks/open")

    def tiers():
        bodies = page.locator("dg-board tbody").all()
        return [body.locator(".name a").all_inner_texts() for body in bodies]

    assert tiers() == [["a", "b"], ["c", "d"]]
    page.locator('th[data-score="mae@all"] button').click()
    page.locator('th[data-score="mae@all"] button').click()
    assert tiers() == [["b", "a"], ["d", "c"]]
    page.goto(f"{running}/benchmarks/open?weight=mae@all*1")
    page.wait_for_selector(".cost")
    assert tiers() == [["a", "b"], ["c", "d"]]
    assert page.locator(".rank").all_inner_texts() == ["1", "2", "1", "2"]
    # Choosing a metric shows it sample by sample; the server draws the table.
    page.goto(f"{running}/benchmarks/open")
    page.get_by_label("Metric").select_option("mae")
    page.wait_for_selector('th[data-score="mae@all s3"]')
    assert "metric=mae" in page.url
    accessible(page)


def accessible(page):
    """Nothing scrolls sideways on a phone, and axe finds nothing."""
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if AXE.exists():
        page.evaluate(AXE.read_text("utf-8"))
        assert page.evaluate("axe.run().then(r => r.violations.map(v => v.id))") == []
    page.set_viewport_size({"width": 1280, "height": 800})
