"""`make oasis-like`: single pictures annotated by simulated people."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from depthgauge._progress import Progress
from depthgauge.synth.generators import GeneratedData, GeneratorOptions, GeneratorSpec


class OasisLikeOptions(GeneratorOptions):
    """How many scenes and people, and how the set is written."""

    scenes: int = Field(default=50, ge=1, le=1000)
    """Number of pictures."""
    width: int = Field(default=320, ge=64, le=4096)
    """Width of the pictures in px."""
    height: int = Field(default=240, ge=64, le=4096)
    """Height of the pictures in px."""
    seed: int = Field(default=0, ge=0)
    """Seed of everything that is random."""
    layout: Literal["oasis", "depthgauge"] = "oasis"
    """Layout of the dataset: OASIS's own files, or our dataset folder."""
    annotators: int = Field(default=8, ge=0, le=100)
    """People who annotate every picture, besides the one whose records are the truth."""


SPEC = GeneratorSpec(
    "oasis-like",
    "Random scenes annotated by simulated people, as in OASIS, with exact geometry.",
    OasisLikeOptions,
    revision=4,
    details="""
    The truth comes from the records of a careful annotator. Records of other people are in
    OUT/records, estimates made from them in OUT/humans, exact depth and normals in OUT/sensor. An
    interrupted run continues where it stopped.

    \b
      depthgauge make oasis-like --out oasis-like
      depthgauge annotate human oasis-normals --data oasis-like --estimates oasis-like/humans
      depthgauge annotate agreement oasis-like
    """,
    activity="annotating",
)


def make(
    out: Path, options: OasisLikeOptions, *, overwrite: bool, progress: Progress | None
) -> GeneratedData:
    """Writes the dataset, its records and the exact geometry."""
    from depthgauge.annotate.simulate.oasis_like import OasisLike, write_oasis_like

    size_px = (options.width, options.height)
    wanted = OasisLike(options.scenes, size_px, options.seed, options.annotators, options.layout)
    samples = write_oasis_like(out, wanted, progress=progress, overwrite=overwrite)
    count = "1 scene" if options.scenes == 1 else f"{options.scenes} scenes"
    people = "1 simulated person"
    if options.annotators:
        people = f"{options.annotators + 1} simulated people"
    return GeneratedData(
        out,
        tuple(samples),
        f"{count} of {options.width}x{options.height}, annotated by {people}",
        {
            "size_px": list(size_px),
            "seed": options.seed,
            "layout": options.layout,
            "annotators": options.annotators,
        },
        next_command=("annotate", "agreement", out),
    )
