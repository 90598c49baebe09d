"""How exact depth from annotation is, on views whose geometry is known, by simulated annotators.

Without noise it has budgets; beside that, error against the noise and the density of normals, and
how far the simulated people are from each other and from a simulated sensor (`_oasis_people`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from depthgauge.annotate.quality.exact_error import ExactErrors, exact_errors
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.simulate.annotator import NONE, AnnotatorNoise, simulate
from depthgauge.synth.sets.single_views import ROOMS, ExactView, make_view
from tools._measured import table, update
from tools.evidence import FOLDER, Absent, Number, figure
from tools.evidence._limits import within
from tools.evidence._oasis_ball import ball_numbers, ball_table
from tools.evidence._oasis_people import people_numbers, people_table

SIZE_PX, SMALL_PX = (640, 480), (320, 240)
SCENES = 12
"""Of each kind, for the numbers that have budgets."""
BUDGETS = {"planar": 1.0, "curved": 2.0}
"""Largest mean error allowed, in percent of the depth range."""
WORST = {"planar": 2.0, "curved": 4.0, "mixed": 4.0}
"""Largest error allowed of any scene of a kind."""
ROOM = 2.0
"""Of a room."""
KINDS = tuple(WORST)
FEW = 4
"""Scenes of each kind, for the curves."""
DEGREES = (0.0, 2.0, 5.0, 10.0, 15.0, 20.0)
SPACINGS = (0.02, 0.03, 0.05, 0.08, 0.12, 0.2)
CURVES: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "tilt of single normals": ("normal_deg", DEGREES),
    "tilt of all normals together": ("common_tilt_deg", DEGREES),
    "distance between normals": ("spacing_widths", SPACINGS),
}
TILTED = tuple(name for name, (_, values) in CURVES.items() if values == DEGREES)
FALL, RISE = 0.5, (1.0, 25.0)
"""Along a curve errors may fall by so much, by chance; from no tilt to the largest they rise by
something between these."""
_LIST = "; scenes: "

_ANNOTATE = (
    *(
        f"quality/{name}"
        for name in (
            "agreement",
            "clouds",
            "exact_error",
            "rotation",
            "turned_shape",
            "witnesses",
        )
    ),
    *(
        f"reconstruct/{name}"
        for name in (
            "_depth_pairs",
            "_gaps",
            "_lines",
            "_links",
            "_orthogonal_frames",
            "_relation_logic",
            "_segmentation_kernels",
            "_surfaces",
            "dense_normals",
            "hand_normals",
            "reconstruction",
            "relations",
            "segmentation",
            "surface_depth",
            "surface_scales",
        )
    ),
    *(f"records/{name}" for name in ("region_points",)),
    *(
        f"simulate/{name}"
        for name in (
            "_depth_steps",
            "_marks",
            "_polylines",
            "_tilt",
            "_trace",
            "annotator",
            "exact_view",
            "noise",
            "visible_surfaces",
        )
    ),
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
    *("_multigrid", "_multigrid_kernels", "angles", "link_system", "normal_integration"),
    *("pairs", "polygons", "projection", "ray_scene"),
)
_HERE = ("tools/evidence/_oasis_ball.py", "tools/evidence/_oasis_people.py")


def sources() -> Iterator[str]:
    """Python files that can move the numbers."""
    for room, names in (("annotate", _ANNOTATE), ("synth", _SYNTH), ("geometry", _GEOMETRY)):
        yield from (f"src/depthgauge/{room}/{name}.py" for name in names)


@figure(
    "oasis-reconstruction",
    data=f"{SCENES} simulated scenes of each kind and three rooms, {SIZE_PX[0]}x{SIZE_PX[1]} px",
    sources=(*_HERE, *sources()),
)
def oasis_reconstruction() -> Iterator[Number]:
    """Mean EDist after a scale for each surface, in percent of the scene's depth range.

    Beside it: error against noise, simulated people beside table 1, a ball with few normals.
    """
    for kind in KINDS:
        yield from _exact(kind, [(kind, seed) for seed in range(SCENES)])
    yield from _rooms()
    views = {kind: [make_view(kind, seed, SMALL_PX) for seed in range(FEW)] for kind in KINDS}
    for name, (option, values) in CURVES.items():
        for kind in KINDS:
            yield from _curve(name, kind, option, values, views[kind])
    yield from people_numbers()
    yield from ball_numbers()
    from tools.evidence import _oasis_pictures

    _oasis_pictures.draw_example()


def _exact(kind: str, scenes: Iterable[tuple[str, int]]) -> Iterator[Number]:
    errors = [_errors(make_view(k, seed, SIZE_PX), NONE, 0) for k, seed in scenes]
    shares = [e.edist_percent for e in errors]
    mean_limit = BUDGETS.get(kind, WORST[kind])
    yield within(f"{kind}: EDist, %", _mean(shares), 0.0, mean_limit)
    yield within(f"{kind}: EDist of the worst scene, %", max(shares), 0.0, WORST[kind])
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
        yield within(f"{room}: EDist, %", errors.edist_percent, 0.0, ROOM)
        yield _plain(f"{room}: normals, degrees", errors.mean_angle_deg)


def _curve(
    name: str, kind: str, option: str, values: Iterable[float], views: list[ExactView]
) -> Iterator[Number]:
    """Errors along a curve; they may not fall, and with a tilt they rise."""
    means = []
    for value in values:
        noise = replace(NONE, **{option: value})
        means.append(_mean([_errors(view, noise, 1).edist_percent for view in views]))
        yield _plain(_point(name, kind, value), means[-1])
    yield from curve_checks(name, kind, means)


def curve_checks(name: str, kind: str, means: list[float]) -> Iterator[Number]:
    """By how much errors fall where they should not, and rise where they should."""
    fall = max(0.0, float(-np.diff(means).min()))
    yield within(f"{name}, {kind}: largest fall, %", fall, 0.0, FALL)
    if name in TILTED:
        yield within(f"{name}, {kind}: rise, %", means[-1] - means[0], *RISE)


def _errors(view: ExactView, noise: AnnotatorNoise, seed: int) -> ExactErrors:
    return exact_errors(view, reconstruct(simulate(view, noise, seed)))


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def _plain(name: str, value: float) -> Number:
    """A number that is reported and has no target."""
    return Number(name, value, value, 0.0)


def write_page(*, check: bool = False) -> bool:
    """Brings its two pages and the chart up to date; True where they are."""
    record = FOLDER / "oasis-reconstruction.json"
    if not record.is_file():
        return False
    numbers = {n["name"]: n["value"] for n in json.loads(record.read_text())["numbers"]}
    if not check:
        from tools.evidence import _oasis_pictures

        _oasis_pictures.draw_curves(*chart(numbers))
    parts = {"exact": _exact_table(numbers), "people": people_table(numbers)}
    parts |= {name: _curve_table(numbers, name) for name in CURVES}
    ball = update("reconstruction.md", {"ball": ball_table(numbers)}, "evidence", check)
    return update("simulated-annotator.md", parts, "evidence", check) and ball


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


def _curve_table(numbers: Mapping[str, float], name: str) -> str:
    values = CURVES[name][1]
    show: Callable[[float], str] = "{:g}".format
    rows = [[k, *(f"{numbers[_point(name, k, v)]:.2f}" for v in values)] for k in KINDS]
    return table(["EDist, %", *map(show, values)], rows)
