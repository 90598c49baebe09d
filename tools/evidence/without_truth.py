"""How well measures that use no truth predict the true error, on scenes whose truth is exact.

Stereo: eight scenes, two seeds of noise, eleven settings of methods. Light fields: five stratified
scenes, six settings. For each measure, rank correlation with the true error: within a sample over
methods (does it tell which method is better?), and within a method over samples (does it tell
where the method fails?), and how many pairs of methods it puts in the right order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import depthgauge as dg
from depthgauge.methods import find_method
from depthgauge.metrics import METRICS
from depthgauge.synth.sets.stereo_scenes import SCENES, make_scene
from depthgauge.synth.sets.stratified import make_scene as make_light_field
from depthgauge.types import Inputs, Sample
from tools._measured import table, update
from tools.evidence import Number, figure, recorded_values, within

SEEDS = (11, 12)
"""Nothing was chosen by looking at these; the settings were, at seed 1."""
SIZE_PX = (240, 180)
STEREO = (
    "bm:block_size=7,fill=background",
    "bm:block_size=11,fill=background",
    "bm:block_size=21,fill=background",
    "bm:block_size=41,fill=background",
    "sgbm:block_size=1,fill=background",
    "sgbm:block_size=5,fill=background",
    "sgbm:block_size=11,fill=background",
    "sgbm:block_size=5,p1=0,p2=1,fill=background",
    "sgbm:block_size=5,p1=2000,p2=20000,fill=background",
    "sgbm:block_size=5,fill=scanline",
    "constant",
)
LIGHT_FIELDS = ("backgammon", "dots", "pyramids", "stripes", "slant")
LF_SIZE_PX = 96
LF_METHODS = (
    "lf-epi",
    "lf-epi:smoothness=0,median=0",
    "lf-cost-volume",
    "lf-cost-volume:smoothness=0,median=0,p1=0,p2=0",
    "lf-pair",
    "lf-pair:block_size=15",
)
MEASURES = (
    "prediction_rms",
    "prediction_psnr",
    "prediction_ncc",
    "prediction_ssim",
    "self_consistency",
    "segment_consistency",
    "rough_gradients",
    "rough_gradients:second",
    "weak_bumpiness",
)
LF_MEASURES = (
    "prediction_rms",
    "prediction_rms:third",
    "prediction_ssim",
    "prediction_ssim:third",
    "segment_consistency",
    "rough_gradients:first,0.1",
    "weak_bumpiness",
)
TRUE = "badpix:1"
LF_TRUE = "badpix:0.07"
Scores = Mapping[str, Mapping[str, Mapping[str, float]]]
"""By score, then by sample, then by method."""


@figure(
    "without-truth",
    data="eight stereo scenes of 240x180 with seeds 11 and 12; five light fields of 96x96",
)
def measures_without_truth() -> Iterator[Number]:
    """Rank correlation of measures that use no truth with the true error, and pairs put right."""
    stereo = stereo_scores()
    yield from _numbers("stereo", stereo, MEASURES, TRUE)
    light = light_field_scores()
    yield from _numbers("light field", light, LF_MEASURES, LF_TRUE)
    # What the page says in words; the bounds are from seed 1.
    said = (
        ("prediction_ssim", by_sample, "within a sample", 0.3, 1.0),
        ("weak_bumpiness", by_sample, "within a sample", -1.0, 0.1),
        ("self_consistency", by_sample, "within a sample", -0.4, 0.4),
        ("self_consistency", by_method, "within a method", 0.4, 1.0),
    )
    for measure, over, words, least, most in said:
        value = _mean(over(stereo, measure, TRUE))
        yield within(f"stereo: claim about {measure} {words}", value, least, most)


def _numbers(kind: str, scores: Scores, measures: Sequence[str], true: str) -> Iterator[Number]:
    for measure in measures:
        samples = by_sample(scores, measure, true)
        for sample, value in samples.items():
            yield Number(f"{kind}, {measure}, sample {sample}", value)
        for method, value in by_method(scores, measure, true).items():
            yield Number(f"{kind}, {measure}, method {method}", value)
        yield Number(f"{kind}, {measure}: correlation within a sample", _mean(samples))
        methods = by_method(scores, measure, true)
        yield Number(f"{kind}, {measure}: correlation within a method", _mean(methods))
        yield Number(f"{kind}, {measure}: pairs in order, %", pairs_in_order(scores, measure, true))


def stereo_scores(seeds: Sequence[int] = SEEDS) -> Scores:
    """All measures and the true error of every method on every stereo sample."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, seed in itertools.product(SCENES, seeds):
        sample = make_scene(name, SIZE_PX, seed)
        for method in STEREO:
            estimate = {
                "disparity": _estimate(method, sample.inputs),
                "right_disparity": _right_estimate(method, sample.inputs),
            }
            _add(found, estimate, sample, f"{name} {seed}", method, (*MEASURES, TRUE))
    return found


def light_field_scores() -> Scores:
    """The same for light fields."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in LIGHT_FIELDS:
        sample = make_light_field(name, size_px=LF_SIZE_PX, views=9, scale=1)
        for method in LF_METHODS:
            estimate = {"disparity": _estimate(method, sample.inputs)}
            _add(found, estimate, sample, name, method, (*LF_MEASURES, LF_TRUE))
    return found


def _add(
    found: dict[str, dict[str, dict[str, float]]],
    estimate: Mapping[str, Any],
    sample: Sample,
    name: str,
    method: str,
    ids: Sequence[str],
) -> None:
    truth = sample.truth
    assert truth is not None
    scores = dg.score(
        estimate, truth["disparity"], list(ids), quantity="disparity", items=dict(sample.inputs),
        check=False,
    )  # fmt: skip
    for score_id, score in scores.items():
        measure = score_id.removesuffix("@all")
        found.setdefault(measure, {}).setdefault(name, {})[method] = score.value


def _estimate(method: str, inputs: Inputs) -> NDArray[np.float32]:
    given = Inputs({**inputs, "quantity": "disparity"})
    return find_method(method).estimate(given, "disparity").values  # type: ignore[union-attr]  # no clip


def _right_estimate(method: str, inputs: Inputs) -> NDArray[np.float32]:
    """The right view's disparities: those of the mirrored pair, mirrored back."""
    mirrored = dict(inputs)
    mirrored["left_image"] = np.ascontiguousarray(inputs["right_image"][:, ::-1])
    mirrored["right_image"] = np.ascontiguousarray(inputs["left_image"][:, ::-1])
    return np.ascontiguousarray(_estimate(method, Inputs(mirrored))[:, ::-1])


def _badness(scores: Scores, measure: str, sample: str, method: str) -> float:
    """The measure, larger where it says that an estimate is worse."""
    better = METRICS[measure.partition(":")[0]].better
    value = scores[measure][sample][method]
    return -value if better == "higher" else value


def by_sample(scores: Scores, measure: str, true: str) -> dict[str, float]:
    """For each sample the rank correlation over methods."""
    found = {}
    for sample, errors in scores[true].items():
        said = [_badness(scores, measure, sample, method) for method in errors]
        found[sample] = rank_correlation(said, list(errors.values()))
    return found


def by_method(scores: Scores, measure: str, true: str) -> dict[str, float]:
    """For each method the rank correlation over samples."""
    samples = list(scores[true])
    found = {}
    for method in scores[true][samples[0]]:
        said = [_badness(scores, measure, sample, method) for sample in samples]
        found[method] = rank_correlation(said, [scores[true][s][method] for s in samples])
    return found


def pairs_in_order(scores: Scores, measure: str, true: str) -> float:
    """Percentage of pairs of methods on a sample that the measure puts into the true order.

    Pairs that it cannot tell apart count half; those with equal errors are left out.
    """
    right, pairs = 0.0, 0
    for sample, errors in scores[true].items():
        for first, second in itertools.combinations(errors, 2):
            gap = errors[first] - errors[second]
            if gap == 0:
                continue
            said = _badness(scores, measure, sample, first)
            said -= _badness(scores, measure, sample, second)
            pairs += 1
            right += 0.5 if said == 0 else float((said > 0) == (gap > 0))
    return 100.0 * right / pairs


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's; 0 if one of them is the same everywhere.

    >>> rank_correlation([1, 2, 9], [10, 30, 40]), rank_correlation([1, 1], [3, 4])
    (1.0, 0.0)
    """
    from scipy.stats import rankdata

    a, b = (rankdata(values) - (len(values) + 1) / 2 for values in (first, second))
    size = math.sqrt(float(a @ a) * float(b @ b))
    return round(float(a @ b) / size, 12) if size else 0.0


def _mean(values: Mapping[str, float]) -> float:
    return float(np.mean(list(values.values())))


def write_page(*, check: bool = False) -> bool:
    """Brings the tables of docs/metrics-without-truth.md up to date; True where they are."""
    numbers = recorded_values("without-truth")
    if not numbers:
        return False
    parts = {
        "stereo measures": rows(numbers, "stereo", MEASURES),
        "light field measures": rows(numbers, "light field", LF_MEASURES),
    }
    return update("metrics-without-truth.md", parts, "evidence", check)


def rows(numbers: Mapping[str, float], kind: str, measures: Sequence[str]) -> str:
    """One table of the page, the best measure first."""
    head = ["measure", "within a sample", "worst sample", "within a method", "pairs in order"]
    body = []
    for measure in sorted(measures, key=lambda m: -numbers[_key(kind, m, "sample")]):
        lowest = min(numbers[n] for n in numbers if n.startswith(f"{kind}, {measure}, sample "))
        body.append(
            [
                f"`{measure}`",
                f"{numbers[_key(kind, measure, 'sample')]:.2f}",
                f"{lowest:.2f}",
                f"{numbers[_key(kind, measure, 'method')]:.2f}",
                f"{numbers[f'{kind}, {measure}: pairs in order, %']:.0f} %",
            ]
        )
    return table(head, body)


def _key(kind: str, measure: str, of: str) -> str:
    return f"{kind}, {measure}: correlation within a {of}"
