"""A protocol in plain sentences: what was measured, on which pixels, and at what cost."""

from __future__ import annotations

import math
from collections.abc import Iterator

from depthgauge.analysis.comparable import has_pixel_errors
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.protocol import NO_DATASET
from depthgauge.benchmarks.score_ids import ScoreSpec, format_value
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS
from depthgauge.engine.scoring.prepare import needs_focal
from depthgauge.geometry.crops import NAMED_CROPS
from depthgauge.perturbations import EFFECTS, parse_perturbation
from depthgauge.quantities import QUANTITIES
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.words.regions import derived_words, first_paragraph, region_words

Words = list[tuple[str, str]]

_BETTER = {
    "lower": "lower is better",
    "higher": "higher is better",
    "zero": "closer to zero is better",
}
_RESIZE = {
    "none": "An estimate must have the truth's size.",
    "nearest": "An estimate of another size takes the nearest pixel{}.",
    "block": "An estimate smaller by a whole factor is repeated in blocks{}.",
    "bilinear": "An estimate of another size is interpolated linearly{}.",
    "zoom": "An estimate of another size takes the nearest pixel, corner centres aligned.",
    "area": "A picture of another size takes the mean of the area that each pixel covers.",
    "kb": "An estimate of 1216x352 is put back where KITTI's benchmark crop took it from; other "
    "sizes are wrong.",
}
_POOL = {
    "image": "The plain mean over samples: each counts the same, regardless of its size.",
    "median": "The median over samples: half of them are better, half are worse.",
    "scene": "Pixels are merged within each scene, then the plain mean over scenes is computed.",
    "pixel": "All pixels of all samples are merged: large samples count more.",
}
_POOL_LISTS = "Counts or rankings of all samples are merged, then scored once."
_OF_DATASET = "Only the whole dataset has a value, single samples have none, in: {}."
_FILL = {
    "background": "with the smaller of the values beside its gap",
    "scanline": "by linear interpolation along its row",
    "constant": "with a constant",
}
_ALIGN = {
    "median": "multiplied by the factor that makes the medians agree",
    "scale": "multiplied by the factor of least squares",
    "scale_shift": "multiplied by a factor and shifted, both by least squares",
}


def source_line(protocol: Protocol) -> str:
    """Where the numbers of a table come from."""
    return f"{protocol.id} v{protocol.version}, protocol {protocol.hash[:12]}"


def describe_protocol(protocol: Protocol) -> Words:
    """Terms and explanations in the order in which a reader needs them."""
    words: Words = [
        ("Data", _data(protocol)),
        *_perturbation(protocol),
        ("Quantity", _quantity(protocol)),
    ]
    if protocol.twin is not None:
        return [*words, *_twin(protocol), ("Pooling", _twin_pooling(protocol))]
    return [
        *words,
        *_accuracy(protocol),
        *region_words(protocol),
        ("Missing pixels", _missing(protocol)),
        ("Allowed range", _range(protocol)),
        *_focal(protocol),
        ("Alignment", _alignment(protocol)),
        ("Size", _size(protocol)),
        ("Pooling", _pooling(protocol)),
        *_metrics(protocol),
        *derived_words(protocol),
    ]


def _data(protocol: Protocol) -> str:
    if protocol.dataset == NO_DATASET:
        return "The maps that were given, no dataset."
    title = DATASETS[protocol.dataset].spec.title if protocol.dataset in DATASETS else ""
    name = f"{title} ({protocol.dataset})" if title else protocol.dataset
    return f"{name}, split '{protocol.split}'."


def _perturbation(protocol: Protocol) -> Iterator[tuple[str, str]]:
    if not protocol.perturb:
        return
    parts = parse_perturbation(protocol.perturb).parts
    effects = [f"{part.text}: {first_paragraph(EFFECTS[part.effect].doc)}" for part in parts]
    yield "Perturbation", f"Images are damaged before methods see them. {' '.join(effects)}"


def _quantity(protocol: Protocol) -> str:
    unit = QUANTITIES[protocol.quantity].unit
    name = protocol.quantity.replace("_", " ").capitalize()
    if meaning := drawing_of(protocol.quantity).spec.meaning:
        return f"{name}. {meaning}"
    if not has_pixel_errors(protocol):
        return f"{name}, up to a scale: no score compares it in {unit}."
    return f"{name}{f', in {unit}' if unit else ''}."


def _accuracy(protocol: Protocol) -> Iterator[tuple[str, str]]:
    if protocol.truth_accuracy is not None:
        unit = QUANTITIES[protocol.quantity].unit
        limit = f"{protocol.truth_accuracy:g} {unit}".strip()
        yield "Truth", f"May be off by {limit}; smaller differences between methods are ties."


def _twin(protocol: Protocol) -> Iterator[tuple[str, str]]:
    twin = TWINS[str(protocol.twin)]
    options = twin.options(protocol.options)
    yield (
        "Twin",
        f"These are the numbers of the public evaluator '{protocol.twin}', quirks included; "
        "they may count missing pixels, sizes and ranges in another way than our own benchmarks. "
        f"Where they come from: {twin.source(options)}.",
    )
    for name, value in options.items():
        why = twin.explained.get(name, "")
        yield f"Option {name}", f"{value}. {why}" if why else f"{value}"
    yield "Scores", ", ".join(protocol.score_ids)


def _missing(protocol: Protocol) -> str:
    if protocol.missing == "skip":
        return "A pixel without an estimate is left out; look at the density beside the score."
    if protocol.missing == "good":
        return "A pixel without an estimate counts as correct, as in the original evaluator."
    if all(spec.metric.missing_costs for spec in protocol.specs) and protocol.interpolate is None:
        return "Each metric below says what a pixel without an estimate costs."
    cost = (
        "costs the worst value of metrics that have one (it is a bad pixel); other metrics are "
        "over the estimated pixels and are shown with the density."
    )
    if protocol.missing == "bad":
        return f"A pixel without an estimate {cost}"
    how = _FILL[str(protocol.interpolate)]
    if protocol.interpolate == "constant":
        how = f"with {protocol.interpolate_constant:g}"
    return f"A pixel without an estimate is filled {how}. What cannot be filled {cost}"


def _range(protocol: Protocol) -> str:
    sentences = []
    if protocol.estimate.inverse:
        sentences.append("Estimates are inverse depths, which are aligned as they are.")
    if protocol.estimate.clip is not None:
        low, high = protocol.estimate.clip
        sentences.append(f"Estimates are moved into {low:g} to {high:g} before scoring.")
    if isinstance(protocol.estimate.range, tuple):
        low, high = protocol.estimate.range
        sentences.append(f"An estimate outside {low:g} to {high:g} counts as missing.")
    elif rule := drawing_of(protocol.quantity).spec.range_rule:
        sentences.append(rule)
    elif protocol.estimate.range == "inputs":
        sentences.append("An estimate outside the range that methods are given counts as missing.")
    else:
        sentences.append("Estimates of any finite value count.")
    if protocol.truth.cardboard:
        sentences.append(
            f"An object of {protocol.truth.cardboard} that has no truth gets one value, as if it "
            "were of cardboard."
        )
    limits = {"from": protocol.truth.min_depth_m, "to": protocol.truth.max_depth_m}
    texts = [f"{word} {limit:g} m" for word, limit in limits.items() if limit is not None]
    if texts:
        open_ends = ", without these ends" if protocol.truth.limits == "open" else ""
        sentences.append(f"Truth is scored {' '.join(texts)}{open_ends}.")
    return " ".join(sentences)


def _focal(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Which focal length turns estimated depth into points, if a score needs one."""
    if not needs_focal(protocol):
        return
    given = protocol.estimate.focal_px
    lacking = "one without any cannot be scored"
    if given is not None:
        lacking = f"one without any gets {given:g} px, at the truth's size"
    yield "Focal length", f"Each estimate has its own; {lacking}."


def _pooling(protocol: Protocol) -> str:
    """How samples are pooled, and which scores single samples do not have."""
    whole = [spec.id for spec in protocol.specs if spec.metric.level == "dataset"]
    if not whole:
        return _POOL[protocol.pool]
    if len(whole) == len(protocol.specs):
        return f"{_POOL_LISTS} Only the whole dataset has a value, single samples have none."
    return f"{_POOL[protocol.pool]} {_OF_DATASET.format(', '.join(whole))}"


def _twin_pooling(protocol: Protocol) -> str:
    if TWINS[str(protocol.twin)].pool is not None:
        return "All samples are pooled as in the original."
    return _POOL[protocol.pool]


def _alignment(protocol: Protocol) -> str:
    align = protocol.align
    if align.kind == "none":
        return "None: estimates are scored as they are."
    own = "disparity" if protocol.estimate.inverse else QUANTITIES[protocol.quantity].own_space
    space = align.space or own
    return (
        f"Each estimate is {_ALIGN[align.kind]} in {space}, fitted to the truth of every image on "
        f"the region '{align.fit_on}'."
    )


def _size(protocol: Protocol) -> str:
    kept = protocol.resize_values == "kept"
    values = ", its values unchanged" if kept else ", its values scaled accordingly"
    sentences = [_RESIZE[protocol.estimate_resize].format(values)]
    if protocol.truth_scale != 1:
        sentences.insert(
            0,
            f"The truth is used at {protocol.truth_scale:g} of its size and its values are "
            "scaled accordingly; thresholds stay as they are.",
        )
    if protocol.truth_size is not None:
        width, height = protocol.truth_size
        sentences.insert(
            0,
            f"Truth, estimate and images are compared at {width}x{height} px, whatever their own "
            "size and shape; disparities are scaled with the width.",
        )
    if protocol.border:
        border = f"{protocol.crop} {'pixels' if isinstance(protocol.crop, int) else 'of the size'}"
        sentences.append(f"A border of {border} is not scored, and estimates may lack it.")
    if protocol.box is not None:
        name = f"'{protocol.crop}', rows and columns " if protocol.crop in NAMED_CROPS else ""
        sentences.append(f"Only the crop {name}{protocol.box.text} of the truth is scored.")
    sentences += [_finer(protocol, resolution) for resolution in protocol.resolutions[1:]]
    return " ".join(sentences)


def _finer(protocol: Protocol, resolution: str) -> str:
    names = dict.fromkeys(s.metric.name for s in protocol.specs if s.resolution == resolution)
    return (
        f"Compared with the truth at resolution '{resolution}', estimates enlarged to it: "
        f"{', '.join(names)}."
    )


def _metrics(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Each metric once, for any parameters and regions."""
    kinds: dict[str, list[ScoreSpec]] = {}
    for spec in protocol.specs:
        kinds.setdefault(spec.metric.name, []).append(spec)
    for name, specs in kinds.items():
        metric = specs[0].metric
        unit = metric.unit.of(protocol.quantity)
        facts = [f"in {unit}" if unit else "a ratio", _BETTER[metric.better]]
        if metric.missing_costs:
            facts.append(f"a missing pixel: {metric.missing_costs}")
        elif math.isinf(metric.worst):
            facts.append("no worst value, so shown with the density")
        doc = first_paragraph(metric.doc)
        formula = f"Formula: {metric.formula}; {', '.join(facts)}."
        yield f"Metric {name}", f"{doc} {formula}{_params(specs)}"


def _params(specs: list[ScoreSpec]) -> str:
    """The values of each parameter, as a sentence."""
    lists = []
    for name in specs[0].params:
        values = dict.fromkeys(format_value(spec.params[name]) for spec in specs)
        lists.append(f"{name} {', '.join(values)}")
    return f" Here: {'; '.join(lists)}." if lists else ""
