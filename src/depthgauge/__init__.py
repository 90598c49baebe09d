"""depthgauge: scores you can trust for everything that sees depth.

>>> import depthgauge as dg
>>> scores = dg.score([[1.0, 2.0, 5.5, float("nan")]], [[1.0, 2.0, 3.0, 4.0]], ["badpix:2", "mae"])
>>> scores["badpix:2@all"].value
50.0
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from depthgauge._version import __version__

if TYPE_CHECKING:
    from depthgauge.analysis.compare import compare
    from depthgauge.benchmarks.protocol import Protocol
    from depthgauge.engine.catalogue import list_names as list
    from depthgauge.engine.running.folders import score_folders
    from depthgauge.engine.running.run import run
    from depthgauge.engine.scoring.check import check
    from depthgauge.engine.scoring.evaluate import evaluate
    from depthgauge.engine.scoring.in_memory.accumulator import Accumulator
    from depthgauge.engine.scoring.in_memory.arrays import score
    from depthgauge.engine.scoring.result import Result, Scores
    from depthgauge.engine.store.load import load_run
    from depthgauge.engine.store.record import Run
    from depthgauge.errors import DepthgaugeError, DepthgaugeWarning, RunWarning
    from depthgauge.io import read_image, read_map, write_map
    from depthgauge.report.run_report import report
    from depthgauge.serve.published import Leaderboard, leaderboard
    from depthgauge.types import Camera, Estimate, Inputs, Rig, Sample, Score, Truth

# The public API by where it lives. Nothing is imported before it is used, so that
# `import depthgauge` and `depthgauge --help` are instant. `module:name` where the names differ.
_HOMES = {
    "Accumulator": "engine.scoring.in_memory.accumulator",
    "Camera": "types",
    "DepthgaugeError": "errors",
    "DepthgaugeWarning": "errors",
    "Estimate": "types",
    "Inputs": "types",
    "Leaderboard": "serve.published",
    "Protocol": "benchmarks.protocol",
    "Result": "engine.scoring.result",
    "Rig": "types",
    "Run": "engine.store.record",
    "RunWarning": "errors",
    "Sample": "types",
    "Score": "types",
    "Scores": "engine.scoring.result",
    "Truth": "types",
    "check": "engine.scoring.check",
    "compare": "analysis.compare",
    "evaluate": "engine.scoring.evaluate",
    "leaderboard": "serve.published",
    "list": "engine.catalogue:list_names",
    "load_run": "engine.store.load",
    "read_image": "io",
    "read_map": "io",
    "report": "report.run_report",
    "run": "engine.running.run",
    "score": "engine.scoring.in_memory.arrays",
    "score_folders": "engine.running.folders",
    "write_map": "io",
}

__all__ = [
    "Accumulator",
    "Camera",
    "DepthgaugeError",
    "DepthgaugeWarning",
    "Estimate",
    "Inputs",
    "Leaderboard",
    "Protocol",
    "Result",
    "Rig",
    "Run",
    "RunWarning",
    "Sample",
    "Score",
    "Scores",
    "Truth",
    "__version__",
    "check",
    "compare",
    "evaluate",
    "leaderboard",
    "list",
    "load_run",
    "read_image",
    "read_map",
    "report",
    "run",
    "score",
    "score_folders",
    "write_map",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'depthgauge' has no attribute '{name}'")
    home, _, there = _HOMES[name].partition(":")
    return getattr(import_module(f"depthgauge.{home}"), there or name)


def __dir__() -> Iterable[str]:
    return sorted(__all__)
