"""Pictures as data: encoded images, what they show, and what their colours mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from depthgauge.analysis.maps.scatter import Scatter


@dataclass(frozen=True, slots=True)
class ColourBar:
    """What the colours of a picture mean."""

    low: float
    high: float
    unit: str
    colours: str = "viridis"
    """`viridis`, `viridis_r`, `magma`, `RdBu_r`, `YlOrRd`, `YlOrRd_r`, `RdYlGn_r`; `wheel` for
    vectors, where `high` is its rim; `rgb` for three channels; `ball` (directions), `fragments` and
    `entries`, which have no range."""
    below: bool = False
    """Whether some values are below `low` and have its colour."""
    above: bool = False
    missing: bool = False
    """Some pixels have truth but no estimate, and a colour that says so."""
    no_truth: bool = False
    aside: str = ""
    """What the grey pixels are; empty if there are none."""
    entries: tuple[tuple[str, str], ...] = ()
    """For the colours `entries`: what each of a few colours (`#rrggbb`) means."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded picture and what it shows."""

    data: bytes
    """PNG, JPEG or WebP."""
    size_px: tuple[int, int]
    """Width and height."""
    caption: str
    bar: ColourBar | None = None


@dataclass(frozen=True, slots=True)
class MethodPictures:
    """What one method made of a sample."""

    label: str
    estimate: Picture | None = None
    error: Picture | None = None
    median_diff: Picture | None = None
    """Where it is better and worse than the median of all methods."""
    lines: Picture | None = None
    """Vectors as lines over the photograph, green where they are right and red where not."""
    note: str = ""
    """A few words below its name: its score on this sample, or why it failed."""


@dataclass(frozen=True, slots=True)
class PictureRow:
    """The same thing of every method, side by side."""

    title: str
    about: str
    """What it shows, in a sentence or two."""
    pictures: Mapping[str, Picture]
    """By label."""


@dataclass(frozen=True, slots=True)
class LayerPictures:
    """One layer of a sample, a stop of the slider."""

    name: str
    """`1`, `2` ... or `last`."""
    about: str
    """What it shows, in a sentence."""
    truth: Picture | None
    methods: tuple[MethodPictures, ...] = ()


@dataclass(frozen=True, slots=True)
class SamplePictures:
    """One sample that is shown, and why it was chosen."""

    sample: str
    why: tuple[str, ...] = ()
    """`best of sgbm`, `median of bm` ..."""
    inputs: tuple[Picture, ...] = ()
    truth: Picture | None = None
    together: tuple[Picture, ...] = ()
    """About all methods: how many are wrong, their median error, the least error of any."""
    methods: tuple[MethodPictures, ...] = ()
    layers: tuple[LayerPictures, ...] = ()
    """Of quantities with layers: all of them, the nearest first, to be gone through one by one."""
    rows: tuple[PictureRow, ...] = ()
    """What metrics see; folded."""
    scatter: Mapping[str, Scatter] = field(default_factory=dict)
    """Truth against estimate of this sample, by label."""
