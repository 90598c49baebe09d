"""What there is: names with one line each, and everything about one name, as data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from depthgauge._registry import unknown

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from depthgauge.benchmarks import Protocol
    from depthgauge.benchmarks.suites import Suite
    from depthgauge.datasets import Dataset
    from depthgauge.methods import MethodKind
    from depthgauge.metrics import Metric
    from depthgauge.perturbations import Effect
    from depthgauge.regions import Region, SharedMap

Facts = list[tuple[str, Any]]


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a metric, region, dataset, method, benchmark ..."""

    kind: str
    facts: Facts
    """Names and values, in the order in which people read them."""
    text: str

    def to_json(self, name: str) -> dict[str, Any]:
        """The description as plain data."""
        return {"kind": self.kind, "name": name, **dict(self.facts), "text": self.text}


def _list_metrics() -> list[tuple[str, str]]:
    from depthgauge.metrics import METRICS

    return [(_call(m.name, list(m.params)), _first_line(m.doc)) for m in METRICS.values()]


def _list_regions() -> list[tuple[str, str]]:
    from depthgauge.regions import REGIONS

    return [(_call(r.name, list(r.params)), _first_line(r.doc)) for r in REGIONS.values()]


def _list_shared_maps() -> list[tuple[str, str]]:
    from depthgauge.regions import SHARED_MAPS

    return [(_call(d.name, list(d.params)), _first_line(d.doc)) for d in SHARED_MAPS.values()]


def _list_perturbations() -> list[tuple[str, str]]:
    from depthgauge.perturbations import EFFECTS

    return [
        (f"{e.name}:{','.join(f'{level:g}' for level in e.levels)}", _first_line(e.doc))
        for e in EFFECTS.values()
    ]


def _list_datasets() -> list[tuple[str, str]]:
    from depthgauge.datasets import DATASETS

    return [(name, dataset.spec.title) for name, dataset in DATASETS.items()]


def _list_methods() -> list[tuple[str, str]]:
    from depthgauge.methods import METHODS

    return [(name, kind.spec.title) for name, kind in METHODS.items()]


def _list_benchmarks() -> list[tuple[str, str]]:
    from depthgauge.benchmarks import BENCHMARKS

    return list(BENCHMARKS.titles().items())


def _list_suites() -> list[tuple[str, str]]:
    from depthgauge.benchmarks.suites import SUITES

    return list(SUITES.titles().items())


LISTS: dict[str, Callable[[], list[tuple[str, str]]]] = {
    "metrics": _list_metrics,
    "regions": _list_regions,
    "shared-maps": _list_shared_maps,
    "datasets": _list_datasets,
    "methods": _list_methods,
    "perturbations": _list_perturbations,
    "benchmarks": _list_benchmarks,
    "suites": _list_suites,
}
"""By kind: the names of all things of that kind, each with one line."""


def list_names(kind: str) -> dict[str, str]:
    """What there is of a kind: names, with their parameters, and one line about each.

    Args:
        kind: `metrics`, `regions`, `shared-maps`, `datasets`, `methods`, `perturbations`,
            `benchmarks` or `suites`.

    Raises:
        UnknownName: There is no such kind.
    """
    if kind not in LISTS:
        raise unknown("kind of names", kind, LISTS)
    return dict(LISTS[kind]())


def _call(name: str, params: list[str]) -> str:
    return f"{name}:{','.join(params)}" if params else name


def _first_line(doc: str) -> str:
    return doc.strip().partition("\n")[0]


def describe(name: str) -> list[Description]:
    """Everything of that name; a dataset and a benchmark often share one.

    Args:
        name: A name, with or without parameters (`badpix:2`), a name that papers use for a
            metric (`rmse`), or the path of a benchmark file.

    Raises:
        UnknownName: Nothing has this name.
    """
    from depthgauge.benchmarks import BENCHMARKS, find_benchmark
    from depthgauge.datasets import DATASETS
    from depthgauge.methods import METHODS
    from depthgauge.metrics import METRICS
    from depthgauge.perturbations import EFFECTS
    from depthgauge.regions import REGIONS, SHARED_MAPS

    if name.endswith(".toml"):
        protocol = find_benchmark(name)
        return [Description("benchmark", _benchmark(protocol), protocol.about.strip())]
    bare = name.partition(":")[0]
    found: list[Description] = []
    if bare in METRICS:
        found.append(Description("metric", _metric(METRICS[bare]), METRICS[bare].doc))
    if bare in REGIONS:
        found.append(Description("region", _region(REGIONS[bare]), REGIONS[bare].doc))
    if bare in SHARED_MAPS:
        shared = SHARED_MAPS[bare]
        found.append(
            Description("shared map", [("provides", shared.provides), *_region(shared)], shared.doc)
        )
    found += _benchmarks_named(name)
    if name in DATASETS:
        found.append(Description("dataset", _dataset(DATASETS[name]), DATASETS[name].spec.title))
    if bare in METHODS:
        found.append(Description("method", _method(METHODS[bare]), METHODS[bare].spec.title))
    if bare in EFFECTS:
        found.append(Description("perturbation", _effect(EFFECTS[bare]), EFFECTS[bare].doc))
    if found or (found := _of_others(bare)):
        return found
    known = [*METRICS, *REGIONS, *SHARED_MAPS, *BENCHMARKS, *DATASETS, *METHODS, *EFFECTS]
    raise unknown("metric, region, benchmark, dataset or method", name, known)


def _benchmarks_named(name: str) -> list[Description]:
    """The benchmark or the suite of that name."""
    from depthgauge.benchmarks import BENCHMARKS
    from depthgauge.benchmarks.suites import SUITES

    if name in BENCHMARKS:
        protocol = BENCHMARKS[name]
        return [Description("benchmark", _benchmark(protocol), protocol.about.strip())]
    if name in SUITES:
        return [Description("suite", _suite(SUITES[name]), SUITES[name].about.strip())]
    return []


def _suite(suite: Suite) -> Facts:
    return [
        ("title", suite.title),
        ("version", suite.version),
        ("members", dict(suite.members)),
        ("columns", ", ".join(suite.scores)),
        ("variants", ", ".join(name for name in suite.variants if name)),
    ]


def _of_others(name: str) -> list[Description]:
    """The metric that papers call so."""
    from depthgauge.benchmarks.aliases import nearest_meaning

    meant = nearest_meaning(name)
    named = describe(meant.partition("@")[0]) if meant else []
    return [replace(each, facts=[("our id", meant), *each.facts]) for each in named]


def _metric(metric: Metric) -> Facts:
    from depthgauge.metrics._taxonomy import CATEGORIES

    low, high = metric.bounds
    return [
        ("formula", metric.formula),
        ("unit", metric.unit.of("") or _unit_words(metric)),
        ("better", metric.better),
        ("bounds", f"{low:g} to {high:g}"),
        ("missing pixel", _missing(metric)),
        ("parameters", dict(metric.params)),
        ("choices", {k: " or ".join(v) for k, v in metric.choices.items()}),
        ("scores", ", ".join(metric.of)),
        ("pools", ", ".join(metric.pools)),
        ("needs", ", ".join(metric.needs)),
        ("truth", "" if metric.uses_truth else "is not used"),
        ("category", CATEGORIES[metric.category].title),
        ("revision", metric.revision),
        ("cite", metric.cite),
    ]


def _missing(metric: Metric) -> str:
    if metric.missing_costs:
        return metric.missing_costs
    if math.isinf(metric.worst):
        return "is left out; look at the density beside it"
    return f"costs the worst value, {metric.worst:g}, unless the protocol says skip"


def _unit_words(metric: Metric) -> str:
    if metric.unit.degree == 0:
        return "none"
    return ", ".join(f"{metric.unit.of(quantity)} for {quantity}" for quantity in metric.of)


def _region(region: Region | SharedMap) -> Facts:
    return [
        ("parameters", dict(region.params)),
        ("needs", ", ".join(name for name in region.needs if name != "quantity")),
        ("needs one of", ", ".join(region.needs_any)),
        ("of", ", ".join(region.of)),
        ("revision", region.revision),
        ("cite", region.cite),
    ]


def _effect(effect: Effect) -> Facts:
    low, high = effect.bounds
    return [
        ("unit of its level", effect.unit),
        ("levels", ", ".join(f"{level:g}" for level in effect.levels)),
        ("bounds", f"{low:g} to {high:g}"),
        ("changes nothing", f"{effect.neutral:g}"),
        ("views", "others" if effect.moves else "all"),
        ("revision", effect.revision),
        ("cite", effect.cite),
    ]


def _dataset(dataset: Dataset) -> Facts:
    spec = dataset.spec
    return [
        ("layout", spec.sample_layout),
        ("quantities", ", ".join(spec.quantities) or "any"),
        ("splits", ", ".join(spec.splits)),
        ("estimates", ", ".join(spec.estimate_layouts)),
        ("licence", spec.licence),
        ("cite", spec.cite),
        ("homepage", spec.homepage),
    ]


def _method(kind: MethodKind) -> Facts:
    spec = kind.spec
    fields = spec.options.model_fields
    return [
        ("estimates", ", ".join(spec.quantities) or "anything"),
        ("needs", ", ".join(spec.needs)),
        *((name, _option(field)) for name, field in fields.items()),
        ("revision", spec.revision),
        ("cite", spec.cite),
    ]


def _option(field: FieldInfo) -> str:
    said = " ".join((field.description or "").split())
    default = "" if field.is_required() else f" (default {field.default})"
    return f"{said}{default}"


def _places(protocol: Protocol) -> str:
    """Where a folder of estimates may have the estimate of a sample."""
    from depthgauge.datasets import DATASETS, estimate_candidates

    if protocol.dataset not in DATASETS:
        return ""
    places = estimate_candidates(DATASETS[protocol.dataset], "<sample>", protocol.quantity, None)
    return " or ".join(places[:3])


def _source(protocol: Protocol) -> str:
    """Whether a twin was compared with the program whose numbers it gives."""
    if protocol.twin is None:
        return ""
    from depthgauge.benchmarks.twins import TWINS

    twin = TWINS[protocol.twin]
    return twin.source(twin.options(protocol.options))


def _benchmark(protocol: Protocol) -> Facts:
    return [
        ("version", protocol.version),
        ("hash", protocol.hash),
        ("dataset", f"{protocol.dataset} ({protocol.split})"),
        ("read with", dict(protocol.dataset_options)),
        ("quantity", protocol.quantity),
        ("layer", "" if protocol.truth.layer == "all" else protocol.truth.layer),
        ("one layer", "stands for all" if protocol.estimate.repeat_layer else ""),
        ("estimates", _places(protocol)),
        ("missing", protocol.missing),
        ("pool", protocol.pool),
        ("alignment", protocol.align.kind),
        ("resize", protocol.estimate_resize),
        ("scores", ", ".join(protocol.score_ids)),
        ("twin of", protocol.twin),
        ("numbers", _source(protocol)),
        ("options", dict(protocol.options)),
    ]
