"""Options of the `annotate` verbs, each stated once: for Python, the command line and the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from depthgauge._options import CommandLine, Options

Seed = Annotated[int, Field(ge=0)]
_Side = Annotated[int, Field(ge=32, le=4096)]


class ReconstructionOptions(Options):
    """Options of `annotate reconstruct`."""

    image: Path | None = None
    """The photograph, which colours the mesh and the picture."""
    seed: Seed = 0
    """Chooses the side that owns each fold."""
    preview: bool = False
    """Work on a picture of at most 300 px: quick and coarse."""
    as_published: bool = False
    """Spread all three components of normals, let every surface lean at most 73 degrees (z of 0.3),
    and take silhouettes as parallel to the image, as the paper does."""
    seconds: float | None = Field(default=None, gt=0)
    """Time limit; after it, the best that was found is written, and a note says so."""


class AdviceOptions(Options):
    """Options of `annotate advise`."""

    seed: Seed = 0
    """Seed of the reconstruction and of the tilts."""
    most: int = Field(default=5, ge=1, le=100)
    """How many pieces of advice are given."""


class FusionOptions(Options):
    """Options of `annotate fuse`."""

    seed: Seed = 0
    """Chooses the side that owns each fold."""


class ExportOptions(Options):
    """Options of `annotate export`."""

    split: Literal["train", "val", "test"] = "val"
    """The split to write; `test` has photographs without truth."""
    with_truth: Path | None = None
    """Of split `test`: a folder outside of the dataset's that gets the split with its truth."""
    votes: Path | None = None
    """Export only the annotations that these votes accept."""
    seed: Seed = 0
    """Seed of the reconstructions and the pairs of points."""
    published_pairs: bool = False
    """Pairs of points whose depths differ at all, as in OASIS; otherwise their order follows from
    the records, by 1 % or more."""
    overwrite: bool = False
    """Replace an existing split."""


class StudyOptions(Options):
    """Options of `annotate simulate`."""

    scenes: int = Field(default=1, ge=1, le=10000)
    """Number of scenes."""
    annotators: int = Field(default=3, ge=1, le=100)
    """How many people annotate each scene."""
    noise: Literal["none", "careful", "human"] = "human"
    """How accurate they are."""
    width: _Side = 320
    """Width of the pictures in pixels."""
    height: _Side = 240
    """Height of the pictures in pixels."""
    seed: Seed = 0
    """Seed of the first scene."""


class AgreementOptions(Options):
    """Options of `annotate agreement`."""

    sensor: Path | None = None
    """Folder with depth/PICTURE.npy; the study's own `sensor` if it has one."""
    size: int = Field(default=320, ge=32)
    """Longer side in pixels of the pictures that are compared; larger is slower."""
    rotation: bool = True
    """Search the best rotation, which takes most of the time."""
    margin: float = Field(default=1.0, ge=0, le=100)
    """Least difference in depth, in percent, of the points whose order is compared; 0 is as
    published, with ties."""
    seed: Seed = 0
    """Seed of the pairs of points whose order is compared."""


class StatisticsOptions(Options):
    """Options of `annotate statistics`."""

    dataset: str | None = None
    """The kind of dataset in the folder, such as oasis; by default the folder has records."""
    split: str = "all"
    """The split of the dataset."""


class VoteOptions(Options):
    """Options of `annotate votes`."""

    needed: Annotated[int, CommandLine(metavar="N")] = Field(default=2, ge=1)
    """How many people must agree."""
