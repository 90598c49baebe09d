"""Two members of a running site: one draws, the other looks at it and votes."""

import numpy as np
import pytest
from PIL import Image
from tests.serve.conftest import PASSWORD
from tests.serve.desk.hand import Hand

from depthgauge.serve.annotating.batches import add_batch, person_of

pytestmark = pytest.mark.long


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
    page.goto(f"{running}/login")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.goto(f"{running}/annotate/street")
    return page


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
