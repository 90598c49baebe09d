"""A hand that draws on the page with the mouse, and a desk that is served while a test runs."""

import math
import threading
from contextlib import contextmanager

import uvicorn

from depthgauge.serve.desk.access import Access
from depthgauge.serve.desk.app import make_desk
from depthgauge.serve.desk.running import bound

ARROW_PX, MARGIN_PX = 80, 12
"""As the page has them."""
TOKEN = "t" * 30


@contextmanager
def served(folder, who="ann", port=0):
    """Serves a desk as long as the block lasts; gives its access."""
    with bound(port) as listening:
        access = Access(listening.getsockname()[1], TOKEN)
        app = make_desk(folder, who, access)
        # What is being answered is finished: a page would complain about an answer that is cut off.
        config = uvicorn.Config(
            app, log_level="error", lifespan="off", ws="none", timeout_graceful_shutdown=20
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield access
        server.should_exit = True
        thread.join()


class Hand:
    """Draws an annotation as a person would: tools by keys, lines and arrows by the mouse."""

    def __init__(self, page, size_px, focal_px):
        self.page = page
        self.size_px, self.focal_px = size_px, focal_px
        self.sheet = page.locator("dg-draw canvas.sheet")
        box = self.sheet.bounding_box()
        self.middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        inner = box["width"] - 2 * MARGIN_PX, box["height"] - 2 * MARGIN_PX
        self.zoom = min(a / b for a, b in zip(inner, size_px, strict=True))

    def place(self, point):
        """Where a point of the photograph is on the page."""
        return tuple(
            middle + (value + 0.5 - size / 2) * self.zoom
            for middle, value, size in zip(self.middle, point, self.size_px, strict=True)
        )

    def point(self, x, y):
        """The other way."""
        return tuple(
            (value - middle) / self.zoom + size / 2 - 0.5
            for middle, value, size in zip(self.middle, (x, y), self.size_px, strict=True)
        )

    def key(self, key):
        self.sheet.focus()
        self.page.keyboard.press(key)

    def click(self, point):
        self.page.mouse.click(*self.place(point))

    def line(self, key, points):
        self.key(key)
        for point in points:
            self.click(point)
        if points[0] != points[-1]:
            self.key("Enter")

    def tip(self, at, normal):
        """Where the tip of an arrow is seen, in pixels of the photograph."""
        middle = [(size - 1) / 2 for size in self.size_px]
        reach = ARROW_PX / self.zoom / self.focal_px
        foot = [(at[k] - middle[k]) / self.focal_px for k in (0, 1)] + [1.0]
        x, y, z = (f + reach * n for f, n in zip(foot, normal, strict=True))
        return tuple(middle[k] + self.focal_px * v / z for k, v in ((0, x), (1, y)))

    def arrow(self, at, normal):
        self.page.mouse.move(*self.place(at))
        self.page.mouse.down()
        self.page.mouse.move(*self.place(self.tip(at, normal)), steps=2)
        self.page.mouse.up()
        self.page.keyboard.press("Escape")  # else the next press may hold its tip

    def draw(self, annotation):
        """Everything of an annotation, in the order in which people draw."""
        self.key("e")  # nothing snaps: the points are exact
        side = "right"
        for stroke in annotation.strokes.values():
            key = "f" if stroke.kind == "fold" else "s" if stroke.smooth else "o"
            self.line(key, stroke.points_px)
            if stroke.closer is not None and stroke.closer != side:
                self.key("x")
                side = stroke.closer
        self.settle()
        for mark in annotation.surfaces.values():
            self.key("p" if mark.shape == "planar" else "c")
            self.click(mark.at_px)
        self.key("n")
        for normal in annotation.normals.values():
            self.arrow(normal.at_px, normal.normal)
        self.settle()
        self.key("l")
        for relation in annotation.relations.values():
            if relation.kind == "neither":
                continue
            self.page.get_by_label(relation.kind, exact=True).check()
            for mark in (relation.first, relation.second):
                self.click(annotation.surfaces[mark].at_px)
        self.settle()

    def settle(self):
        """Waits until everything is stored and the preview has it."""
        self.page.get_by_text("Saved.", exact=True).wait_for()
        count = self.page.evaluate(
            "async () => (await (await fetch(document.querySelector('dg-draw').dataset.events "
            "+ '?tab=test&since=1000000')).json()).revision"
        )
        self.page.locator(f'dg-draw[data-revision="{count}"]').wait_for(timeout=20000)


def angle_deg(a, b):
    cosine = sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
