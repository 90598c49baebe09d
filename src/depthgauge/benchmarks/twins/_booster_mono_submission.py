"""What can be wrong with inverse depths for Booster's single pictures, before they are scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from depthgauge.benchmarks.twins import Fault
from depthgauge.datasets import DATASETS, find_estimate
from depthgauge.errors import DepthgaugeError
from depthgauge.io import read_map
from depthgauge.types import Map, Sample

SUFFIXES = ("npy", "png")
LEFT = "camera_00"
_WHOLE = "submission"


def check_submission(root: Path, samples: Mapping[str, Sample]) -> Iterator[Fault]:
    """Every problem of a folder of estimates, in the order of the pictures.

    Args:
        root: The folder of estimates.
        samples: The pictures of the data by id; where there are none, what is in the folder is
            looked at.
    """
    found = _found(root)
    if not samples and not found:
        yield Fault(
            _WHOLE,
            f"there is no <Scene>/{LEFT}/*.npy in it.",
            f"Write an inverse depth for each picture, e.g. Bathroom/{LEFT}/im0.npy.",
        )
    wanted = {**dict.fromkeys(samples), **found}
    for sample_id in wanted:
        try:
            path = find_estimate(root, DATASETS["booster"], sample_id, "disparity")
        except DepthgaugeError as error:
            yield Fault(sample_id, str(error), "Keep one of them.")
            continue
        if path is None:
            yield Fault(sample_id, "there is no estimate.", "Without it there is no mean at all.")
            continue
        yield from _check_map(path, sample_id)


def _found(root: Path) -> dict[str, None]:
    """The ids of all estimates that lie where the script looks."""
    paths = sorted(root.glob(f"*/{LEFT}/*"))
    named = [path for path in paths if path.suffix[1:] in SUFFIXES]
    return dict.fromkeys(f"{path.parent.parent.name}/{path.stem}" for path in named)


def _check_map(path: Path, sample_id: str) -> Iterator[Fault]:
    try:
        values = read_map(path, quantity="disparity", raw=True)
    except DepthgaugeError as error:
        yield Fault(sample_id, str(error), "Write the map again.")
        return
    yield from _check_values(path.name, values, sample_id)


def _check_values(name: str, values: Map, sample_id: str) -> Iterator[Fault]:
    known = np.isfinite(values)
    if lost := int(values.size - known.sum()):
        yield Fault(
            sample_id,
            f"{lost} pixels of {name} are NaN or infinite.",
            "One of them, where the truth is known, makes all scores of the picture the worst; "
            "write an estimate at every pixel.",
        )
    if not known.any():
        return
    if np.ptp(values[known]) == 0:
        yield Fault(
            sample_id,
            f"all values of {name} are {values[known][0]:g}.",
            "An estimate that does not vary has no scale.",
        )
