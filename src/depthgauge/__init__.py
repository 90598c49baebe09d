"""depthgauge: scores you can trust for everything that sees depth.

>>> import depthgauge as dg
>>> scores = dg.score([[1.0, 2.0, 5.5, float("nan")]], [[1.0, 2.0, 3.0, 4.0]], ["badpix:2", "mae"])
>>> scores["badpix:2@all"].value
50.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from depthgauge._version import __version__

if TYPE_CHECKING:
    from depthgauge.engine.running.run import run
    from depthgauge.engine.scoring.arrays import score
    from depthgauge.engine.scoring.evaluate import evaluate
    from depthgauge.engine.store.load import load_run
    from depthgauge.errors import DepthgaugeError
    from depthgauge.io import read_image, read_map, write_map
    from depthgauge.types import Camera, Estimate, Inputs, Rig, Sample, Score, Truth

# The public API by where it lives. Nothing is imported before it is used, so that
# `import depthgauge` and `depthgauge --help` are instant.
_HOMES = {
    "Camera": "types",
    "DepthgaugeError": "errors",
    "Estimate": "types",
    "Inputs": "types",
    "Rig": "types",
    "Sample": "types",
    "Score": "types",
    "Truth": "types",
    "evaluate": "engine.scoring.evaluate",
    "load_run": "engine.store.load",
    "read_image": "io",
    "read_map": "io",
    "run": "engine.running.run",
    "score": "engine.scoring.arrays",
    "write_map": "io",
}

__all__ = [
    "Camera",
    "DepthgaugeError",
    "Estimate",
    "Inputs",
    "Rig",
    "Sample",
    "Score",
    "Truth",
    "__version__",
    "evaluate",
    "load_run",
    "read_image",
    "read_map",
    "run",
    "score",
    "write_map",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'depthgauge' has no attribute '{name}'")
    return getattr(import_module(f"depthgauge.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
