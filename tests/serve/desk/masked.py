"""A small session whose pictures show its materials, and what tests do on the page of its mask."""

import json
from dataclasses import replace

import numpy as np
from tests.capture.conftest import make_world

from depthgauge import io
from depthgauge.capture.steps import StepOutput, do_step

COLOURS = np.array([[130, 110, 90], [90, 140, 150], [200, 190, 60], [40, 40, 40]], np.float32)
"""Of wall, floor and board; the last is nothing."""


def drawable(folder):
    """The session, its work folder, and the exact world."""
    world = make_world(folder)
    work = folder / "work"

    def rectify(made):
        for name, pair in world.pairs.items():
            io.write_text(made / f"{name}.json", json.dumps(pair.to_json()))
        for letter, exact in (("L", "LR"), ("R", "RL")):
            (made / "LR" / letter).mkdir(parents=True)
            for k, gain in enumerate((1.0, 0.6)):
                picture = photographed(world.exact[exact].objects, gain)
                io.write_image(made / "LR" / letter / f"im{k}.png", picture)
        return StepOutput({})

    do_step(work, "rectify", rectify, revision=1, options={})
    world.clean(work, world.exact["LR"].disparity, world.exact["RL"].disparity)
    return replace(world.session, labels_on="rectified"), work, world


def photographed(objects, gain):
    noise = np.random.default_rng(5).normal(0, 3, (*objects.shape, 3))
    return np.clip(gain * COLOURS[objects] + noise, 0, 255).astype(np.uint8)


def open_masks(context, access):
    page = context.new_page()
    page.goto(access.address)
    page.goto(f"http://127.0.0.1:{access.port}/masks")
    page.wait_for_selector("dg-masks[data-ready][data-picture]")
    return page


def places(page, width, height):
    """Pixels of the picture to places of the window; the whole picture is seen."""
    box = page.locator("dg-masks canvas.over").bounding_box()
    scale = min(box["width"] / width, box["height"] / height)

    def at(x, y):
        return (
            box["x"] + box["width"] / 2 + (x + 0.5 - width / 2) * scale,
            box["y"] + box["height"] / 2 + (y + 0.5 - height / 2) * scale,
        )

    return at


def standing(page, count):
    page.wait_for_selector(f'dg-masks[data-standing="{count}"]')


def saved(page):
    page.get_by_text("Everything is saved.").wait_for()


def proposed(page):
    page.wait_for_selector("dg-masks[data-proposed]")


def shown(page, shape):
    """The labels as the page has them."""
    values = page.evaluate("Array.from(document.querySelector('dg-masks').labels)")
    return np.array(values, np.uint8).reshape(shape)


def mask(session):
    return io.read_labels(session.folder / "labels" / "materials.png")
