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

    def make(folder):
        for side, exact in (("left", world.exact["LR"]), ("right", world.exact["RL"])):
            values = exact.disparity.copy()
            spread = np.full(values.shape, 0.01, np.float32)
            patch = slice(20, 45), slice(20, 45)
            values[patch] += 12.0
            spread[patch] = 0.36
            spread[90:100, 90:100] = 0.25
            io.write_map(folder / f"{side}_disparity.npy", values)
            io.write_map(folder / f"{side}_variance.npy", spread)
            io.write_map(folder / f"{side}_confidence.npy", np.ones_like(values))
        return StepOutput({})

    do_step(work, "refine", make, revision=1, options={})
    return Edited(world.session, work)
