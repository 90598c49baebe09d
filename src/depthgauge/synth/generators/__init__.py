"""Generators, one file each: what `depthgauge make KIND` writes.

    generate("stereo-scenes", "scenes", width=240, height=180)

A module joins by having `SPEC = GeneratorSpec(...)` and a function `make(out, options, *,
overwrite, progress)`. The modules import heavy code inside that function, so that listing the kinds
is fast.
"""

from __future__ import annotations

from depthgauge._progress import Progress
from depthgauge.synth.generators._spec import (
    GENERATORS,
    GeneratedData,
    Generator,
    GeneratorOptions,
    GeneratorSpec,
    generate,
)

__all__ = [
    "GENERATORS",
    "GeneratedData",
    "Generator",
    "GeneratorOptions",
    "GeneratorSpec",
    "Progress",
    "generate",
]
