"""Patterns for projectors: random coloured blobs, and a page that shows them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from depthgauge import io
from depthgauge._progress import Progress, no_progress
from depthgauge.errors import CannotWrite
from depthgauge.synth.generators.patterns import PatternOptions
from depthgauge.synth.sets.patterns.blobs import blobs, codes
from depthgauge.synth.sets.patterns.player import player

REVISION = 1
"""Raised whenever the same options may give other bytes."""


def write_patterns(
    out: Path,
    options: PatternOptions,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> list[str]:
    """Writes P0/000.png ... and player.html; gives the folders of the projectors.

    Raises:
        CannotWrite: There are patterns already.
    """
    say = progress or no_progress
    if (out / "player.html").exists() and not overwrite:
        raise CannotWrite(f"{out / 'player.html'}: exists already; say --overwrite to replace it")
    size = (options.width_px, options.height_px)
    names = [f"{number:03d}.png" for number in range(options.patterns)]
    folders = [f"P{projector}" for projector in range(options.projectors)]
    for projector, folder in enumerate(folders):
        try:
            (out / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotWrite(f"{out}: cannot be written: {error.strerror or error}") from None
        for name, level in (("white", 255), ("black", 0)):
            io.write_image(out / folder / f"{name}.png", np.full((*size[::-1], 3), level, np.uint8))
        for number, name in enumerate(names):
            light = blobs(options.seed, number, projector, size, options.blob_px)
            io.write_image(out / folder / name, codes(light))
            done = projector * len(names) + number + 1
            say("drawing patterns", done, len(folders) * len(names))
    io.write_text(out / "player.html", player(dict.fromkeys(folders, names)))
    return folders


__all__ = ["REVISION", "blobs", "write_patterns"]
