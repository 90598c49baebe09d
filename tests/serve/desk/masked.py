"""A small session whose pictures show its materials: a wall, a floor and a board in front."""

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
                picture = shown(world.exact[exact].objects, gain)
                io.write_image(made / "LR" / letter / f"im{k}.png", picture)
        return StepOutput({})

    do_step(work, "rectify", rectify, revision=1, options={})
    world.clean(work, world.exact["LR"].disparity, world.exact["RL"].disparity)
    return replace(world.session, labels_on="rectified"), work, world


def shown(objects, gain):
    noise = np.random.default_rng(5).normal(0, 3, (*objects.shape, 3))
    return np.clip(gain * COLOURS[objects] + noise, 0, 255).astype(np.uint8)
