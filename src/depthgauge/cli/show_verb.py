"""`depthgauge show`: explains one metric, region, method ..."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

import click

from depthgauge._registry import unknown
from depthgauge.cli._names import completes
from depthgauge.cli._output import write_json

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from depthgauge.benchmarks import Protocol
    from depthgauge.datasets import Dataset
    from depthgauge.methods import MethodKind
    from depthgauge.metrics import Metric
    from depthgauge.perturbations import Effect
    from depthgauge.regions import Region, SharedMap

Facts = list[tuple[str, Any]]


@click.command("show")
@click.argument(
    "name",
    shell_complete=completes(
        "metrics",
        "regions",
        "datasets",
        "methods",
        "perturbations",
        "benchmarks",
        files=True,
    ),
)
@click.option("--json", "as_json", is_flag=True, help="The declaration as JSON.")
def command(name: str, as_json: bool) -> None:
    """Explains a metric, region, dataset, method, benchmark ...: definition, unit, parameters.

    \b
      depthgauge show badpix
      depthgauge show sgbm
      depthgauge show middlebury
    """
    found = _find(name)
    if as_json:
        bodies = [
            {"kind": k, "name": name, **dict(facts), "text": text} for k, facts, text in found
        ]
        write_json("-", bodies[0] if len(bodies) == 1 else {"name": name, "found": bodies})
        return
    for number, thing in enumerate(found):
        if number:
            click.echo()
        _show(name, *thing)


def _show(name: str, kind: str, facts: Facts, text: str) -> None:
    click.echo(f"{name}  ({kind})\n")
    if text:
        click.echo(f"{text}\n")
    shown = [(key, value) for key, value in facts if value not in ("", None, [], {})]
    width = max((len(key) for key, _ in shown), default=0) + 2
    for key, value in shown:
        first = f"{key + ':':<{width}}"
        click.echo(
            textwrap.fill(_plain(value), 100, initial_indent=first, subsequent_indent=" " * width)
        )


def _find(name: str) -> list[tuple[str, Facts, str]]:
    """Everything of that name; a dataset and a benchmark often share one."""
    from depthgauge.benchmarks import BENCHMARKS, find_benchmark
    from depthgauge.datasets import DATASETS
    from depthgauge.methods import METHODS
    from depthgauge.metrics import METRICS
    from depthgauge.perturbations import EFFECTS
    from depthgauge.regions import REGIONS, SHARED_MAPS

    if name.endswith(".toml"):
        protocol = find_benchmark(name)
        return [("benchmark", _benchmark(protocol), protocol.about.strip())]
    bare = name.partition(":")[0]
    found: list[tuple[str, Facts, str]] = []
    if bare in METRICS:
        found.append(("metric", _metric(METRICS[bare]), METRICS[bare].doc))
    if bare in REGIONS:
        found.append(("region", _region(REGIONS[bare]), REGIONS[bare].doc))
    if bare in SHARED_MAPS:
        shared = SHARED_MAPS[bare]
        found.append(("shared map", [("provides", shared.provides), *_region(shared)], shared.doc))
    if name in BENCHMARKS:
        protocol = BENCHMARKS[name]
        found.append(("benchmark", _benchmark(protocol), protocol.about.strip()))
    if name in DATASETS:
        found.append(("dataset", _dataset(DATASETS[name]), DATASETS[name].spec.title))
    if bare in METHODS:
        found.append(("method", _method(METHODS[bare]), METHODS[bare].spec.title))
    if bare in EFFECTS:
        found.append(("perturbation", _effect(EFFECTS[bare]), EFFECTS[bare].doc))
    if found:
        return found
    known = [*METRICS, *REGIONS, *SHARED_MAPS, *BENCHMARKS, *DATASETS, *METHODS, *EFFECTS]
    raise unknown("metric, region, benchmark, dataset or method", name, known)


def _metric(metric: Metric) -> Facts:
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


def _benchmark(protocol: Protocol) -> Facts:
    return [
        ("version", protocol.version),
        ("hash", protocol.hash),
        ("dataset", f"{protocol.dataset} ({protocol.split})"),
        ("quantity", protocol.quantity),
        ("missing", protocol.missing),
        ("pool", protocol.pool),
        ("alignment", protocol.align.kind),
        ("resize", protocol.estimate_resize),
        ("scores", ", ".join(protocol.score_ids)),
        ("twin of", protocol.twin),
        ("options", dict(protocol.options)),
    ]


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {item}" for key, item in value.items())
    return str(value)
