"""Comparison, point cloud, light field, stereo views and charts in a browser."""

import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from PIL import Image
from tools.gallery.data import SIZE, VIEWS, noisy, scene, smooth

# A browser takes seconds; pages of the site in a browser are among the fast tests.
pytestmark = pytest.mark.long

PIXEL = "(c, [x, y]) => [...c.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)"


def shot(locator):
    return np.asarray(Image.open(io.BytesIO(locator.screenshot())).convert("RGB")).astype(int)


def settled(page, locator):
    """A screenshot, once what is drawn has stopped changing."""
    before = shot(locator)
    for _ in range(40):
        page.wait_for_timeout(60)
        after = shot(locator)
        if np.array_equal(before, after):
            return after
        before = after
    raise AssertionError("it never stops changing")


def test_values_under_the_pointer_are_those_of_the_maps(opened):
    page = opened("/compare")
    canvas = page.locator("dg-compare canvas").first
    settled(page, canvas)
    truth = scene(*SIZE)[0]
    box = canvas.bounding_box()
    for share in ((0.35, 0.6), (0.62, 0.3), (0.03, 0.04)):
        x, y = box["x"] + share[0] * box["width"], box["y"] + share[1] * box["height"]
        page.mouse.move(x, y)
        reading = page.locator(".reading").text_content()
        place, *values = reading.split(" \u00b7 ")
        column, row = (int(part.strip("xy ")) for part in place.split(","))
        assert abs(column - share[0] * SIZE[0]) < 3
        numbers = {text.split()[0]: text.split()[1] for text in values}
        # Zoomed out, the number is of a pixel of the same block.
        near = np.s_[max(0, row - 4) : row + 5, max(0, column - 4) : column + 5]
        for name, values in (("truth", truth), ("smooth", smooth(truth)), ("noisy", noisy(truth))):
            if numbers[name] == "none":
                assert np.isnan(values[near]).any()
            else:
                assert np.nanmin(values[near]) - 0.01 <= float(numbers[name])
                assert float(numbers[name]) <= np.nanmax(values[near]) + 0.01
        assert (numbers["smooth"] == "none") == (share[0] == 0.03)


def test_pictures_zoom_together_and_wipe(opened):
    page = opened("/compare")
    first, last = page.locator("dg-compare canvas").first, page.locator("dg-compare canvas").last
    whole = settled(page, last)
    first.focus()
    for key in ("+", "+", "ArrowLeft"):
        page.keyboard.press(key)
    zoomed = settled(page, last)
    assert np.abs(zoomed - whole).mean() > 5  # the other picture moved too
    page.keyboard.press("0")
    np.testing.assert_array_equal(settled(page, last), whole)
    page.get_by_role("button", name="Wipe").click()
    page.get_by_label("Second picture").select_option("image")
    page.get_by_label("wipe", exact=True).fill("25")
    wiped = settled(page, page.locator("dg-compare canvas"))
    height, width, _ = wiped.shape
    right = wiped[height // 2, int(0.9 * width)]  # bricks
    left = wiped[height // 2, int(0.05 * width)]  # the lowest colour of the scale
    assert right[0] > right[2] + 20
    np.testing.assert_allclose(left, (68, 1, 84), atol=12)


def test_differences_are_signed(opened):
    page = opened("/compare")
    page.get_by_role("button", name="Difference").click()
    canvas = page.locator("dg-compare canvas")
    picture = settled(page, canvas)
    height, width, _ = picture.shape
    truth = scene(*SIZE)[0]
    signed = truth - smooth(truth)

    def seen(row, column):
        return picture[int((row + 0.5) * height / SIZE[1]), int((column + 0.5) * width / SIZE[0])]

    flat = np.where(np.isnan(signed), 0, signed)
    highest, lowest = (np.unravel_index(of(flat), flat.shape) for of in (np.argmax, np.argmin))
    red, blue = seen(*highest), seen(*lowest)
    assert red[0] > red[2] + 40
    assert blue[2] > blue[0] + 40
    np.testing.assert_allclose(seen(60, 90), (0x2F, 0xBF, 0x71), atol=3)  # no estimate
    page.get_by_label("Second picture").select_option("image")
    assert page.get_by_role("button", name="Difference").is_disabled()


def test_points_are_seen_as_the_camera_saw_them(opened):
    page = opened("/points", width=500)
    page.get_by_role("button", name="Show in 3D").click()
    page.locator("dg-points[data-shown='153600']").wait_for()
    canvas = page.locator("dg-points canvas")
    page.get_by_label("estimate").uncheck()
    page.get_by_label("Size of points").fill("4")
    seen = settled(page, canvas)
    height, width, _ = seen.shape
    image = Image.fromarray(scene(*SIZE)[1]).resize((round(height * 4 / 3), height))
    expected = np.asarray(image).astype(int)
    left = (width - expected.shape[1]) // 2
    difference = np.abs(seen[:, left : left + expected.shape[1]] - expected)
    assert np.median(difference) < 8
    page.get_by_label("colours").select_option("disparity")
    canvas.focus()
    page.keyboard.press("0")
    coloured = settled(page, canvas)
    assert np.abs(coloured - seen).mean() > 20
    page.keyboard.press("ArrowRight")
    assert np.abs(settled(page, canvas) - coloured).mean() > 2
    page.keyboard.press("0")
    assert np.abs(settled(page, canvas) - coloured).mean() < 1


def test_a_cloud_that_is_missing_leaves_the_picture(opened, gallery):
    page = opened("/points")
    page.locator("dg-points").evaluate("each => each.setAttribute('src', 'data:,nothing')")
    page.get_by_role("button", name="Show in 3D").click()
    page.get_by_text("There is no 3D view").wait_for()
    assert page.get_by_role("img", name="A ball").is_visible()
    page.complaints.clear()  # the policy refuses such an address


def test_a_light_field_moves_and_shows_the_line(opened):
    page = opened("/lightfield")
    canvas, epi = page.locator("dg-lightfield canvas").all()[:2]
    canvas.focus()
    for key in ("ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    page.locator(f"dg-lightfield[data-loaded='{VIEWS * VIEWS}']").wait_for()
    assert "View 2 of 5 down, 4 of 5 across" in page.get_by_role("status").text_content()
    view = scene(480, 360, 0.5, -0.5)[1]
    for place in ((100, 100), (170, 215), (300, 90)):
        shown = canvas.evaluate(PIXEL, list(place))
        np.testing.assert_allclose(shown, view[place[1], place[0]], atol=40)
    for column in range(VIEWS):
        line = scene(480, 360, (column - 2) / 2, -0.5)[1][180]
        strip = [epi.evaluate(PIXEL, [x, 10 * column + 5]) for x in (60, 130, 200, 330)]
        np.testing.assert_allclose(strip, line[[60, 130, 200, 330]], atol=60)
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] - 600, box["y"] + 200)
    page.mouse.up()
    assert "5 of 5 across" in page.get_by_role("status").text_content()


def test_stereo_views(opened):
    page = opened("/stereo")
    page.get_by_role("button", name="Anaglyph").click()
    canvas = page.locator("dg-stereo canvas")
    left, right = (scene(480, 360, step, 0)[1] for step in (-0.5, 0.5))
    for x, y in ((40, 40), (300, 90), (170, 215)):
        expected = [left[y, x, 0], *right[y, x, 1:]]
        np.testing.assert_allclose(canvas.evaluate(PIXEL, [x, y]), expected, atol=40)
    page.get_by_label("shift").fill("20")
    shown = canvas.evaluate(PIXEL, [170, 215])
    np.testing.assert_allclose(shown, [left[215, 180, 0], *right[215, 160, 1:]], atol=40)
    page.get_by_role("button", name="Wiggle").click()
    eye = page.locator("dg-stereo")
    page.wait_for_timeout(400)
    assert eye.get_attribute("data-eye") == "left"  # less motion was asked for
    page.get_by_role("button", name="Play").click()
    page.locator("dg-stereo[data-eye=right]").wait_for()
    page.get_by_role("button", name="Pause").click()


def test_charts_are_saved_with_their_colours(opened):
    page = opened("/chart")

    def saved(kind):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Download as {kind}").click()
        assert download.value.suggested_filename == f"threshold-curves.{kind.lower()}"
        return download.value.path().read_bytes()

    text = saved("SVG").decode()
    root = ElementTree.fromstring(text)
    assert not root.findall(".//*[@class]")
    assert "var(" not in text
    assert "rgb(0, 114, 178)" in text  # the first method's
    picture = np.asarray(Image.open(io.BytesIO(saved("PNG"))).convert("RGB"))
    width, height = (float(root.attrib[name]) for name in ("width", "height"))
    assert picture.shape[:2] == (round(3 * height), round(3 * width))
    assert (np.abs(picture.astype(int) - (0, 114, 178)).max(-1) < 8).sum() > 500


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("name", "button", "width", "scheme"),
    [
        ("compare", "Wipe", 390, "light"),
        ("points", "Show in 3D", 390, "dark"),
        ("lightfield", None, 390, "dark"),
        ("stereo", "Wiggle", 2560, "light"),
        ("chart", None, 390, "light"),
        pytest.param("compare", "Difference", 2560, "dark", marks=LONG),
        pytest.param("points", "Show in 3D", 2560, "light", marks=LONG),
        pytest.param("lightfield", None, 2560, "light", marks=LONG),
        pytest.param("stereo", "Anaglyph", 390, "dark", marks=LONG),
        pytest.param("chart", None, 2560, "dark", marks=LONG),
    ],
)
def test_viewers_are_accessible(opened, accessible, name, button, width, scheme):
    page = opened(f"/{name}", width=width, scheme=scheme)
    page.locator(f"dg-{name} canvas, dg-{name} button").first.wait_for()
    if button is not None:
        page.get_by_role("button", name=button).click()
    accessible(page)


def test_without_scripts_there_are_pictures(opened):
    page = opened("/compare", scripts=False)
    for name, count in (("compare", 4), ("points", 1), ("lightfield", 1), ("stereo", 2)):
        page.get_by_role("link", name=name).click()
        page.wait_for_url(f"**/{name}")
        images = page.locator("main img")
        assert images.count() == count
        assert all(image.is_visible() for image in images.all())


def test_twelve_megapixels_load_only_what_is_seen(opened, tmp_path):
    from depthgauge.report.pictures.tiles import write_value_tiles

    truth = scene(4000, 3000)[0]
    write_value_tiles(tmp_path / "truth", truth, "px")
    write_value_tiles(tmp_path / "noisy", noisy(truth), "px")
    page = opened("/stereo")
    asked = []

    def answer(route):
        path = tmp_path / route.request.url.split("/large/")[1]
        asked.append(path)
        route.fulfill(path=path)

    page.route("**/large/**", answer)
    figures = [
        f"<figure data-tiles='/large/{name}/tiles.json'><figcaption>{name}</figcaption></figure>"
        for name in ("truth", "noisy")
    ]
    page.route(
        "**/compare",
        lambda route: route.fulfill(
            body=route.fetch()
            .text()
            .replace('<div class="sides">', f'<div class="sides">{"".join(figures)}')
        ),
    )
    page.goto(page.url.replace("stereo", "compare"))
    page.locator("dg-compare canvas").nth(5).wait_for()
    canvas = page.locator("dg-compare canvas").first
    settled(page, canvas)
    whole = len(asked)
    assert whole < 20
    canvas.focus()
    for _ in range(12):
        page.keyboard.press("+")
    settled(page, canvas)
    assert len(asked) - whole < 120
    page.mouse.move(*(canvas.bounding_box()[name] + 60 for name in ("x", "y")))
    place, first, *_ = page.locator(".reading").text_content().split(" \u00b7 ")
    column, row = (int(part.strip("xy ")) for part in place.split(","))
    assert float(first.split()[1]) == pytest.approx(truth[row, column], rel=1e-3)


def test_the_wheel_zooms_a_chosen_picture_and_else_scrolls(opened):
    page = opened("/compare", width=390)
    canvas = page.locator("dg-compare canvas").first
    whole = settled(page, canvas)
    canvas.hover()
    page.mouse.wheel(0, 100)
    page.wait_for_timeout(150)
    assert page.evaluate("scrollY") > 0
    page.evaluate("scrollTo(0, 0)")
    canvas.click()
    page.mouse.wheel(0, -300)
    assert np.abs(settled(page, canvas) - whole).mean() > 3
    assert page.evaluate("scrollY") == 0
