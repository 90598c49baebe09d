"""The baselines of OASIS's five benchmarks, and simulated people, on the set of `make oasis-like`.

The set is kept in out/evidence and made again when its generator has changed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from depthgauge.annotate.simulate.oasis_like import HUMANS, OasisLike, write_oasis_like
from depthgauge.engine.running.run import run
from depthgauge.engine.scoring.human_baseline import human_performance
from tools._measured import table, update
from tools.evidence import REPOSITORY, Number, figure, recorded_values, within
from tools.evidence._sources import OASIS_MAKERS, digest

OPTIONS = OasisLike()
BASELINES: Mapping[str, tuple[str, ...]] = {
    "oasis-depth": (f"plane=plane:focal_px={OPTIONS.size_px[0]}",),
    "oasis-normals": ("front_facing",),
    "oasis-relative-normals": ("front_facing",),
    "oasis-boundaries": ("edges_all_occlusion", "edges_all_fold"),
    "oasis-planes": (),
}
EXPECTED: Mapping[str, tuple[float, float]] = {
    "oasis-depth, plane: wkdr": (100.0, 0.0),
    "oasis-relative-normals, front_facing: ap_parallel": (0.5, 1e-9),
    "oasis-relative-normals, front_facing: ap_orthogonal": (0.5, 1e-9),
    "oasis-relative-normals, front_facing: ap_parallel_both": (1 / 3, 1e-9),
    "oasis-relative-normals, front_facing: ap_orthogonal_both": (1 / 3, 1e-9),
}
"""What follows from the definitions, and how far it may be off."""
PEOPLE = "people"
AHEAD: Mapping[tuple[str, str], tuple[int, float, float]] = {
    ("oasis-depth", "lsiv_root"): (-1, 0.3, 5.0),
    ("oasis-depth", "wkdr"): (-1, 50.0, 100.0),
    ("oasis-normals", "mean"): (-1, 25.0, 90.0),
    ("oasis-relative-normals", "ap_parallel"): (1, 0.15, 0.5),
    ("oasis-relative-normals", "ap_orthogonal"): (1, 0.15, 0.5),
    ("oasis-boundaries", "ods"): (1, 0.25, 1.0),
}
"""Scores: whether more (1) or less (-1) is better, and by how much people are better than every
baseline, at least and at most."""
_BETTER = "people better than "


@figure(
    "oasis-like",
    data=f"`depthgauge make oasis-like`: {OPTIONS.scenes} scenes of "
    f"{OPTIONS.size_px[0]}x{OPTIONS.size_px[1]} px, {OPTIONS.annotators} simulated people",
    needs=("embreex",),
)
def oasis_like() -> Iterator[Number]:
    """Scores of the baselines, and the mean over simulated people, on the set like OASIS."""
    data = _made()
    people = [data / HUMANS / f"human-{n}" for n in range(1, OPTIONS.annotators + 1)]
    found: list[Number] = []
    for benchmark, methods in BASELINES.items():
        if methods:
            found += _baselines(benchmark, data, methods)
        scores = human_performance(benchmark, data, people).scores
        found += [_number(f"{benchmark}, {PEOPLE}: {s}", scores[s].mean) for s in scores]
    yield from found
    yield from ahead({number.name: number.value for number in found})


def ahead(scores: Mapping[str, float]) -> Iterator[Number]:
    """By how much people are better than each baseline."""
    for (benchmark, score), (sign, least, most) in AHEAD.items():
        of_people = scores[f"{benchmark}, {PEOPLE}: {score}"]
        for name, value in scores.items():
            method = name.removeprefix(f"{benchmark}, ").removesuffix(f": {score}")
            if name == f"{benchmark}, {method}: {score}" and method != PEOPLE:
                gain = sign * (of_people - value)
                yield within(f"{_BETTER}{method}, {benchmark}: {score}", gain, least, most)


def _made() -> Path:
    """The set, in a folder that is named by all that decides its bytes."""
    folder = REPOSITORY / "out" / "evidence" / f"oasis-like-{digest(OASIS_MAKERS)}"
    write_oasis_like(folder, OPTIONS)
    return folder


def _baselines(benchmark: str, data: Path, methods: tuple[str, ...]) -> Iterator[Number]:
    with tempfile.TemporaryDirectory(prefix="depthgauge-") as folder:
        done = run(benchmark, data, methods, Path(folder) / "run", keep_estimates=False)
        for (label, _), result in done.results.items():
            for score, found in result.summary.items():
                yield _number(f"{benchmark}, {label}: {score}", found.value)


def _number(name: str, value: float) -> Number:
    return Number(name, value, *EXPECTED.get(name, ()))


def write_page(*, check: bool = False) -> bool:
    """Brings the tables of docs/benchmarks/oasis.md up to date; True where the page is."""
    numbers = recorded_values("oasis-like")
    return bool(numbers) and update(
        "benchmarks/oasis.md", {"baselines": _table(numbers)}, "evidence", check
    )


def _table(numbers: Mapping[str, float]) -> str:
    """One row a benchmark and method; scores with their names, as each benchmark has its own."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, value in numbers.items():
        if name.startswith(_BETTER):
            continue
        before, _, score = name.partition(": ")
        benchmark, _, method = before.partition(", ")
        rows.setdefault((benchmark, method), []).append(f"`{score}` {value:.3g}")
    lines = [
        [f"`{benchmark}`", method if method == PEOPLE else f"`{method}`", ", ".join(found)]
        for (benchmark, method), found in rows.items()
    ]
    return table(["benchmark", "method", "scores"], lines)
