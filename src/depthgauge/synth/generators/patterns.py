"""`make patterns`: what a projector shows on the painted scene."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from depthgauge import io
from depthgauge._options import CommandLine
from depthgauge._progress import Progress, no_progress
from depthgauge.errors import CannotWrite
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
    from depthgauge.synth.sets.pattern_player import player
    from depthgauge.synth.sets.projected_patterns import blobs, codes

    say = progress or no_progress
    if (out / "player.html").exists() and not overwrite:
        raise CannotWrite(f"{out / 'player.html'}: exists already; say --overwrite to replace it")
    size = (options.width_px, options.height_px)
    files: dict[str, list[str]] = {}
    total = options.patterns * options.projectors
    for projector in range(options.projectors):
        folder = out / f"P{projector}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotWrite(f"{out}: cannot be written: {error.strerror or error}") from None
        for name, level in (("white", 255), ("black", 0)):
            io.write_image(folder / f"{name}.png", np.full((*size[::-1], 3), level, np.uint8))
        for number in range(options.patterns):
            light = blobs(options.seed, number, projector, size, options.blob_px)
            io.write_image(folder / f"{number:03d}.png", codes(light))
            files.setdefault(f"P{projector}", []).append(f"{number:03d}.png")
            say("drawing patterns", len(files) * options.patterns, total)
    io.write_text(out / "player.html", player(files))
    return GeneratedData(
        out,
        summary=f"{options.patterns} patterns of {size[0]}x{size[1]} for "
        f"{options.projectors} projector{'s' * (options.projectors != 1)}; open player.html",
        facts={"patterns": options.patterns, "projectors": list(files), "size_px": list(size)},
    )
