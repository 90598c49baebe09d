"""What `edge_quality` sees and what others see: `python -m tools.edge_quality`.

Deviates the outlines of three shapes in seven ways and four degrees, scores them, and writes scores
and rank correlations into docs/geometry-metrics.md. `--check` writes nothing and exits with 1 where
the page's numbers are stale.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, stats

from depthgauge.geometry.discontinuities.edges import Edges, find_edges
from depthgauge.metrics import METRICS
from depthgauge.types import Map
from tools._measured import table, update

PAGE, COMMAND = "geometry-metrics.md", "edge_quality"
SIDE_PX, NEAR_PX, FAR_PX = 160, 30.0, 10.0
Values = NDArray[np.float64]
METRIC_NAMES = ("edge_quality", "foreground_fattening", "foreground_thinning", "badpix", "rms")


@dataclass(frozen=True)
class Shape:
    """An object before a background."""

    truth: Map
    inside_px: Values
    """Distance to the outline, negative outside."""
    edges: Edges


def shapes() -> Iterator[Shape]:
    """A disc, a box that is turned by 25 degrees, and a star with round points."""
    y, x = np.mgrid[0:SIDE_PX, 0:SIDE_PX] - (SIDE_PX - 1) / 2
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    c, s = np.cos(np.radians(25)), np.sin(np.radians(25))
    for inside in (
        radius < 45,
        (abs(c * x + s * y) < 45) & (abs(c * y - s * x) < 30),
        radius < 42 + 10 * np.cos(5 * angle),
    ):
        away = ndimage.distance_transform_edt(inside) - ndimage.distance_transform_edt(~inside)
        truth = _levels(inside)
        yield Shape(truth, away - 0.5 * np.sign(away), find_edges(truth, truth))


def _levels(inside: NDArray[np.bool_]) -> Map:
    return np.where(inside, NEAR_PX, FAR_PX).astype(np.float32)


def _wander() -> Values:
    """A smooth random field of deviation 1 that changes within some 10 px."""
    field = ndimage.gaussian_filter(np.random.default_rng(0).standard_normal((SIDE_PX, SIDE_PX)), 3)
    return np.asarray(field / field.std())


def _fray(shape: Shape, share: float) -> Map:
    luck = np.random.default_rng(1).random(shape.truth.shape)
    swapped = np.float32(NEAR_PX + FAR_PX) - shape.truth
    return np.where((luck < share) & (abs(shape.inside_px) < 11), swapped, shape.truth)


KINDS: dict[str, tuple[Sequence[float], str, Callable[[Shape, float], Map]]] = {
    "moved": ((1, 2, 3, 4), "px", lambda s, n: np.roll(s.truth, int(n), axis=1)),
    "fat": ((1, 2, 3, 4), "px", lambda s, n: _levels(s.inside_px > -n)),
    "thin": ((1, 2, 3, 4), "px", lambda s, n: _levels(s.inside_px > n)),
    "surfaces off": ((0.5, 1.5, 3, 4.5), "px", lambda s, n: s.truth + np.float32(n)),
    "jagged": ((1, 2, 3, 4), "px deviation", lambda s, n: _levels(s.inside_px > n * _wander())),
    "blurred": ((1, 2, 3, 5), "px sigma", lambda s, n: ndimage.gaussian_filter(s.truth, n)),
    "frayed": ((0.02, 0.05, 0.1, 0.2), "of the pixels", _fray),
}
PLACE = ("moved", "fat", "thin", "surfaces off")
"""Deviations that leave the outline's shape as it is."""


def main(arguments: Sequence[str]) -> int:
    """Writes both tables, or with `--check` only compares them."""
    found = measure()
    parts = {"edge quality": _means(found), "edge quality correlations": _correlations(found)}
    return 0 if update(PAGE, parts, COMMAND, "--check" in arguments) else 1


def measure() -> dict[str, NDArray[np.float64]]:
    """Scores of each kind of deviation: (degree, shape, metric)."""
    made = list(shapes())
    return {
        kind: np.array([[_score(shape, deviate(shape, n)) for shape in made] for n in degrees])
        for kind, (degrees, _, deviate) in KINDS.items()
    }


def _score(shape: Shape, estimate: Map) -> list[float]:
    scores = []
    for name in METRIC_NAMES:
        metric = METRICS[name]
        params = metric.bind({})
        needed = {"edges": shape.edges} if metric.needs else {}
        state = metric.measure(estimate, shape.truth, None, **needed, **params)
        scores.append(metric.finish(state, "bad", **params))
    return scores


def _means(found: dict[str, NDArray[np.float64]]) -> str:
    rows = []
    for kind, scores in found.items():
        degrees, unit, _ = KINDS[kind]
        mean = scores.mean(axis=1)
        last = [f"{value:.1f}" for value in mean[-1, 1:]]
        levels = ", ".join(f"{n:g}" for n in degrees)
        rows.append(
            [f"{kind} by {levels} {unit}", ", ".join(f"{v:.1f}" for v in mean[:, 0]), *last]
        )
    head = [f"`{name}`" for name in METRIC_NAMES]
    return table(["deviation", f"{head[0]}, each degree", *(f"{h}, last" for h in head[1:])], rows)


def _correlations(found: dict[str, NDArray[np.float64]]) -> str:
    place = np.concatenate([found[kind].reshape(-1, len(METRIC_NAMES)) for kind in PLACE])
    shape = np.concatenate(
        [
            scores.reshape(-1, len(METRIC_NAMES))
            for kind, scores in found.items()
            if kind not in PLACE
        ]
    )
    rows = []
    for name, scores in (("all", np.concatenate([place, shape])), ("shape only", shape)):
        both = [stats.spearmanr(scores[:, 0], scores[:, i]).statistic for i in range(1, 5)]
        rows.append([f"{name} ({len(scores)})", *(f"{value:.2f}" for value in both)])
    return table(["deviations", *(f"`{name}`" for name in METRIC_NAMES[1:])], rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
