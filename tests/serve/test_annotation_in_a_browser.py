"""Members of a running site draw, see each other, look at drawings and vote; all is accessible."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from tests.serve.conftest import PASSWORD
from tests.serve.desk.browsing import browsing, check_page, wait_until
from tests.serve.desk.hand import Hand
from tests.serve.test_annotation_pages import drawn as plane

from depthgauge.annotate.records import read_records, write_records
from depthgauge.annotate.records.annotation import Picture
from depthgauge.serve.annotating.batches import add_batch, person_of
from depthgauge.serve.annotating.quizzes import KEY, add_quiz
from depthgauge.serve.desk.photographs import records_path


@pytest.fixture
def batch(site, tmp_path):
    folder = tmp_path / "street"
    folder.mkdir()
    Image.fromarray(np.full((120, 160, 3), 90, np.uint8)).save(folder / "scene.png")
    return add_batch(site, "street", folder, people=1)


def entered(chromium, running, email, trouble):
    context = chromium.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.set_default_timeout(15000)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    return logged_in(page, running, email)


def logged_in(page, running, email):
    page.goto(f"{running}/login")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.goto(f"{running}/annotate/street")
    return page


def finish(batch, picture, who, size=(160, 120)):
    """Writes a finished drawing."""
    path = records_path(batch.folder, who, picture)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_records(path, replace(plane(picture, who), picture=Picture(picture, *size)))


def test_the_page_to_draw_is_accessible(chromium, running, batch, add_user):
    add_user("ann@example.org")
    with browsing(chromium) as context:
        page = logged_in(context.new_page(), running, "ann@example.org")
        page.get_by_role("button", name="Draw on the next photograph").click()
        page.locator("dg-draw[data-previews]").wait_for()
        check_page(page, "site-draw")


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (500, "dark")])
def test_every_page_of_drawing_is_accessible(
    chromium, running, site, batch, add_user, width, scheme
):
    add_user("ada@example.org", admin=True)
    other = person_of(add_user("ben@example.org").id)
    ann = add_user("ann@example.org")
    assert batch.take(other) == "scene"
    finish(batch, "scene", other)
    quiz = add_quiz(site, "quiz", questions=1)
    _example, question = quiz.scenes
    assert quiz.take(person_of(ann.id)) == question
    key = read_records(records_path(quiz.folder, KEY, question))
    path = records_path(quiz.folder, person_of(ann.id), question)
    path.parent.mkdir(parents=True)
    write_records(path, replace(key, origin=replace(key.origin, who=person_of(ann.id))))
    add_batch(site, "second", batch.folder / "images", quiz="quiz")
    pages = {
        "overview": "/annotate",
        "batch": "/annotate/street",
        "vote": "/annotate/street/verify",
        "course": "/annotate/quiz/course",
        "quiz": f"/annotate/quiz/draw/{question}",
        "answer": f"/annotate/quiz/key/{question}",
        "needs-quiz": "/annotate/second",
    }
    with browsing(chromium, width=width, scheme=scheme) as context:
        page = logged_in(context.new_page(), running, "ann@example.org")
        for name, address in pages.items():
            page.goto(f"{running}{address}")
            if page.locator("dg-draw").count():
                page.locator("dg-draw[data-previews]").wait_for()
            check_page(page, f"site-{name}-{width}")
    with browsing(chromium, width=width, scheme=scheme) as context:
        page = logged_in(context.new_page(), running, "ada@example.org")
        page.goto(f"{running}/annotate/street/dashboard")
        check_page(page, f"site-dashboard-{width}")


@pytest.mark.long
def test_two_people_on_one_photograph_see_each_other(chromium, running, site, tmp_path, add_user):
    folder = tmp_path / "both"
    folder.mkdir()
    Image.fromarray(np.full((120, 160, 3), 90, np.uint8)).save(folder / "scene.png")
    batch = add_batch(site, "street", folder, people=2)
    people = [add_user(f"{name}@example.org") for name in ("ann", "ben")]
    trouble = []
    pages = [entered(chromium, running, user.email, trouble) for user in people]
    for page in pages:
        page.get_by_role("button", name="Draw on the next photograph").click()
        page.locator("dg-draw[data-previews]").wait_for()
    first, second = pages
    hand = Hand(second, (160, 120), 192.0)
    hand.key("e")
    hand.line("f", [(20, 60), (140, 60)])
    hand.settle()
    first.get_by_text("Somebody else draws on this photograph").wait_for()
    place = "document.querySelector('dg-draw').others()[0]?.at_px ?? null"
    wait_until(first, f"{place} !== null")
    assert first.evaluate(place) == pytest.approx([140, 60], abs=1)
    # Their line is theirs: nothing of it is here, and what is drawn here is not there.
    first.get_by_text("0 lines, 0 normals").wait_for()
    assert batch.drawing(person_of(people[0].id), "scene") is None
    assert len(batch.drawing(person_of(people[1].id), "scene").strokes) == 1
    check_page(first, "site-together")
    second.close()
    first.get_by_text("Somebody else draws").wait_for(state="detached")
    assert trouble == []


@pytest.mark.long
def test_what_waits_in_a_browser_is_sent_by_nobody_else(
    chromium, running, site, tmp_path, add_user
):
    """Two people use one browser, one after the other; the first could not send a line."""
    folder = tmp_path / "both"
    folder.mkdir()
    Image.fromarray(np.full((120, 160, 3), 90, np.uint8)).save(folder / "scene.png")
    batch = add_batch(site, "street", folder, people=2)
    ann, ben = (add_user(f"{name}@example.org") for name in ("ann", "ben"))
    trouble = []

    def begin(page):
        page.get_by_role("button", name="Draw on the next photograph").click()
        page.locator("dg-draw[data-previews]").wait_for()

    page = entered(chromium, running, ann.email, trouble)
    begin(page)
    page.route("**/api/events/**", lambda route: route.abort())
    hand = Hand(page, (160, 120), 192.0)
    hand.key("e")
    hand.line("f", [(20, 60), (140, 60)])
    page.get_by_text("1 change is kept in this browser").wait_for()
    context = page.context
    page.close()
    context.clear_cookies()
    other = logged_in(context.new_page(), running, ben.email)
    begin(other)
    other.get_by_text("0 lines, 0 normals").wait_for()
    assert batch.drawing(person_of(ben.id), "scene") is None
    context.clear_cookies()
    again = logged_in(context.new_page(), running, ann.email)
    begin(again)
    again.get_by_text("1 lines, 0 normals").wait_for()
    Hand(again, (160, 120), 192.0).settle()
    assert len(batch.drawing(person_of(ann.id), "scene").strokes) == 1
    assert trouble == []


@pytest.mark.long
def test_one_draws_and_the_other_votes(chromium, running, batch, add_user):
    ann, _ben = add_user("ann@example.org"), add_user("ben@example.org")
    trouble = []
    page = entered(chromium, running, "ann@example.org", trouble)
    page.get_by_role("button", name="Draw on the next photograph").click()
    page.locator("dg-draw[data-previews]").wait_for()
    hand = Hand(page, (160, 120), 192.0)
    hand.key("e")
    hand.line("f", [(80, -2), (80, 121)])
    hand.key("n")
    hand.arrow((40, 60), (0.5, 0.1, -0.86))
    hand.settle()
    page.get_by_role("button", name="Finished").click()
    hand.settle()
    drawn = batch.drawing(person_of(ann.id), "scene")
    assert (len(drawn.strokes), len(drawn.normals), drawn.finished) == (1, 1, True)
    other = entered(chromium, running, "ben@example.org", trouble)
    other.get_by_role("link", name="waits for your vote").click()
    other.locator("dg-draw[data-previews]").wait_for()
    assert other.get_by_role("button", name="Undo").count() == 0
    # Who looks draws nothing.
    box = other.locator("canvas.sheet").bounding_box()
    other.mouse.click(box["x"] + 200, box["y"] + 200)
    other.keyboard.press("Delete")
    other.get_by_role("button", name="Yes, they do").click()
    other.get_by_text("No drawing waits for your vote").wait_for()
    assert batch.tallies()[f"{person_of(ann.id)}/scene"].good == 1
    assert batch.drawing(person_of(ann.id), "scene") == drawn
    assert trouble == []
