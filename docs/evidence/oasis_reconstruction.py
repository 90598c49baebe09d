"""How exact depth from annotation is, on views whose geometry is known, by simulated annotators.

Without noise it has budgets; beside that, error against the noise and the density of normals, and
how far the simulated people are from each other and from the exact normals.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from depthgauge.annotate.exact_error import ExactErrors, angles_deg, exact_errors
from depthgauge.annotate.reconstruct import Reconstruction, reconstruct
from depthgauge.annotate.simulate import HUMAN, NONE, AnnotatorNoise, simulate
from depthgauge.synth.single_views import ROOMS, ExactView, make_view
from docs._measured import table, update
from docs.evidence import FOLDER, Absent, Number, figure

SIZE_PX, SMALL_PX = (640, 480), (320, 240)
SCENES = 12
"""Of each kind, for the numbers that have budgets."""
BUDGETS = {"planar": 1.0, "curved": 2.0}
"""Largest mean error allowed, in percent of the depth range."""
KINDS = (*BUDGETS, "mixed")
FEW = 4
"""Scenes of each kind, for the curves."""
DEGREES = (0.0, 2.0, 5.0, 10.0, 15.0, 20.0)
SPACINGS = (0.02, 0.03, 0.05, 0.08, 0.12, 0.2)
PEOPLE, PICTURES = 4, 6
CURVES: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "tilt of single normals": ("normal_deg", DEGREES),
    "tilt of all normals together": ("common_tilt_deg", DEGREES),
    "distance between normals": ("spacing_widths", SPACINGS),
}
_LIST = "; scenes: "


_ANNOTATE = (
    *("_contradictions", "_gaps", "_lines", "_links", "_marks", "_noticed", "_orthogonal_frames"),
    *("_pairs", "_polylines", "_regions", "_relation_logic", "_segmentation_kernels", "_steps"),
    *("_surfaces", "_tilt", "_trace", "dense_normals", "exact_error", "hand_normals", "noise"),
    *("reconstruct", "region_points", "relations", "segmentation", "simulate", "surface_depth"),
    "surface_scales",
)
_SYNTH = (
    *("_builders", "_frames", "_raycast", "_surfaces"),
    *(f"capture_session/{name}" for name in ("_meshes", "_objects", "_scene", "_scenes")),
    *(
        f"single_views/{name}"
        for name in ("_borders", "_bowl", "_cast", "_furnish", "_make", "_rooms", "_view")
    ),
)
_GEOMETRY = (
    *("_multigrid", "_multigrid_kernels", "link_system", "normal_integration", "polygons"),
    *("projection", "ray_scene"),
)


def sources() -> Iterator[str]:
    """Python files that can move the numbers."""
    for room, names in (("annotate", _ANNOTATE), ("synth", _SYNTH), ("geometry", _GEOMETRY)):
        yield from (f"src/depthgauge/{room}/{name}.py" for name in names)


@figure(
    "oasis-reconstruction",
    data=f"{SCENES} simulated scenes of each kind and three rooms, {SIZE_PX[0]}x{SIZE_PX[1]} px",
    sources=tuple(sources()),
)
def oasis_reconstruction() -> Iterator[Number]:
    """Mean EDist after a scale for each surface, in percent of the scene's depth range.

    On piecewise planar and on curved scenes it has a budget; the rest is reported.
    """
    for kind in KINDS:
        yield from _exact(kind, [(kind, seed) for seed in range(SCENES)])
    yield from _rooms()
    views = {kind: [make_view(kind, seed, SMALL_PX) for seed in range(FEW)] for kind in KINDS}
    for name, (option, values) in CURVES.items():
        for kind in KINDS:
            for value in values:
                noise = replace(NONE, **{option: value})
                errors = [_errors(view, noise, 1).edist_percent for view in views[kind]]
                yield _plain(f"{name}, {kind}, {value:g}: EDist, %", _mean(errors))
    yield from _people()
    from docs.evidence import _oasis_pictures

    _oasis_pictures.draw_example()


def _exact(kind: str, scenes: Iterable[tuple[str, int]]) -> Iterator[Number]:
    errors = [_errors(make_view(k, seed, SIZE_PX), NONE, 0) for k, seed in scenes]
    shares = [e.edist_percent for e in errors]
    mean = _mean(shares)
    if kind in BUDGETS:
        yield Number(f"{kind}: EDist, %", mean, BUDGETS[kind] / 2, BUDGETS[kind] / 2)
    else:
        yield _plain(f"{kind}: EDist, %", mean)
    yield _plain(f"{kind}: EDist of the worst scene, %", max(shares))
    yield _plain(f"{kind}: normals, degrees", _mean([e.mean_angle_deg for e in errors]))
    for number, share in enumerate(shares):
        yield _plain(f"{kind}{_LIST}{number}, EDist, %", share)


def _rooms() -> Iterator[Number]:
    try:
        import embreex  # noqa: F401  # only whether it is there
    except ImportError:
        raise Absent("rooms need Embree: depthgauge[render]") from None
    for room in ROOMS:
        errors = _errors(make_view(room, 0, SIZE_PX), NONE, 0)
        yield _plain(f"{room}: EDist, %", errors.edist_percent)
        yield _plain(f"{room}: normals, degrees", errors.mean_angle_deg)


def _people() -> Iterator[Number]:
    """How far simulated people are from each other and from what is exact."""
    apart, off, distances = [], [], []
    for kind in KINDS:
        for seed in range(PICTURES):
            view = make_view(kind, seed, SMALL_PX)
            made = [reconstruct(simulate(view, HUMAN, person)) for person in range(1, PEOPLE + 1)]
            errors = [exact_errors(view, one) for one in made]
            off += [e.mean_angle_deg for e in errors]
            distances += [e.edist_percent for e in errors]
            apart += [_apart(a, b) for a, b in combinations(made, 2)]
    yield Number("people among each other: normals, degrees", _mean(apart), 13.13, 2.0)
    yield Number("people and exact: normals, degrees", _mean(off), 17.82, 2.5)
    yield _plain("people and exact: EDist, %", _mean(distances))


def _apart(a: Reconstruction, b: Reconstruction) -> float:
    angles = angles_deg(a.normals, b.normals)
    return float(angles[np.isfinite(angles)].mean())


def _errors(view: ExactView, noise: AnnotatorNoise, seed: int) -> ExactErrors:
    return exact_errors(view, reconstruct(simulate(view, noise, seed)))


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def _plain(name: str, value: float) -> Number:
    """A number that is reported and has no target."""
    return Number(name, value, value, 0.0)


def write_page(*, check: bool = False) -> bool:
    """Brings docs/simulated-annotator.md and its chart up to date; True where the page is."""
    record = FOLDER / "oasis-reconstruction.json"
    if not record.is_file():
        return False
    numbers = {n["name"]: n["value"] for n in json.loads(record.read_text())["numbers"]}
    if not check:
        from docs.evidence import _oasis_pictures

        _oasis_pictures.draw_curves(*chart(numbers))
    parts = {"exact": _exact_table(numbers), "people": _people_table(numbers)}
    parts |= {name: _curve_table(numbers, name) for name in CURVES}
    return update("simulated-annotator.md", parts, "evidence", check)


def chart(numbers: Mapping[str, float]) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Errors of all scenes by kind, and the curves as {name: {kind: ([values], [errors])}}."""
    scenes = {k: [v for n, v in numbers.items() if n.startswith(f"{k}{_LIST}")] for k in KINDS}
    curves = {
        name: {k: (values, [numbers[_point(name, k, v)] for v in values]) for k in KINDS}
        for name, (_, values) in CURVES.items()
    }
    return scenes, curves


def _point(name: str, kind: str, value: float) -> str:
    return f"{name}, {kind}, {value:g}: EDist, %"


def _exact_table(numbers: Mapping[str, float]) -> str:
    rows = []
    for kind in (*KINDS, *ROOMS):
        worst = numbers.get(f"{kind}: EDist of the worst scene, %")
        rows.append(
            [
                kind if kind in KINDS else f"{kind} (one room)",
                f"{numbers[f'{kind}: EDist, %']:.2f}",
                "" if worst is None else f"{worst:.2f}",
                f"{numbers[f'{kind}: normals, degrees']:.2f}",
                f"below {BUDGETS[kind]:g}" if kind in BUDGETS else "",
            ]
        )
    head = ["scenes", "mean EDist, %", "worst scene, %", "normals, degrees", "aim, %"]
    return table(head, rows)


def _people_table(numbers: Mapping[str, float]) -> str:
    rows = [
        ["people among each other: normals, degrees", "13.13"],
        ["people and exact: normals, degrees", "17.82"],
        ["people and exact: EDist, %", ""],
    ]
    return table(["", "simulated", "table 1"], [[n, f"{numbers[n]:.1f}", aim] for n, aim in rows])


def _curve_table(numbers: Mapping[str, float], name: str) -> str:
    values = CURVES[name][1]
    show: Callable[[float], str] = "{:g}".format
    rows = [[k, *(f"{numbers[_point(name, k, v)]:.2f}" for v in values)] for k in KINDS]
    return table(["EDist, %", *map(show, values)], rows)
