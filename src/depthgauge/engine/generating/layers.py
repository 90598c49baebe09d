"""`make layers`: rooms with glass, with exact truth of every layer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from depthgauge._options import CommandLine
from depthgauge._progress import Progress
from depthgauge.synth.generators import GeneratedData, GeneratorOptions, GeneratorSpec

RoomName = Literal["bathroom", "bedroom", "kitchen", "living-room", "office"]
"""Repeated here, so that a shell can complete them without loading NumPy."""


class LayersOptions(GeneratorOptions):
    """What is made, how it is rendered, and who does the work."""

    pairs: int = Field(default=20, ge=1, le=1_000_000)
    """Number of samples: stereo pairs at two times, so four images each."""
    first: int = Field(default=0, ge=0)
    """Number of the first one; so several calls can make parts of one set."""
    width: int = Field(default=480, ge=32, le=4096)
    """Width of the images in px."""
    height: int = Field(default=360, ge=32, le=4096)
    """Height of the images in px."""
    samples: int = Field(default=32, ge=1, le=65536)
    """Light paths for each pixel."""
    denoise: bool = True
    """Remove the path tracer's noise."""
    rooms: Annotated[tuple[RoomName, ...], CommandLine("--room")] = ()
    """Which kind of room; may be repeated. All thirty layouts by default."""
    flying: int = Field(default=6, ge=0, le=30)
    """Most objects in the air; at least half as many are tried."""
    glass: float = Field(default=0.15, ge=0.0, le=0.9)
    """A camera is kept only if its first layer is glass for at least this share of the pixels."""
    motion: float = Field(default=1.0, ge=0.0, le=10.0)
    """Factor on the motion of objects and cameras."""
    layers: int = Field(default=4, ge=1, le=8)
    """Layers that are stored; more are only counted."""
    rough: float = Field(default=0.2, ge=0.0, le=1.0)
    """Glass rougher than this is not seen through."""
    workers: int = Field(default=0, ge=0)
    """Worker processes; 0: one for each core. Their number changes no byte."""
    cluster: str | None = None
    """The address of a dask scheduler, tcp://host:8786, in place of worker processes."""
    seed: int = Field(default=0, ge=0)
    """Seed of rooms, cameras, materials, light and motion."""


SPEC = GeneratorSpec(
    "layers",
    "Rooms with glass: stereo pairs at two times with flow and disparity of every layer.",
    LayersOptions,
    revision=2,
    details="""
    Each sample is one of thirty rooms with things of glass and metal on its tables and in the air,
    which move, as does the camera. The truth has flow both ways, disparity, depth and position of
    every layer that is seen through the glass, with refraction. A stopped call continues where it
    stopped and gives the same bytes.

    \b
      depthgauge make layers --pairs 40 --out layers
      depthgauge make layers --pairs 2 --width 96 --height 72 --samples 8 --out small
      depthgauge make layers --pairs 15000 --cluster tcp://host:8786 --out /shared/layers
    """,
    activity="rendering",
)


def make(
    out: Path, options: LayersOptions, *, overwrite: bool, progress: Progress | None
) -> GeneratedData:
    """Writes the pairs below `out`, a record of the set, and a contact sheet."""
    from depthgauge.engine.generating.layered_pairs import make_pairs
    from depthgauge.synth.sets.layers import PairOptions, StageOptions

    size = (options.width, options.height)
    stage = StageOptions(
        *(size, options.seed, options.rooms, options.flying, options.glass, options.motion),
        options.rough,
    )
    pair = PairOptions(stage, options.samples, options.denoise, options.layers)
    numbers = range(options.first, options.first + options.pairs)
    made = make_pairs(
        out,
        numbers,
        pair,
        workers=options.workers,
        cluster=options.cluster,
        overwrite=overwrite,
        progress=progress,
    )
    count = "1 pair" if options.pairs == 1 else f"{options.pairs} pairs"
    facts: dict[str, Any] = {"size_px": list(size), "seed": options.seed, **made.facts}
    return GeneratedData(
        out,
        made.samples,
        f"{count} of {options.width}x{options.height} at two times, up to {options.layers} layers",
        {**facts, "sheet": str(made.sheet), "warnings": list(made.warnings)},
        warnings=made.warnings,
    )
