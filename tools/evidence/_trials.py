"""What the trials share: methods are run on real data through the engine, and scored by a file."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from depthgauge.engine.running import run as engine
from depthgauge.engine.score_codec import finite
from depthgauge.engine.store.record import Run
from tools.evidence import DATA, REPOSITORY, Table

PROTOCOLS = REPOSITORY / "docs" / "evidence" / "trials"
Known = Mapping[str, Mapping[str, str]]


def copy(places: Mapping[str, Path], root: Path) -> Path:
    """Puts files where a dataset's layout wants them."""
    for name, source in places.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
    return root


@contextmanager
def example_weights(folders: Mapping[str, str]) -> Iterator[None]:
    """Example methods find their weights, and the Python that has onnxruntime.

    Args:
        folders: Of real data, by the variable that names them.
    """
    before = dict(os.environ)
    os.environ |= {name: str(DATA / folder) for name, folder in folders.items()}
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before.get('PATH', '')}"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def conduct(protocol: str, data: Path, methods: Iterable[Any], place: Path, **options: Any) -> Run:
    """Runs methods under a protocol of the trials, or a shipped benchmark, into a new folder."""
    file = PROTOCOLS / f"{protocol}.toml"
    named = file if file.is_file() else protocol
    return engine.run(named, data, methods, place, workers=0, keep_estimates=False, **options)


def table(name: str, *runs: Run, known: Known | None = None) -> Table:
    """The scores of runs under one protocol, of the same truth."""
    first = runs[0]
    if any(run.truth_hashes != first.truth_hashes for run in runs):
        raise ValueError(f"{name}: the runs are of different truths.")
    results = {e.label: run.results[e.label, 0] for run in runs for e in run.entrants}
    for label, result in results.items():
        if result.failed:
            raise ValueError(f"{name}: {label} failed, {dict(result.failed)}.")
    specs = {spec.id: spec for spec in first.protocol.specs}
    some = next(iter(results.values()))
    shown = {i: spec for i, spec in specs.items() if i in some.summary}
    regions = {spec.region: i for i, spec in shown.items()}
    scored = {r: [s[i] for s in some.samples.values() if i in s] for r, i in regions.items()}
    return Table(
        name,
        first.protocol.id,
        first.protocol.hash,
        first.samples,
        pixels={r: sum(s.count + s.missing for s in found) for r, found in scored.items()},
        used={r: len(found) for r, found in scored.items()},
        scores={
            i: {"unit": some.summary[i].unit, "better": spec.metric.better}
            for i, spec in shown.items()
        },
        rows={
            label: {i: finite(result.summary[i].value) for i in shown}
            for label, result in results.items()
        },
        opencv=first.info["made_by"]["opencv-python-headless"] if _is_opencv(runs) else "",
        known=known or {},
    )


def _is_opencv(runs: Iterable[Run]) -> bool:
    return any(e.method not in ("constant", "folder") for run in runs for e in run.entrants)
