"""A session up to `refine`, with a wrong patch floating before the wall."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.steps import StepOutput, do_step
from depthgauge.sessions import Session


@dataclass
class Edited:
    session: Session
    work: Path


@pytest.fixture(scope="session")
def edited(world, tmp_path_factory):
    return begin_edited(world, tmp_path_factory.mktemp("edited"))


def begin_edited(world, work):
    """The exact maps, but both views see a patch that is not there, well enough to pass."""
    world.begin(work)

    patch = slice(20, 50), slice(40, 75)
    left, right = (world.exact[name].disparity.copy() for name in ("LR", "RL"))
    spreads = {side: np.full(left.shape, 0.01, np.float32) for side in ("left", "right")}
    left[patch] += 12.0
    spreads["left"][patch] = 0.36
    rows, columns = np.mgrid[patch]
    matched = np.rint(columns - left[patch]).astype(int)
    right[rows, matched] = left[patch]
    spreads["right"][rows, matched] = 0.36
    spreads["left"][65:80, 90:105] = 0.25  # uncertain, and right

    def make(folder):
        for side, values in (("left", left), ("right", right)):
            io.write_map(folder / f"{side}_disparity.npy", values)
            io.write_map(folder / f"{side}_variance.npy", spreads[side])
            io.write_map(folder / f"{side}_confidence.npy", np.ones_like(values))
        return StepOutput({})

    do_step(work, "refine", make, revision=1, options={})
    return Edited(world.session, work)
