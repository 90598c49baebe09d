"""`depthgauge list`: names of metrics, methods, benchmarks ..."""

from __future__ import annotations

from collections.abc import Callable

import click

from depthgauge.cli._output import print_table, write_json


def _metrics() -> list[tuple[str, str]]:
    from depthgauge.metrics import METRICS

    return [(_call(m.name, list(m.params)), _first_line(m.doc)) for m in METRICS.values()]


def _regions() -> list[tuple[str, str]]:
    from depthgauge.regions import REGIONS

    return [(_call(r.name, list(r.params)), _first_line(r.doc)) for r in REGIONS.values()]


def _shared_maps() -> list[tuple[str, str]]:
    from depthgauge.regions import SHARED_MAPS

    return [(_call(d.name, list(d.params)), _first_line(d.doc)) for d in SHARED_MAPS.values()]


def _perturbations() -> list[tuple[str, str]]:
    from depthgauge.perturbations import EFFECTS

    return [
        (f"{e.name}:{','.join(f'{level:g}' for level in e.levels)}", _first_line(e.doc))
        for e in EFFECTS.values()
    ]


def _datasets() -> list[tuple[str, str]]:
    from depthgauge.datasets import DATASETS

    return [(name, dataset.spec.title) for name, dataset in DATASETS.items()]


def _methods() -> list[tuple[str, str]]:
    from depthgauge.methods import METHODS

    return [(name, kind.spec.title) for name, kind in METHODS.items()]


def _benchmarks() -> list[tuple[str, str]]:
    from depthgauge.benchmarks import BENCHMARKS

    return [(name, protocol.title) for name, protocol in BENCHMARKS.items()]


KINDS: dict[str, Callable[[], list[tuple[str, str]]]] = {
    "metrics": _metrics,
    "regions": _regions,
    "shared-maps": _shared_maps,
    "datasets": _datasets,
    "methods": _methods,
    "perturbations": _perturbations,
    "benchmarks": _benchmarks,
}


_BEFORE = {"derived": "shared-maps"}
"""Names that kinds had before."""


@click.command("list")
@click.argument("kind", type=click.Choice([*KINDS, *_BEFORE]), required=False, metavar="[KIND]")
@click.option("--json", "as_json", is_flag=True, help="Names and one-line descriptions as JSON.")
def command(kind: str | None, as_json: bool) -> None:
    """Lists metrics, regions, datasets, methods, benchmarks ..., or all of them.

    Shared maps are what regions and metrics share (edges, fine structures); their parameters
    are set by a benchmark. Perturbations are shown with the levels that they suggest.
    """
    found = {name: KINDS[name]() for name in ([_BEFORE.get(kind, kind)] if kind else KINDS)}
    if as_json:
        write_json("-", {name: dict(rows) for name, rows in found.items()})
        return
    for name, rows in found.items():
        columns = [(name, "left"), ("", "left")]
        print_table(columns, [[key, text] for key, text in rows])


def _call(name: str, params: list[str]) -> str:
    return f"{name}:{','.join(params)}" if params else name


def _first_line(doc: str) -> str:
    return doc.strip().partition("\n")[0]
