"""A run for each level of a perturbation: how fast methods get worse when images do."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from depthgauge._progress import Progress
from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.benchmarks.score_ids import file_name
from depthgauge.engine.running.run import run
from depthgauge.engine.store.load import load_run
from depthgauge.engine.store.record import Run
from depthgauge.errors import BadData, BadFile, Misuse
from depthgauge.io import write_text
from depthgauge.io.text import parse_json
from depthgauge.methods import find_methods
from depthgauge.perturbations import Perturbation, levels_of

FILE_NAME = "robustness.json"
SCHEMA = 1
KIND = "depthgauge-robustness"


def run_perturbed(
    benchmark: str | Path | Protocol,
    data: str | Path,
    methods: Iterable[Any],
    out: str | Path,
    *,
    perturb: str,
    progress: Progress | None = None,
    **options: Any,
) -> list[Run]:
    """Runs methods on a benchmark once for each level of a perturbation.

    The level that changes nothing is a run under the benchmark's own protocol, so its scores
    can be compared with any other run of it; each of the others has its own protocol and hash.

    Args:
        benchmark: Its id, the path of its TOML file, or the protocol itself.
        data: The dataset's folder.
        methods: The methods, as for `run`.
        out: The folder of all runs; one folder a level is made in it, and `robustness.json`.
        perturb: The effect and its levels, such as `noise:0,5,10,20` or `gain:1,1.2,1.5@right`.
        progress: Called after each item.
        options: Further options of `run`.

    Returns:
        The runs, in the order of the levels.
    """
    protocol = find_benchmark(benchmark)
    if protocol.perturb:
        raise Misuse(f"{protocol.id} has its own perturbation, {protocol.perturb}; leave one out.")
    folder, levels = Path(out), levels_of(perturb)
    named = list(methods) if not isinstance(methods, (str, Path)) else [methods]
    if fixed := [method.label for method in find_methods(named) if not method.spec.keeps]:
        raise Misuse(
            f"method '{fixed[0]}' reads existing estimates: no damage to images "
            "changes them; run the method itself."
        )
    runs = []
    for n, level in enumerate(levels):
        changed = _changed(protocol, level)
        step = None if progress is None else _part(progress, n, len(levels), str(level))
        runs.append(run(changed, data, named, folder / _slug(level), progress=step, **options))
    _write(folder, perturb, levels)
    return runs


def load_perturbed(folder: str | Path) -> list[Run]:
    """The runs of a folder that `run_perturbed` made.

    Raises:
        BadData: It is not such a folder.
    """
    path = Path(folder) / FILE_NAME
    if not path.is_file():
        raise BadData(f"{folder}: has no {FILE_NAME}; make one with run --perturb.")
    try:
        body = parse_json(path.read_text(encoding="utf-8"))
        names = [str(entry["folder"]) for entry in body["runs"]]
        known = body["kind"] == KIND and body["schema"] == SCHEMA
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadFile(f"{path}: is damaged ({error}); run the same command again.") from error
    if not known or any(Path(name).name != name for name in names):
        raise BadFile(f"{path}: is not the {FILE_NAME} of this version.")
    return [load_run(Path(folder) / name) for name in names]


def _changed(protocol: Protocol, level: Perturbation) -> Protocol:
    return protocol if level.is_neutral else protocol.model_copy(update={"perturb": str(level)})


def _slug(level: Perturbation) -> str:
    return file_name(str(level))


def _part(progress: Progress, n: int, all_levels: int, text: str) -> Progress:
    """Progress of one of several runs of the same length."""

    def step(what: str, done: int, total: int) -> None:
        progress(f"{text} {what}", n * total + done, all_levels * total)

    return step


def _write(folder: Path, perturb: str, levels: Iterable[Perturbation]) -> None:
    body = {
        "schema": SCHEMA,
        "kind": KIND,
        "perturb": perturb,
        "runs": [
            {"text": "" if level.is_neutral else str(level), "folder": _slug(level)}
            for level in levels
        ],
    }
    write_text(folder / FILE_NAME, json.dumps(body, indent=1) + "\n")
