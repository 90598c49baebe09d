"""The baselines of OASIS's five benchmarks, and simulated people, on the set of `make oasis-like`.

The set is kept in out/evidence and made anew when what makes it has changed.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from depthgauge.annotate.simulate.oasis_like import HUMANS, OasisLike, write_oasis_like
from depthgauge.engine.human import human_performance
from depthgauge.engine.run import run
from tools._measured import table, update
from tools.evidence import FOLDER, REPOSITORY, Number, figure
from tools.evidence._limits import within
from tools.evidence.oasis_reconstruction import sources as sources_of_reconstruction

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
_ROOMS = {
    "annotate": ("simulate/oasis_like", "reconstruct/samples"),
    "synth": ("_render", "_shading", "_textures"),
    "datasets": ("_oasis_estimates", "_oasis_read", "_oasis_write"),
    "metrics": (
        *("_boundary_curves", "_boundary_kernels", "_local_scale_kernels", "_matching"),
        *("_matching_kernels", "_plane_kernels", "_plane_matching", "average_precision"),
        *("boundaries", "local_scale", "normals", "ordinal", "planes", "relations"),
    ),
    "geometry": ("edge_maps", "thinning"),
    "methods": ("_edges", "edges_all_fold", "edges_all_occlusion", "front_facing", "plane"),
}


def _makers() -> tuple[str, ...]:
    """Files that decide the set itself."""
    own = [f"src/depthgauge/{room}/{n}.py" for room in ("annotate", "synth") for n in _ROOMS[room]]
    return (*sources_of_reconstruction(), *own)


def _sources() -> Iterator[str]:
    yield from _makers()
    for room, names in _ROOMS.items():
        if room not in ("annotate", "synth"):
            yield from (f"src/depthgauge/{room}/{name}.py" for name in names)


@figure(
    "oasis-like",
    data=f"`depthgauge make oasis-like`: {OPTIONS.scenes} scenes of "
    f"{OPTIONS.size_px[0]}x{OPTIONS.size_px[1]} px, {OPTIONS.annotators} simulated people",
    sources=tuple(_sources()),
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
    parts = [(REPOSITORY / source).read_bytes() for source in _makers()]
    name = hashlib.sha256(b"".join(parts)).hexdigest()[:12]
    folder = REPOSITORY / "out" / "evidence" / f"oasis-like-{name}"
    write_oasis_like(folder, OPTIONS)
    return folder


def _baselines(benchmark: str, data: Path, methods: tuple[str, ...]) -> Iterator[Number]:
    with tempfile.TemporaryDirectory(prefix="depthgauge-") as folder:
        done = run(benchmark, data, methods, Path(folder) / "run", keep_estimates=False)
        for (label, _), result in done.results.items():
            for score, found in result.summary.items():
                yield _number(f"{benchmark}, {label}: {score}", found.value)


def _number(name: str, value: float) -> Number:
    expected, budget = EXPECTED.get(name, (value, 0.0))
    return Number(name, value, expected, budget)


def write_page(*, check: bool = False) -> bool:
    """Brings the tables of docs/benchmarks/oasis.md up to date; True where the page is."""
    record = FOLDER / "oasis-like.json"
    if not record.is_file():
        return False
    numbers = {n["name"]: n["value"] for n in json.loads(record.read_text())["numbers"]}
    return update("benchmarks/oasis.md", {"baselines": _table(numbers)}, "evidence", check)


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
