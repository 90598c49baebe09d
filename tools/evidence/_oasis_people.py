"""How far simulated people are from each other and from a simulated sensor, as in table 1.

The paper's photographs are NYU's, its sensor a Kinect. Distances are in percent of the mean depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from depthgauge.annotate.quality.agreement import AgreementTable, agreement
from depthgauge.annotate.quality.witnesses import Witness, human, measured
from depthgauge.annotate.simulate.annotator import HUMAN, simulate
from depthgauge.synth.sets.single_views import KINDS, ExactView, make_view
from depthgauge.types import Map
from tools._measured import table
from tools.evidence import Number

SIZE_PX = (320, 240)
PEOPLE, SEEDS = 3, (60, 61, 62)
"""People a picture, and the pictures of each kind; the camera is held by hand. `HUMAN` was fitted
on pictures 20 and 21 of each kind."""
SENSOR_DEG = 6.0
"""Mean error of the simulated sensor's normals; those of a Kinect are rough as well."""
_NYU_DEPTH_M = 2.47
_COMPARISONS = {"human-human": "people and people", "human-sensor": "people and sensor"}
ROWS: Mapping[str, tuple[str, tuple[float, float], tuple[float, float]]] = {
    "angle_deg": ("normals, degrees", (13.13, 17.82), (7.0, 8.5)),
    "edist_surfaces": (
        "EDist, % of the mean depth",
        (100 * 0.078 / _NYU_DEPTH_M, 100 * 0.095 / _NYU_DEPTH_M),
        (1.5, 1.5),
    ),
    "edist_rotated": (
        "EDist after the best rotation, % of the mean depth",
        (100 * 0.037 / _NYU_DEPTH_M, 100 * 0.048 / _NYU_DEPTH_M),
        (1.2, 1.2),
    ),
    "wkdr_percent": ("WKDR of pairs that differ by 1 %, %", (5.7, 8.7), (6.0, 5.0)),
}
"""Of a measure: its name, table 1 (people and people, people and sensor), and how far off is
allowed. The budgets were set before these pictures were measured."""


def people_numbers(seeds: tuple[int, ...] = SEEDS, people: int = PEOPLE) -> Iterator[Number]:
    """All rows, each beside the paper's."""
    found = agreement(
        (view.id, _witnesses(view, people))
        for view in (make_view(k, n, SIZE_PX, held=True) for k in KINDS for n in seeds)
    )
    for measure, (name, paper, budgets) in ROWS.items():
        for comparison, wanted, budget in zip(_COMPARISONS, paper, budgets, strict=True):
            value = _value(found, comparison, measure)
            yield Number(f"{_COMPARISONS[comparison]}: {name}", value, wanted, budget)


def people_names() -> list[str]:
    """Names of the numbers that the page shows."""
    return [f"{who}: {name}" for who in _COMPARISONS.values() for name, _, _ in ROWS.values()]


def people_table(numbers: Mapping[str, float]) -> str:
    """Rows for the page."""
    rows = []
    for name, paper, _ in ROWS.values():
        both = [numbers[f"{who}: {name}"] for who in _COMPARISONS.values()]
        rows.append([name, *(f"{value:.1f}" for value in (both[0], paper[0], both[1], paper[1]))])
    head = ["people and people", "table 1", "people and sensor", "table 1"]
    return table(["", *head], rows)


def _witnesses(view: ExactView, people: int) -> list[Witness]:
    found = [human(simulate(view, HUMAN, person)) for person in range(1, people + 1)]
    rough = rough_normals(view.normals, SENSOR_DEG)
    return [*found, measured("sensor", "sensor", view.depth, view.camera, normals=rough)]


def rough_normals(normals: Map, mean_deg: float) -> Map:
    """Every normal leaned to a random side, by angles of this mean."""
    rng = np.random.default_rng(85)
    spread = np.radians(mean_deg) / np.sqrt(np.pi / 2)
    sides = rng.normal(0, spread, normals.shape)
    # What is orthogonal to the normal leans it; its length is the angle.
    sides -= (sides * normals).sum(axis=2, keepdims=True) * normals
    length = np.linalg.norm(sides, axis=2, keepdims=True)
    turned = np.cos(length) * normals + np.sin(length) * sides / np.maximum(length, 1e-12)
    return turned.astype(np.float32)


def _value(found: AgreementTable, comparison: str, measure: str) -> float:
    value = found.mean(comparison, measure).value
    return 100 * value / found.depth_mean_m if measure.startswith("edist") else value
