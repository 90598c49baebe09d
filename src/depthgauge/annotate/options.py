"""Options of what `annotate` does, each stated once: for Python, the command line and the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from depthgauge._options import CommandLine, Options

Seed = Annotated[int, Field(ge=0)]
_Side = Annotated[int, Field(ge=32, le=4096)]


class ReconstructionOptions(Options):
    """Of `annotate reconstruct`."""

    image: Path | None = None
    """The photograph: it colours the mesh and the picture."""
    seed: Seed = 0
    """Chooses the side that owns each fold."""
    preview: bool = False
    """Work on a picture of at most 300 px: quick and coarse."""


class ExportOptions(Options):
    """Of `annotate export`."""

    split: Literal["train", "val", "test"] = "val"
    """The split to write."""
    votes: Path | None = None
    """Export only the annotations that these votes accept."""
    seed: Seed = 0
    """Of the reconstructions and of the pairs of points."""
    overwrite: bool = False
    """Replace an existing split."""


class StudyOptions(Options):
    """Of `annotate simulate`."""

    scenes: int = Field(default=1, ge=1, le=10000)
    """How many scenes."""
    annotators: int = Field(default=3, ge=1, le=100)
    """How many people annotate each scene."""
    noise: Literal["none", "careful", "human"] = "human"
    """How well they do it."""
    width: _Side = 320
    """Of the pictures, in pixels."""
    height: _Side = 240
    """Of the pictures, in pixels."""
    seed: Seed = 0
    """Of the first scene."""


class AgreementOptions(Options):
    """Of `annotate agreement`."""

    sensor: Path | None = None
    """Folder with depth/PICTURE.npy; the study's own `sensor` if it has one."""
    size: int = Field(default=320, ge=32)
    """Longer side of the pictures that are compared; larger is slower."""
    rotation: bool = True
    """Search the best rotation, which takes most of the time."""
    seed: Seed = 0
    """Of the pairs of points whose order is compared."""


class StatisticsOptions(Options):
    """Of `annotate statistics`."""

    dataset: str | None = None
    """The place is a dataset of this kind, such as oasis; otherwise records."""
    split: str = "all"
    """Of the dataset."""


class VoteOptions(Options):
    """Of `annotate votes`."""

    needed: Annotated[int, CommandLine(metavar="N")] = Field(default=2, ge=1)
    """How many people must agree."""
