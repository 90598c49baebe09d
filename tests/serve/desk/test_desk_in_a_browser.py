"""Drawing in a real browser, by mouse and by keys, under the desk's own policy."""

import numpy as np
import pytest
from tests.serve.desk.browsing import wait_until
from tests.serve.desk.hand import Hand, angle_deg, served
from tools.web import WEB

from depthgauge import io
from depthgauge.annotate.quality.exact_error import exact_errors
from depthgauge.annotate.reconstruct import reconstruct
from depthgauge.annotate.records import history, read_records
from depthgauge.annotate.simulate import NONE, simulate
from depthgauge.synth.sets.single_views import make_view

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
BUDGET_PERCENT = {"planar": 1.0, "curved": 2.0}
"""Of the simulated annotator without noise (tools/evidence/oasis_reconstruction.py)."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "photographs"


def photographed(folder, kind="planar", seed=3, size=(160, 120)):
    """A scene with exact geometry as a photograph; its camera wrote no focal length."""
    view = make_view(kind, seed, size)
    folder.mkdir(exist_ok=True)
    io.write_image(folder / "scene.png", view.image)
    return view


@pytest.fixture
def opened(chromium):
    """Opens the page to draw on; at the end, no page may have complained about anything."""
    contexts, trouble = [], []

    def note(message):
        # What the browser itself says: pixels are slow to read, a server is gone, a disk is full.
        usual = ("GL Driver Message", "readback", "ERR_CONNECTION_REFUSED", "status of 507")
        if not any(text in message.text for text in usual):
            trouble.append(message.text)

    def opened(access, name="scene", *, width=1300, height=900, scheme="light", context=None):
        if context is None:
            context = chromium.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15000)
        page.on("console", note)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(access.address)
        page.goto(access.address.partition("?")[0] + f"draw/{name}")
        page.locator("dg-draw[data-previews]").wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


def records(folder, name="scene"):
    return folder / "records" / "ann" / f"{name}.jsonl"


def accessible(page):
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    if AXE.exists():
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate(
            "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', "
            "'best-practice']}).then(r => r.violations.map(v => v.id + ': ' "
            "+ v.nodes.map(n => n.html + ' ' + n.failureSummary).join(' | ')))"
        )
        assert found == []


def test_a_line_a_normal_and_undo(folder, opened):
    photographed(folder)
    with served(folder) as access:
        page = opened(access)
        hand = Hand(page, (160, 120), 192.0)
        hand.key("e")
        hand.line("o", [(80, -2), (82, 60), (80, 121)])
        hand.key("x")
        hand.key("n")
        hand.arrow((40, 60), (0.5, 0.1, -0.86))
        hand.settle()
        told = history(records(folder))
        assert [record.event for record in told.records] == ["stroke", "stroke", "normal"]
        drawn = told.annotation
        (stroke,), (normal,) = drawn.strokes.values(), drawn.normals.values()
        assert stroke.closer == "left"
        assert len(stroke.points_px) == 3
        assert abs(stroke.points_px[1][0] - 82) < 0.2
        assert angle_deg(normal.normal, (0.5, 0.1, -0.86)) < 1.5
        page.get_by_role("button", name="has no normal").wait_for()  # exactly one
        for _ in range(3):
            page.keyboard.press("Control+z")
        hand.settle()
        assert read_records(records(folder)).strokes == {}
        page.keyboard.press("Control+y")
        page.keyboard.press("Control+Shift+z")
        hand.settle()
        assert read_records(records(folder)).strokes == drawn.strokes
        # Another visit shows what the records say.
        again = opened(access)
        again.get_by_text("1 lines, 0 normals").wait_for()
        accessible(again)


@pytest.mark.long
def test_everything_works_by_keys(folder, opened):
    photographed(folder)
    with served(folder) as access:
        page = opened(access)
        hand = Hand(page, (160, 120), 192.0)
        hand.key("e")
        hand.key("f")
        page.keyboard.press("Space")  # in the middle of the picture
        for _ in range(3):
            page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        hand.key("n")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Space")
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("Space")
        hand.settle()
        drawn = read_records(records(folder))
        (fold,), (normal,) = drawn.strokes.values(), drawn.normals.values()
        step = 72 / hand.zoom
        assert fold.points_px[1][0] - fold.points_px[0][0] == pytest.approx(step, abs=0.1)
        assert normal.normal[0] < -0.2
        page.keyboard.press(",")  # before the normal, which is chosen: the fold
        page.keyboard.press("]")
        page.keyboard.press("Space")
        page.keyboard.press("Shift+ArrowUp")
        page.keyboard.press("Space")
        hand.settle()
        (moved,) = read_records(records(folder)).strokes.values()
        assert moved.points_px[1] == fold.points_px[1]
        assert moved.points_px[0][1] < fold.points_px[0][1] - 3
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        assert page.get_by_text("Keys and gestures").is_visible()
        accessible(page)
        hand.key(".")
        page.keyboard.press("Delete")
        hand.settle()


@pytest.mark.long
@pytest.mark.parametrize(("kind", "seed"), [("planar", 3), ("curved", 2)])
def test_what_a_mouse_draws_is_as_good_as_the_simulated_annotator(folder, opened, kind, seed):
    view = photographed(folder, kind, seed, (240, 180))
    wanted = simulate(view, NONE)
    with served(folder) as access:
        page = opened(access, width=1700, height=1200)
        page.keyboard.press("Tab")
        hand = Hand(page, view.size_px, view.focal_px)
        hand.key("k")
        page.get_by_label("Focal length", exact=False).and_(page.locator("input")).fill(
            f"{view.focal_px:.3f}"
        )
        page.keyboard.press("Enter")
        hand = Hand(page, view.size_px, view.focal_px)
        hand.draw(wanted)
    drawn = read_records(records(folder))
    assert len(drawn.strokes) == len(wanted.strokes)
    assert len(drawn.normals) == len(wanted.normals)
    made = exact_errors(view, reconstruct(drawn))
    best = exact_errors(view, reconstruct(wanted))
    assert made.edist_percent < BUDGET_PERCENT[kind], (made.edist_percent, best.edist_percent)


def test_nothing_is_lost_without_a_server(folder, opened):
    photographed(folder)
    with served(folder) as access:
        page = opened(access)
        hand = Hand(page, (160, 120), 192.0)
        hand.key("e")
        hand.line("f", [(10, 60), (150, 60)])
        hand.settle()
        port = access.port
    # The server is gone: what is drawn waits in the browser.
    hand.line("f", [(80, 10), (80, 50)])
    page.get_by_text("Not saved.").wait_for()
    page.get_by_text("1 change is kept in this browser").wait_for()
    context = page.context
    page.close()  # and the laptop, too
    assert len(history(records(folder)).records) == 1
    with served(folder, port=port) as access:
        again = opened(access, context=context)
        again.get_by_text("2 lines, 0 normals").wait_for()
        Hand(again, (160, 120), 192.0).settle()
        kept = context.pages[-1].evaluate("Object.keys(localStorage).length")
        assert kept == 0
    assert len(history(records(folder)).records) == 2


@pytest.mark.long
def test_two_tabs_see_each_other(folder, opened):
    photographed(folder)
    with served(folder) as access:
        first = opened(access)
        second = opened(access, context=first.context)
        hand = Hand(second, (160, 120), 192.0)
        hand.key("e")
        hand.line("f", [(10, 60), (150, 60)])
        first.bring_to_front()
        first.get_by_text("open in another tab").wait_for()
        first.get_by_text("1 lines, 0 normals").wait_for()
        # Where the other tab points is shown, too.
        place = "document.querySelector('dg-draw').others()[0]?.at_px ?? null"
        wait_until(first, f"{place} !== null")
        assert first.evaluate(place) == pytest.approx([150, 60], abs=1)
        other = Hand(first, (160, 120), 192.0)
        other.key("e")
        other.line("f", [(80, 10), (80, 50)])
        other.settle()
        second.bring_to_front()
        second.get_by_text("2 lines, 0 normals").wait_for()
        # Undo takes back what was drawn here, not what the other tab drew.
        second.keyboard.press("Control+z")
        hand.settle()
        (left,) = read_records(records(folder)).strokes.values()
        assert left.points_px[0][0] == pytest.approx(80, abs=0.3)


@pytest.mark.long
def test_lines_snap_to_edges_of_the_picture_and_to_each_other(folder, opened):
    folder.mkdir()
    picture = np.full((120, 160, 3), 40, np.uint8)
    picture[:, 90:] = 210
    io.write_image(folder / "scene.png", picture)
    with served(folder) as access:
        page = opened(access)
        hand = Hand(page, (160, 120), 192.0)
        hand.line("o", [(88.8, 20), (90.3, 100)])
        hand.key("f")
        hand.click((20, 60))
        hand.click((88.3, 61))
        hand.key("Enter")
        hand.line("f", [(0.8, 30), (20, 30)])
        hand.settle()
        first, second, third = read_records(records(folder)).strokes.values()
        for x, _ in first.points_px:
            assert x == pytest.approx(89.5, abs=0.6)  # between the dark and the bright column
        (x0, y0), (x1, y1) = first.points_px
        x, y = second.points_px[-1]
        assert x == pytest.approx(x0 + (x1 - x0) * (y - y0) / (y1 - y0), abs=0.02)
        assert third.points_px[0][0] == 0
        # Followed from corner to corner, a line takes the way of the edge.
        hand.key("t")
        hand.key("o")
        hand.click((90, 5))
        hand.click((90, 115))
        hand.key("Enter")
        hand.settle()
        followed = list(read_records(records(folder)).strokes.values())[-1]
        assert all(abs(x - 89.5) < 1.2 for x, _ in followed.points_px)


@pytest.mark.long
def test_planes_and_relations_by_clicks(folder, opened):
    photographed(folder)
    with served(folder) as access:
        page = opened(access)
        hand = Hand(page, (160, 120), 192.0)
        hand.key("e")
        hand.line("f", [(80, -2), (80, 121)])
        hand.settle()
        hand.key("p")
        hand.click((40, 60))
        hand.settle()
        hand.key("c")
        hand.click((30, 30))  # the same surface: its mark changes
        hand.key("p")
        hand.click((30, 30))
        hand.settle()
        hand.key("l")
        page.get_by_label("orthogonal", exact=True).check()
        hand.click((40, 60))
        hand.click((120, 60))  # becomes planar by this
        hand.settle()
        drawn = read_records(records(folder))
        assert [mark.shape for mark in drawn.surfaces.values()] == ["planar", "planar"]
        (relation,) = drawn.relations.values()
        assert relation.kind == "orthogonal"
        page.get_by_label("parallel", exact=True).check()
        hand.click((120, 60))
        hand.click((40, 60))
        hand.settle()
        (relation,) = read_records(records(folder)).relations.values()
        assert relation.kind == "parallel"  # the same pair has one relation


@pytest.mark.long
def test_a_focal_length_from_two_pairs_of_edges(folder, opened):
    photographed(folder)
    # Edges of a box turned by 35 degrees, seen with a focal length of 150 px from above.
    focal, angle, tilt = 150.0, np.deg2rad(35), np.deg2rad(25)
    down = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    ways = [down @ (np.cos(a), 0, np.sin(a)) for a in (angle, angle + np.pi / 2)]
    corner = np.array([0.0, 0.0, 3.4])

    def seen(point):
        return tuple(focal * point[:2] / point[2] + (79.5, 59.5))

    lines = []
    for way, other in (ways, ways[::-1]):
        for shift in (-0.9, 0.5):
            start = corner + shift * other
            lines.append((seen(start - 0.8 * way), seen(start + 0.8 * way)))
    with served(folder) as access:
        page = opened(access)
        hand = Hand(page, (160, 120), 192.0)
        hand.key("k")
        page.get_by_text("assumed, because").wait_for()
        hand = Hand(page, (160, 120), 192.0)
        for start, end in lines:
            page.mouse.move(*hand.place(start))
            page.mouse.down()
            page.mouse.move(*hand.place(end), steps=3)
            page.mouse.up()
        page.get_by_text("The focal length is").wait_for()
        hand.settle()
    found = read_records(records(folder)).focal
    assert found.source == "given"
    assert found.focal_px == pytest.approx(focal, rel=0.05)


@pytest.mark.long
def test_a_line_of_one_point_is_said_and_not_kept(folder, opened):
    photographed(folder)
    with served(folder) as access:
        page = opened(access)
        hand = Hand(page, (160, 120), 192.0)
        hand.key("o")
        hand.click((50, 50))
        hand.key("Enter")
        page.get_by_text("A line needs two points").wait_for()
        hand.key("r")
        hand.click((50, 50))
        hand.click((70, 50))
        hand.key("Enter")
        page.get_by_text("A region needs three corners").wait_for()
        assert not records(folder).exists()
        hand.line("r", [(5, 5), (150, 5), (150, 110), (5, 110)])
        hand.settle()
        assert len(read_records(records(folder)).region_px) == 4


@pytest.mark.long
def test_a_full_disk_is_said(folder, opened, monkeypatch):
    from depthgauge.errors import CannotWrite
    from depthgauge.serve.desk import drawings

    photographed(folder)

    def full(path, record):
        raise CannotWrite(f"{path.name}: cannot be written: No space left on device.")

    with served(folder) as access:
        page = opened(access)
        hand = Hand(page, (160, 120), 192.0)
        hand.key("e")
        with monkeypatch.context() as patched:
            patched.setattr(drawings, "append_record", full)
            hand.line("f", [(10, 60), (150, 60)])
            page.get_by_text("No space left on device").wait_for()
            hand.line("f", [(80, 10), (80, 50)])
            page.get_by_text("2 changes are kept in this browser").wait_for()
        hand.settle()  # there is space again: everything is sent
    assert len(read_records(records(folder)).strokes) == 2


@pytest.mark.long
def test_a_pen_draws_while_the_hand_rests_on_the_screen(folder, opened):
    photographed(folder)
    with served(folder) as access:
        page = opened(access)
        hand = Hand(page, (160, 120), 192.0)
        hand.key("e")
        hand.key("f")
        page.locator("canvas.sheet").evaluate(
            """canvas => {
                const box = canvas.getBoundingClientRect();
                const send = (kind, type, id, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
                    pointerId: id, pointerType: kind, button: 0, bubbles: true,
                    clientX: box.left + x * box.width, clientY: box.top + y * box.height}));
                canvas.setPointerCapture = () => undefined;
                send('pen', 'pointerdown', 3, 0.3, 0.3);
                send('touch', 'pointerdown', 11, 0.8, 0.8);
                for (let k = 1; k <= 20; k += 1) {
                    send('pen', 'pointermove', 3, 0.3 + 0.02 * k, 0.3);
                    send('touch', 'pointermove', 11, 0.8, 0.8 + 0.002 * k);
                }
                send('touch', 'pointercancel', 11, 0.8, 0.84);
                send('touch', 'pointerdown', 12, 0.8, 0.8);
                send('touch', 'pointerup', 12, 0.8, 0.84);
                send('pen', 'pointerup', 3, 0.7, 0.3);
            }"""
        )
        hand.settle()
        (line,) = read_records(records(folder)).strokes.values()
        xs = [x for x, _ in line.points_px]
        assert max(xs) - min(xs) > 50  # of 160; the palm has neither drawn nor moved anything
        assert max(y for _, y in line.points_px) - min(y for _, y in line.points_px) < 1


@pytest.mark.long
def test_fingers_move_and_enlarge_the_picture(folder, opened):
    photographed(folder)
    with served(folder) as access:
        page = opened(access)
        before = page.locator("canvas.sheet").screenshot()
        page.locator("canvas.sheet").evaluate(
            """canvas => {
                const box = canvas.getBoundingClientRect();
                const send = (type, id, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
                    pointerId: id, pointerType: 'touch', button: 0, bubbles: true,
                    clientX: box.left + x, clientY: box.top + y}));
                canvas.setPointerCapture = () => undefined;
                send('pointerdown', 11, 200, 200);
                send('pointerdown', 12, 300, 200);
                send('pointermove', 12, 400, 200);
                send('pointerup', 12, 400, 200);
                send('pointerup', 11, 200, 200);
            }"""
        )
        page.wait_for_timeout(200)
        assert page.locator("canvas.sheet").screenshot() != before
        assert not records(folder).exists()  # two fingers draw nothing


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1300, "dark"), (2560, "dark")])
def test_pages_are_accessible(folder, opened, width, scheme):
    photographed(folder)
    with served(folder) as access:
        page = opened(access, width=width, scheme=scheme)
        for key in ("l", "k", "?"):
            Hand(page, (160, 120), 192.0).key(key)
            accessible(page)
        page.goto(access.address)
        accessible(page)
