"""`make patterns`: what a projector shows on the painted scene."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from depthgauge._options import CommandLine
from depthgauge._progress import Progress
from depthgauge.synth.generators._spec import GeneratedData, GeneratorOptions, GeneratorSpec


class PatternOptions(GeneratorOptions):
    """The projectors, and how fine their patterns are."""

    width_px: Annotated[int, CommandLine("--width")] = Field(default=1920, ge=64, le=8192)
    """Width of the projector's picture: its native resolution, not what it accepts."""
    height_px: Annotated[int, CommandLine("--height")] = Field(default=1080, ge=64, le=8192)
    """Height of the projector's picture."""
    patterns: int = Field(default=30, ge=1, le=1000)
    """Number of patterns."""
    projectors: int = Field(default=1, ge=1, le=16)
    """Number of projectors; each shows patterns of its own at the same time."""
    blob_px: float = Field(default=4.0, ge=1.0, le=100.0)
    """Width of a blob in the projector's pixels; choose it so that a blob is about 4 px wide in the
    cameras' photographs."""


SPEC = GeneratorSpec(
    "patterns",
    "Random patterns for projectors, as PNG and as a page that shows them full-screen.",
    PatternOptions,
    details="""
    The same coloured blobs as the simulator projects. `player.html` shows them one by one: space or
    a click goes on, `a` goes on by itself, `f` is full-screen; it begins with white, to focus, and
    ends with black.

    \b
      depthgauge make patterns --out patterns --width 1280 --height 720
    """,
    activity="drawing",
)


def make(
    out: Path, options: PatternOptions, *, overwrite: bool, progress: Progress | None
) -> GeneratedData:
    """Writes P0/000.png ... and player.html."""
    from depthgauge.synth.sets.patterns import write_patterns

    projectors = write_patterns(out, options, overwrite=overwrite, progress=progress)
    size = (options.width_px, options.height_px)
    return GeneratedData(
        out,
        summary=f"{options.patterns} patterns of {size[0]}x{size[1]} for "
        f"{options.projectors} projector{'s' * (options.projectors != 1)}; open player.html",
        facts={"patterns": options.patterns, "projectors": projectors, "size_px": list(size)},
    )
