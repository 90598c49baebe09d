"""Several simulated people fused into one reconstruction, beside the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from depthgauge.annotate.fusing.fusion import fuse
from depthgauge.annotate.quality.exact_error import exact_errors
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction, reconstruct
from depthgauge.annotate.simulate.annotator import HUMAN, NONE, AnnotatorNoise, simulate
from depthgauge.synth.sets.single_views import KINDS, ExactView, make_view
from tools.evidence import Number, figure, within

SMALL_PX = (240, 180)
SEEDS = (640, 641, 642, 643, 644, 645)
"""Scenes of each kind; nothing was tuned on them, nor looked at before."""
TOGETHER = 8
OWN = replace(HUMAN, shared_surface_deg=0.0, shared_tilt_deg=0.0)
"""People whose errors are their own."""
SHARED = replace(
    NONE,
    shared_surface_deg=HUMAN.shared_surface_deg,
    shared_tilt_deg=HUMAN.shared_tilt_deg,
    stretch=HUMAN.stretch,
    spacing_widths=HUMAN.spacing_widths,
    relation_deg=HUMAN.relation_deg,
)
"""A person without errors of their own: the mean of infinitely many people."""
FUSED: Mapping[str, AnnotatorNoise] = {"own": OWN, "own and shared": HUMAN}
MOST = 0.7
"""Largest error of the fusion relative to that of one person."""
MOST_OF_BEST = 1.0
"""The same relative to the best person of each scene, who is known only with the truth."""


@figure(
    "oasis-fusion",
    data=f"{len(SEEDS)} simulated scenes of each kind, {SMALL_PX[0]}x{SMALL_PX[1]} px, "
    f"{TOGETHER} people",
    needs=("embreex",),
)
def oasis_fusion() -> Iterator[Number]:
    """Mean EDist in percent of the depth range: of people fused, of the best one, of anyone."""
    views = [make_view(kind, seed, SMALL_PX, held=True) for kind in KINDS for seed in SEEDS]
    floor = float(np.mean([_error(view, reconstruct(simulate(view, SHARED, 1))) for view in views]))
    yield Number("shared errors alone: EDist, %", floor)
    for name, noise in FUSED.items():
        fused, plain, best, alone, wins = [], [], [], [], 0
        for view in views:
            people = [simulate(view, noise, person) for person in range(1, TOGETHER + 1)]
            errors = [_error(view, reconstruct(one)) for one in people]
            fused.append(_error(view, fuse(people).reconstruction))
            plain.append(_error(view, fuse(people, fit_lines=False).reconstruction))
            best.append(min(errors))
            alone.append(float(np.mean(errors)))
            wins += fused[-1] < best[-1]
        said = f"{TOGETHER} people with {name} errors"
        yield Number(f"{said}, fused: EDist, %", float(np.mean(fused)))
        yield Number(f"{said}, fused without fitting lines: EDist, %", float(np.mean(plain)))
        yield Number(f"{said}, the best one: EDist, %", float(np.mean(best)))
        yield Number(f"{said}, one person: EDist, %", float(np.mean(alone)))
        yield Number(f"{said}: scenes in which the fusion is best, %", 100 * wins / len(views))
        ratio = float(np.mean(fused) / np.mean(best))
        yield within(f"{said}: fused, relative to the best one", ratio, 0.0, MOST_OF_BEST)
        ratio = float(np.mean(fused) / np.mean(alone))
        yield within(f"{said}: fused, relative to one person", ratio, 0.0, MOST)


def _error(view: ExactView, made: Reconstruction) -> float:
    return exact_errors(view, made).edist_percent
