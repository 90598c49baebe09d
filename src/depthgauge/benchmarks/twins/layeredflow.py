"""LayeredFlow: what the authors' evaluation scripts print (princeton-vl/LayeredFlow b968946).

One flow for the first or for the last layer: EPE is the mean of the images' means, the rates are
over all points. Several layers: a layer that is within 0.5 px of the raw layer before it is
dropped, those that remain move up, and a point is good if their number is right and its layer's
error is below the threshold. An error of exactly the threshold is bad.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins import Fault, Twin, TwinScores, fill_options
from depthgauge.datasets import DATASETS, find_estimate
from depthgauge.datasets._layeredflow.points import PointPairs
from depthgauge.datasets.layeredflow import picture_size, read_layers, read_pairs
from depthgauge.errors import BadData, DepthgaugeError, WrongShape
from depthgauge.geometry.layers import MATERIALS, TRANSPARENT
from depthgauge.io import read_map
from depthgauge.io.stacks import is_member
from depthgauge.types import Map, Sample, Score

FACTOR = 4
LAYERS = 4
PRUNED_PX = 0.5
THRESHOLDS = (1.0, 3.0, 5.0)
_NO_LIMIT = math.inf
_DIFFUSE, _REFLECTIVE = MATERIALS.index("diffuse"), MATERIALS.index("reflective")
_OPAQUE = (_DIFFUSE, _REFLECTIVE)
_ALL = (_DIFFUSE, TRANSPARENT, _REFLECTIVE)
_ANY_LAYER = tuple(range(100))
_Subset = tuple[tuple[int, ...], tuple[int, ...]]
"""Materials and layers (from 0) of its points."""
SUBSETS: dict[str, dict[str, _Subset]] = {
    "first": {
        "all": (_ALL, (0,)),
        "diffuse": ((_DIFFUSE,), (0,)),
        "transparent": ((TRANSPARENT,), (0,)),
        "reflective": ((_REFLECTIVE,), (0,)),
    },
    "last": {
        "all": (_OPAQUE, _ANY_LAYER),
        "diffuse": ((_DIFFUSE,), _ANY_LAYER),
        "reflective": ((_REFLECTIVE,), _ANY_LAYER),
        "behind_transparent": (_OPAQUE, (1, 2)),
    },
    "multi": {f"layer{k}": (_ALL, (k,)) for k in range(3)},
}
"""Of each script, in its order."""
_ROUNDING = {"first": "truncated", "last": "truncated", "multi": "half to even"}
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "layers": tuple(SUBSETS),
    "factor": (FACTOR,),
    "flow_scale": ("factor",),
    "bad": ("error >= threshold",),
    "rates": ("all points",),
    "nan": ("bad",),
}
_SINGLE_OPTIONS: dict[str, tuple[Any, ...]] = {"epe": ("mean of images",)}
_MULTI_OPTIONS: dict[str, tuple[Any, ...]] = {
    "pruned_px": (PRUNED_PX,),
    "pruned_against": ("raw layer before",),
    "count": ("transparent >=, others ==",),
}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The scripts' quirks by name; `layers` says which script."""
    task = fill_options({k: v for k, v in given.items() if k == "layers"}, _OPTIONS)["layers"]
    own = _MULTI_OPTIONS if task == "multi" else _SINGLE_OPTIONS
    return fill_options(given, {**_OPTIONS, "coordinates": (_ROUNDING[task],), **own})


def score_ids(options: Mapping[str, Any]) -> tuple[str, ...]:
    """EPE (of one layer) and the rates, subset by subset."""
    return tuple(
        f"{name}@{subset}"
        for subset in SUBSETS[options["layers"]]
        for name in _names(options["layers"])
    )


def _names(task: str) -> tuple[str, ...]:
    rates = tuple(f"bad:{t:g}" for t in THRESHOLDS)
    return (*rates, "bad:inf") if task == "multi" else ("epe", *rates)


def evaluate(sample: Sample, estimate_path: Path, options: Mapping[str, Any]) -> TwinScores:
    """All numbers of one image; those of the dataset come from `pool`."""
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    task = options["layers"]
    path = Path(sample.truth["tags_path"])
    camera = int(sample.id.rpartition("_")[2])
    pairs = read_pairs(path, camera)
    height, width = (side // FACTOR for side in picture_size(path.parent / f"0_{camera}.png"))
    layers = _read(estimate_path, task, (height, width))
    column, row = _pixels(pairs, task).T
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    row, column = row[inside], column[inside]
    flow = ((pairs.second - pairs.first) / FACTOR)[inside]
    layer, material = pairs.layer[inside], pairs.material[inside]
    # Every point with its own layers: (n, layers, 2).
    found = np.moveaxis(layers[:, :, row, column], 2, 0).astype(np.float64)
    if task == "multi":
        error = _counted_errors(found, flow, layer, material)
    else:
        error = _length(found[:, 0] - flow)
    scores: dict[str, Score] = {}
    for subset, (materials, numbers) in SUBSETS[task].items():
        used = np.isin(material, materials) & np.isin(layer, numbers)
        scores |= {f"{n}@{subset}": s for n, s in _scores(error[used], task).items()}
    return TwinScores(scores)


def _read(path: Path, task: str, shape: tuple[int, int]) -> Map:
    """Layers of flow, (n, 2, h, w); one of them for the first and the last layer."""
    if task == "multi":
        layers = read_layers(path)
    else:
        flow = read_map(path, quantity="flow", raw=True)
        layers = np.moveaxis(flow, 2, 0)[None]
    if layers.shape[2:] != shape or (task == "multi" and layers.shape[0] != LAYERS):
        count = f"{layers.shape[0]} layer(s) of "
        wanted = f"{LAYERS} layers of " if task == "multi" else ""
        raise WrongShape(
            f"{path}: holds {count}{layers.shape[3]}x{layers.shape[2]} but must hold {wanted}"
            f"{shape[1]}x{shape[0]}, a quarter of the photograph."
        )
    return layers


def _pixels(pairs: PointPairs, task: str) -> NDArray[np.int64]:
    """Column and row of each point; truncation moves -3.9 to 0."""
    small = pairs.first / FACTOR
    return (np.rint(small) if _ROUNDING[task] == "half to even" else np.trunc(small)).astype(
        np.int64
    )


def _length(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))


def _counted_errors(
    found: NDArray[np.float64],
    flow: NDArray[np.float64],
    layer: NDArray[np.int64],
    material: NDArray[np.uint8],
) -> NDArray[np.float64]:
    """The error of each point's layer; infinite if the number of layers is wrong."""
    kept: NDArray[np.bool_] = ~np.asarray(np.isnan(found).any(axis=2))
    with np.errstate(invalid="ignore"):
        kept[:, 1:] &= _length(np.diff(found, axis=1)) > PRUNED_PX
    order = np.argsort(~kept, axis=1, kind="stable")
    found = np.take_along_axis(found, order[..., None], axis=1)
    last = kept.sum(axis=1) - 1
    right = np.where(material == TRANSPARENT, last >= layer, last == layer)
    own = found[np.arange(len(found)), np.minimum(layer, LAYERS - 1)]
    return np.where(right & (layer < LAYERS), _length(own - flow), math.inf)


def _scores(error: NDArray[np.float64], task: str) -> dict[str, Score]:
    n = error.size
    scores: dict[str, Score] = {}
    if task != "multi":
        total = float(error.sum())
        scores["epe"] = Score(total / n if n else math.nan, n, 0, total, "px")
    limits = (*THRESHOLDS, _NO_LIMIT) if task == "multi" else THRESHOLDS
    for limit in limits:
        bad = n - int((error < limit).sum())
        scores[f"bad:{limit:g}"] = Score(_percent(bad, n), n, 0, float(bad), "%")
    return scores


def _percent(bad: float, n: int) -> float:
    return 100.0 * bad / n if n else math.nan


def pool(
    samples: Mapping[str, Mapping[str, Score]], options: Mapping[str, Any]
) -> dict[str, float]:
    """EPE: the mean over the images that have a point; rates: over all points."""
    pooled: dict[str, float] = {}
    for name in score_ids(options):
        scores = [found[name] for found in samples.values() if name in found and found[name].count]
        n = sum(score.count for score in scores)
        if not n:
            pooled[name] = math.nan
        elif name.startswith("epe"):
            pooled[name] = sum(score.value for score in scores) / len(scores)
        else:
            pooled[name] = _percent(sum(score.total or 0.0 for score in scores), n)
    return pooled


def check_submission(root: Path, samples: Mapping[str, Sample]) -> Iterator[Fault]:
    """Whether every image has an estimate of the right shape, in either format."""
    if not samples:
        yield Fault("submission", "cannot be checked alone.", "Give the data with --data.")
    for name, sample in samples.items():
        try:
            yield from _check_one(root, name, sample)
        except DepthgaugeError as error:
            yield Fault(name, str(error), "Write the estimate again.")


def _check_one(root: Path, name: str, sample: Sample) -> Iterator[Fault]:
    dataset = DATASETS["layeredflow"]
    path = find_estimate(root, dataset, name, "layered_flow")
    if path is None:
        yield Fault(
            name,
            "there is no estimate.",
            f"Write {name}.flo for one layer, or the array '{name}' of results.npz for several.",
        )
        return
    task = "multi" if is_member(path) else "first"
    layers = _read(path, task, sample.inputs["first_image"].shape[:2])
    unknown: NDArray[np.bool_] = np.asarray(np.isnan(layers).any(axis=1))
    if task == "first" and unknown.any():
        yield Fault(
            name,
            f"{int(unknown.sum())} pixels of {path.name} are NaN.",
            "One of them, where a point is, makes EPE NaN.",
        )
    if task == "multi" and (unknown[:-1] & ~unknown[1:]).any():
        yield Fault(
            name,
            f"{path.name} has pixels with a layer behind one that is NaN.",
            "Move layers up, so that the existing ones come first.",
            serious=False,
        )


SPEC = Twin(
    revision=1,
    options=options,
    score_ids=score_ids,
    evaluate=evaluate,
    pool=pool,
    check_submission=check_submission,
)
