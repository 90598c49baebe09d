"""`make tag-session`: a simulated stereo rig photographs things with tags on them."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from depthgauge._progress import Progress
from depthgauge.synth.generators._spec import GeneratedData, GeneratorOptions, GeneratorSpec


class TagSessionOptions(GeneratorOptions):
    """What is photographed, and how."""

    objects: int = Field(default=3, ge=1, le=1000)
    """Number of objects: a window, a cabinet, bottles, and again with other things."""
    width: int = Field(default=1280, ge=160, le=8192)
    """Width of the images in px."""
    height: int = Field(default=960, ge=120, le=8192)
    """Height of the images in px."""
    samples: int = Field(default=4, ge=1, le=16)
    """Samples of a pixel along each side, where it shows an edge."""
    boards: int = Field(default=45, ge=1, le=500)
    """Number of poses of the calibration board."""
    seed: int = Field(default=0, ge=0)
    """Seed of the things, their motion, the rig and the noise."""


SPEC = GeneratorSpec(
    "tag-session",
    "A session with AprilTags before, on and behind glass, with their hidden exact places.",
    TagSessionOptions,
    details="""
    Each object is a table with things of card, metal and glass, photographed by a stereo rig
    without tags, with tags, with tags after it has been rearranged, and again without. The truth
    has the exact image of every corner through the glass. An interrupted session continues where
    it stopped.

    \b
      depthgauge make tag-session --out session
      depthgauge make tag-session --out small --objects 1 --width 480 --height 360 --boards 15
    """,
    activity="photographing",
)


def make(
    out: Path, options: TagSessionOptions, *, overwrite: bool, progress: Progress | None
) -> GeneratedData:
    """Writes the session's folder."""
    from depthgauge.synth.sets.tag_session import write_tag_session

    made = write_tag_session(out, options=options, overwrite=overwrite, progress=progress)
    count = "1 object" if options.objects == 1 else f"{options.objects} objects"
    boards = "1 board" if options.boards == 1 else f"{options.boards} boards"
    size = f"{options.width}x{options.height}"
    return GeneratedData(
        out,
        summary=f"{count} of eight photographs, {size}, {made.tags} tags; {boards}",
        facts={
            "name": made.session.name,
            "objects": list(made.objects),
            "size_px": [options.width, options.height],
            "boards": options.boards,
            "tags": made.tags,
            "seed": options.seed,
        },
    )
