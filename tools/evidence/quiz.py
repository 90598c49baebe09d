"""Who passes the quiz of drawing: simulated people of stated skill, on scenes that no quiz shows.

The limit follows from seeds 1001 to 1016; what is claimed is measured on seeds 4001 to 4008.
Quizzes are made of other seeds (101 and the next ones, unless an operator chooses).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from depthgauge.annotate.quality.exact_error import exact_errors
from depthgauge.annotate.reconstruct import reconstruct
from depthgauge.annotate.records import Annotation
from depthgauge.annotate.simulate import CAREFUL, HUMAN, NONE, simulate
from depthgauge.serve.annotating.quizzes import LIMIT_PERCENT, SIZE, is_question
from depthgauge.synth.sets.single_views import ExactView, make_view
from tools._measured import table, update
from tools.evidence import Number, figure, recorded_values, within

TUNED, CLAIMED = range(1001, 1017), range(4001, 4009)
KINDS = ("planar", "curved", "mixed")
_PEOPLE = (1, 2)
SKILLED = {
    "key": "without errors: the answer key",
    "careful": "careful",
    "human": "with human errors",
}
UNSKILLED = {
    "no normals": "lines as a careful person, no normals",
    "all frontal": "lines as a careful person, all normals to the camera",
    "no lines": "normals as a careful person, no lines",
}


def _drawn(view: ExactView) -> dict[str, list[Annotation]]:
    careful = [simulate(view, CAREFUL, seed=seed) for seed in _PEOPLE]
    first = careful[0]
    frontal = {name: replace(one, normal=(0.0, 0.0, -1.0)) for name, one in first.normals.items()}
    return {
        "key": [simulate(view, NONE)],
        "careful": careful,
        "human": [simulate(view, HUMAN, seed=seed) for seed in _PEOPLE],
        "no normals": [replace(first, normals={}, relations={})],
        "all frontal": [replace(first, normals=frontal, relations={})],
        "no lines": [replace(first, strokes={})],
    }


def _views(seeds: range) -> list[ExactView]:
    return [make_view(kind, seed, SIZE) for seed in seeds for kind in KINDS]


def _distances(views: Iterable[ExactView], who: tuple[str, ...]) -> Mapping[str, np.ndarray]:
    """Percent of the depth range from the exact surfaces, by who drew."""
    found: dict[str, list[float]] = {name: [] for name in who}
    for view in views:
        for name, drawings in _drawn(view).items():
            if name in who:
                errors = [exact_errors(view, reconstruct(one)) for one in drawings]
                found[name] += [error.edist_percent for error in errors]
    return {name: np.array(values) for name, values in found.items()}


def passing_limit(distances: np.ndarray) -> float:
    """Where 90 % of people with human errors pass: their tail is long, so 95 % varies more."""
    return float(np.quantile(distances, 0.9))


@figure(
    "quiz",
    data=f"random scenes of 320x240: seeds {TUNED.start} to {TUNED.stop - 1} for the limit, "
    f"{CLAIMED.start} to {CLAIMED.stop - 1} for the shares",
)
def quiz() -> Iterator[Number]:
    """Which simulated people pass one question of the quiz of drawing."""
    tuned = _distances(_views(TUNED), ("human",))["human"]
    limit = passing_limit(tuned)
    yield within("limit that follows from the first seeds, %", limit, *_rounded())
    views = _views(CLAIMED)
    asked = [view for view in views if is_question(view)]
    yield Number("scenes that can be questions, %", 100 * len(asked) / len(views))
    found = _distances(asked, (*SKILLED, *UNSKILLED))
    for name, away in found.items():
        passed = 100 * float(np.mean(away < LIMIT_PERCENT))
        least, most = {"key": (100, 100), "careful": (90, 100), "human": (80, 100)}.get(
            name, (0, 5)
        )
        yield within(f"{name}: pass, %", passed, least, most)
        yield Number(f"{name}: drawings", len(away))
        for quantile in (5, 50, 95):
            value = float(np.quantile(away, quantile / 100))
            yield Number(f"{name}: {quantile} of 100 are nearer than, %", value)


def _rounded() -> tuple[float, float]:
    return LIMIT_PERCENT - 0.5, LIMIT_PERCENT + 0.5


def write_page(*, check: bool = False) -> bool:
    """Brings the table of docs/annotate-pages.md up to date; True where it is."""
    numbers = recorded_values("quiz")
    return bool(numbers) and update("annotate-pages.md", {"quiz": rows(numbers)}, "evidence", check)


def rows(numbers: Mapping[str, float]) -> str:
    """The table of who passes."""

    def away(name: str, quantile: int) -> str:
        return f"{numbers[f'{name}: {quantile} of 100 are nearer than, %']:.1f}"

    body = [
        [
            text,
            away(name, 5),
            away(name, 50),
            away(name, 95),
            f"{numbers[f'{name}: pass, %']:.0f} %",
        ]
        for name, text in (SKILLED | UNSKILLED).items()
    ]
    return table(["simulated person", "5 of 100 are nearer than, %", "50", "95", "pass"], body)
