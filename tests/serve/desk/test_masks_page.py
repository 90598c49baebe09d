"""Masks drawn in a real browser: right to the pixel, carried to the other view, never lost."""

import json
import shutil

import numpy as np
import pytest
from tests.capture.masks.networks import decoder, encoder
from tests.serve.desk.browsing import browsing, check_page, served_desk, wait_until
from tests.serve.desk.masked import (
    drawable,
    mask,
    open_masks,
    places,
    proposed,
    saved,
    shown,
    standing,
)

from depthgauge import io
from depthgauge.capture.exact_truth import exact_truth
from depthgauge.capture.masks.carry import intersection_over_union
from depthgauge.capture.masks.segment_anything import open_networks
from depthgauge.capture.rectify.step import read_pair
from depthgauge.serve.desk.session_desk import make_session_desk
from depthgauge.sessions import open_session, read_simulated


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


def corners_of(region):
    """The corners of a region with four of them."""
    import cv2

    lines, _ = cv2.findContours(region.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    line = max(lines, key=cv2.contourArea)
    for slack in np.arange(1.0, 12.0, 0.5):
        found = cv2.approxPolyDP(line, slack, True)
        if len(found) == 4:
            return found[:, 0].astype(float)
    raise AssertionError("it has no four corners")


def test_a_mask_is_drawn_by_the_mouse_and_carried_to_the_other_view(chromium, fresh):
    session, work, world, make = fresh
    truth = world.exact["LR"].materials
    with served_desk(make) as access, browsing(chromium) as context:
        page = open_masks(context, access)
        at = places(page, 200, 150)
        check_page(page, "masks-begin")
        # The board with a polygon, the floor with a click that the program learns from.
        page.keyboard.press("3")
        for corner in corners_of(truth == 3):
            page.mouse.click(*at(*corner))
        page.get_by_role("button", name="Close (Enter)").click()
        standing(page, 1)
        page.keyboard.press("1")
        page.keyboard.press("c")
        floor = np.argwhere(truth == 1)
        y, x = floor[np.abs(floor - floor.mean(axis=0)).sum(axis=1).argmin()]
        page.mouse.click(*at(x, y))
        proposed(page)
        check_page(page, "masks-clicks")
        page.keyboard.press("Enter")
        standing(page, 2)
        saved(page)
        assert np.array_equal(shown(page, truth.shape), mask(session)), "to the last pixel"
        page.get_by_role("button", name="Carry to the other views").click()
        page.wait_for_selector("dg-carried table", timeout=60000)
        wait_until(
            page,
            "[...document.querySelector('dg-masks').shadowRoot.querySelector('dg-carried')"
            ".shadowRoot.querySelectorAll('img')].every(i => i.complete && i.naturalWidth > 0)",
        )
        check_page(page, "masks-carried")
    drawn = intersection_over_union(mask(session), truth)
    assert drawn[3] > 0.95
    assert drawn[1] > 0.95
    carried = io.read_labels(work / "masks" / "LR" / "right.png")
    right = intersection_over_union(carried, world.exact["RL"].materials)
    assert right[3] > 0.93
    assert right[1] > 0.93


@pytest.mark.long
def test_every_tool_by_keys_alone(chromium, fresh):
    session, _, _, make = fresh
    with served_desk(make) as access, browsing(chromium, width=800) as context:
        page = open_masks(context, access)
        page.locator("dg-masks canvas.over").focus()
        page.keyboard.press("2")
        page.keyboard.press("b")
        page.keyboard.press("Space")
        for _ in range(5):
            page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Space")
        standing(page, 1)
        page.keyboard.press("p")
        for key in ("ArrowRight", "ArrowDown", "ArrowLeft"):
            page.keyboard.press("Space")
            for _ in range(3):
                page.keyboard.press(f"Shift+{key}")
        page.keyboard.press("Enter")
        standing(page, 2)
        page.keyboard.press("f")
        page.keyboard.press("Space")
        proposed(page)
        page.keyboard.press("Enter")
        standing(page, 3)
        page.keyboard.press("e")
        page.keyboard.press("Space")
        page.keyboard.press("Space")
        standing(page, 4)
        page.keyboard.press("Control+z")
        page.keyboard.press("Control+z")
        standing(page, 2)
        page.keyboard.press("Control+Shift+z")
        standing(page, 3)
        page.keyboard.press("i")
        page.wait_for_selector('dg-masks[data-picture="im1"]')
        page.keyboard.press("+")
        page.keyboard.press("Home")
        saved(page)
        assert np.array_equal(shown(page, (150, 200)), mask(session))
        check_page(page, "masks-narrow")
    lines = (session.folder / "by-hand" / "materials.jsonl").read_text().splitlines()
    kinds = [json.loads(line)["kind"] for line in lines]
    assert kinds == ["paint"] * 4 + ["undo", "undo", "redo"]


def test_strokes_are_the_same_here_and_there(chromium, fresh):
    """Random strokes and polygons, half of them beyond the picture: equal to the last pixel."""
    session, _, _, make = fresh
    rng = np.random.default_rng(3)
    events = []
    for k in range(60):
        shape = "brush" if k % 2 else "polygon"
        points = np.round(rng.uniform(-40, 230, (rng.integers(3, 7), 2)), 2).tolist()
        if k % 5 == 0:
            points = np.round(points).tolist()  # through the centres of pixels
        entry = {"points_px": points}
        if shape == "brush":
            entry = {"points_px": points[: 1 + k % 4], "radius_px": [0.75, 1, 4, 17.5][k % 4]}
        events.append(
            {"id": f"event-{k:04}", "kind": "paint", "class": k % 4, "shape": shape, "entry": entry}
        )
    (session.folder / "by-hand").mkdir(exist_ok=True)
    path = session.folder / "by-hand" / "materials.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    with served_desk(make) as access, browsing(chromium) as context:
        page = open_masks(context, access)
        standing(page, 60)
        assert np.array_equal(shown(page, (150, 200)), mask(session))
        assert len(np.unique(mask(session))) == 4


@pytest.mark.long
def test_fingers_zoom_and_a_pen_draws(chromium, fresh):
    session, _, _, make = fresh
    with served_desk(make) as access, browsing(chromium, scheme="dark") as context:
        page = open_masks(context, access)
        page.keyboard.press("b")
        at = places(page, 200, 150)
        pointer = """([kind, id, x, y, type]) => {
            const page = document.querySelector('dg-masks').shadowRoot;
            const canvas = page.querySelector('canvas.over');
            canvas.setPointerCapture = () => {};
            canvas.dispatchEvent(new PointerEvent(kind, {
                pointerId: id, pointerType: type, clientX: x, clientY: y,
                button: 0, buttons: 1, isPrimary: id === 1, bubbles: true,
            }));
        }"""
        # Two fingers: what the first began is given up, and the picture is enlarged.
        for kind, number, x in (
            *(("pointerdown", 1, 80), ("pointerdown", 2, 120), ("pointermove", 2, 140)),
            *(("pointerup", 2, 140), ("pointerup", 1, 80)),
        ):
            page.evaluate(pointer, [kind, number, *at(x, 70), "touch"])
        assert page.locator("dg-masks").get_attribute("data-standing") in (None, "0")
        page.keyboard.press("Home")
        for kind, x in (("pointerdown", 60), ("pointermove", 80), ("pointerup", 80)):
            page.evaluate(pointer, [kind, 1, *at(x, 70), "pen"])
        standing(page, 1)
        saved(page)
        check_page(page, "masks-dark")
    found = mask(session)
    assert found[70, 60] == found[70, 80] == 3
    assert found[70, 110] == 0


@pytest.mark.long
def test_a_network_of_the_operator_on_a_phone(chromium, fresh, tmp_path):
    session, work, _, _ = fresh
    pytest.importorskip("onnxruntime")
    (tmp_path / "e.onnx").write_bytes(encoder())
    (tmp_path / "d.onnx").write_bytes(decoder())
    networks = open_networks(tmp_path / "e.onnx", tmp_path / "d.onnx")

    def make(access):
        return make_session_desk(session, work, access, networks)

    with served_desk(make) as access, browsing(chromium, width=390, height=800) as context:
        page = open_masks(context, access)
        page.get_by_role("button", name="Network (N)").click()
        page.mouse.click(*places(page, 200, 150)(100, 60))
        proposed(page)
        check_page(page, "masks-phone")
        page.get_by_role("button", name="Take it (Enter)").click()
        standing(page, 1)
        saved(page)
    assert mask(session)[60, 100] == 3


@pytest.mark.long
def test_a_simulated_kitchen_is_masked_and_carried(chromium, labelled_session, tmp_path):
    """A rendered session: every larger surface by a polygon; the other view against the truth."""
    folder = tmp_path / "kitchen"
    shutil.copytree(labelled_session, folder)
    (folder / "labels" / "materials.png").unlink()
    session, work = open_session(folder), folder / "work"
    pair = read_pair(work, "LR")
    known = read_simulated(session.truth_folder)
    truth = exact_truth(known, pair, "LR")

    def make(access):
        return make_session_desk(session, work, access)

    picture = io.read_image(next(iter(session.passive_images("L").values())))
    height, width = picture.shape[:2]
    drawn = [number for number in (1, 2, 3) if np.count_nonzero(truth.materials == number) > 200]
    with served_desk(make) as access, browsing(chromium) as context:
        page = open_masks(context, access)
        at = places(page, width, height)
        count = 0
        for number in drawn:
            for line in outlines(truth.materials == number, pair.left):
                page.keyboard.press("p")
                page.keyboard.press(str(number))
                for x, y in line:
                    page.mouse.click(*at(x, y))
                page.keyboard.press("Enter")
                count += 1
                standing(page, count)
        saved(page)
        page.get_by_role("button", name="Carry to the other views").click()
        page.wait_for_selector("dg-carried table", timeout=120000)
        check_page(page, "masks-kitchen")
    step = json.loads((work / "masks" / "step.json").read_text())
    shares = step["figures"]["LR"]["true_iou"]
    assert shares[3] > 0.9, shares  # windows
    # Small things: at 320 px, half a pixel at their rims is a tenth of them.
    assert min(shares[number] for number in drawn) > 0.75, shares


def outlines(region, view):
    """Lines around the larger parts of a region, at whole places of the raw photograph."""
    import cv2

    lines, _ = cv2.findContours(region.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    for line in lines:
        if cv2.contourArea(line) < 60:
            continue
        corners = cv2.approxPolyDP(line, 1.0, True)[:, 0].astype(float)
        kept = [corners[0]]
        for corner in corners[1:]:
            # A click at the first corner would close the polygon, and two at one place as well.
            if np.hypot(*(corner - kept[-1])) >= 2 and np.hypot(*(corner - kept[0])) > 4:
                kept.append(corner)
        if len(kept) >= 3:
            yield view.to_raw(np.array(kept))
