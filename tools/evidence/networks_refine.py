"""The learned engine of `capture refine` beside the classical one, near edges.

The network learned from the sessions of `tools.train_refiner` (seeds 1 to 8); these are others,
kept in out/evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.capture.audit.error_figures import near_discontinuities
from depthgauge.capture.exact_truth import exact_truth
from depthgauge.capture.pipeline import run_steps
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.refine.engine import MeasuredMaps, RefineOptions
from depthgauge.capture.refine.engines import bimodal, classical
from depthgauge.capture.refine.step import make_guide, read_measured
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.sessions import Session, read_simulated
from depthgauge.types import Map, Mask
from tools._measured import table, update
from tools.evidence import Number, figure, recorded_values, within
from tools.evidence._sources import PIPELINE, SIMULATOR
from tools.evidence.networks_spacetime import SESSIONS, _place, _session

SCALES = (0.5, 1.0)
ENGINES = {"classical": classical.refine, "bimodal": bimodal.refine}
_LIMITS_PX = (1.0, 2.0)
BUDGET_PX, MOST_SHARE = 2.0, 1.1
"""Set after measuring 1.07 and 1.00: it may be a little worse at choosing sides, not much."""


@figure(
    "networks-refine",
    data="simulated sessions with 5 patterns: "
    + "; ".join(f"{scene} {seed}, {width} px" for scene, seed, width in SESSIONS),
    needs=("embreex",),
)
def networks_refine() -> Iterator[Number]:
    """Errors within 3 px of discontinuities after refinement, both views of all sessions together.

    Matched at full and at half size; pixels count that both cameras see, a projector reaches, and
    that have a value, which are the same for both engines.
    """
    for scale in SCALES:
        errors: dict[str, list[np.ndarray]] = {name: [] for name in ENGINES}
        for each in SESSIONS:
            session = _session(*each)
            place = _place(f"networks-refine-{scale}", (*SIMULATOR, *PIPELINE))
            work = place / session.folder.name
            chosen = {"spacetime": {"scale": scale}}
            for _ in run_steps(session, work, until="spacetime", options=chosen):
                pass
            for _, maps, guide, truth, seen in views(session, work):
                judged = seen & np.isfinite(truth) & near_discontinuities(truth)
                for name, refine in ENGINES.items():
                    found = refine(maps, guide, RefineOptions()).disparity
                    errors[name].append(np.abs(found - truth)[judged & np.isfinite(found)])
        yield from _numbers(scale, {name: np.concatenate(e) for name, e in errors.items()})


def views(session: Session, work: Path) -> Iterator[tuple[str, MeasuredMaps, Any, Map, Mask]]:
    """Side, measured maps, guide, true disparity, and what both see, of both views."""
    pair, true = read_pair(work, "LR"), read_simulated(session.truth_folder)
    scene = RayScene(true.vertices, true.triangles)
    for side, camera, view in (("left", "L", pair.left), ("right", "R", pair.right)):
        exact = exact_truth(true, pair, "LR", side, scene=scene)  # type: ignore[arg-type]  # a side
        guide = make_guide(session, work, camera, view, "patterns")
        yield (
            side,
            read_measured(work / "spacetime", side),
            guide,
            exact.disparity,
            (exact.visible & exact.lit),
        )


def _numbers(scale: float, errors: dict[str, np.ndarray]) -> Iterator[Number]:
    for name, sizes in errors.items():
        start = f"matched at {scale:g}, {name}"
        yield Number(f"{start}: mean |error| near edges, px", float(sizes.mean()))
        yield Number(f"{start}: median |error| near edges, px", float(np.median(sizes)))
        for limit in _LIMITS_PX:
            wrong = 100 * float((sizes > limit).mean())
            yield Number(f"{start}: wrong by more than {limit:g} px near edges, %", wrong)
    wrong_by = {name: float((sizes > BUDGET_PX).mean()) for name, sizes in errors.items()}
    share = wrong_by["bimodal"] / wrong_by["classical"]
    yield within(f"matched at {scale:g}: wrong, bimodal / classical", share, 0, MOST_SHARE)


def write_page(*, check: bool = False) -> bool:
    """Brings the table of docs/capture-refinement.md up to date; True where it is."""
    numbers = recorded_values("networks-refine")
    if not numbers:
        return False
    rows = []
    for scale in SCALES:
        for name in ENGINES:
            start = f"matched at {scale:g}, {name}: "
            cells = [
                f"{numbers[f'{start}{what} |error| near edges, px']:.3f}"
                for what in ("mean", "median")
            ]
            cells += [
                f"{numbers[f'{start}wrong by more than {limit:g} px near edges, %']:.2f}"
                for limit in _LIMITS_PX
            ]
            rows.append([f"{scale:g}", f"`{name}`", *cells])
    columns = ["matched at", "engine", "mean \\|error\\|, px", "median, px"]
    columns += ["wrong by > 1 px, %", "> 2 px, %"]
    return update("capture-refinement.md", {"refiners": table(columns, rows)}, "evidence", check)
