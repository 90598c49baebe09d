"""`make rig`: scenes of six cameras in a row around a moving subject, and a page about them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from depthgauge._options import CommandLine
from depthgauge._progress import Progress
from depthgauge.synth.generators import GeneratedData, GeneratorOptions, GeneratorSpec

MapName = Literal[
    "Apartment", "Blocks", "Canyon", "Forest", "Hangar", "Street", "Temple", "Warehouse"
]
"""Repeated here, so that a shell can complete them without loading NumPy."""
SubjectName = Literal["bird", "cart", "dog", "robot", "walker"]
ActionName = Literal["jump", "run", "stalk", "sway", "turn", "walk", "wave"]


class RigOptions(GeneratorOptions):
    """What is made, how it is rendered, and who does the work."""

    scenes: int = Field(default=20, ge=1, le=1_000_000)
    """Number of scenes, six videos of colour and six of depth each."""
    first: int = Field(default=0, ge=0)
    """Number of the first one; so several calls can make parts of one set."""
    split: Literal["train", "eval"] = "eval"
    """Scenes of eval have maps that training shows, and some that it never shows."""
    family: Literal["IPD_Gaussian", "Uniform", "Pairwise_Uniform"] = "Uniform"
    """How gaps between cameras are drawn: around 6.38 cm, evenly from 1 to 150 cm, or so that all
    15 baselines spread over 10 to 200 cm (train only)."""
    unseen: float = Field(default=0.25, ge=0.0, le=1.0)
    """Share of eval scenes in maps that training never shows (Canyon, Temple)."""
    width: int = Field(default=1280, ge=64, le=4096)
    """Width of the frames in px; even."""
    height: int = Field(default=1280, ge=64, le=4096)
    """Height of the frames in px; even."""
    frames: int = Field(default=81, ge=1, le=10_000)
    """Frames of every video."""
    fps: float = Field(default=15.0, gt=0.0, le=240.0)
    """Frames per second."""
    maps: Annotated[tuple[MapName, ...], CommandLine("--map")] = ()
    """Which map; may be repeated. All that belong to the split by default."""
    subjects: Annotated[tuple[SubjectName, ...], CommandLine("--subject")] = ()
    """Who moves through it; may be repeated. All by default."""
    actions: Annotated[tuple[ActionName, ...], CommandLine("--action")] = ()
    """What it does; may be repeated. All by default."""
    quality: Literal["direct", "path"] = "direct"
    """direct: sun or lamps with shadows, about 0.3 s of a core per picture of 480x480. path: light
    paths by Mitsuba, many times slower."""
    samples: int = Field(default=32, ge=1, le=65536)
    """Light paths for each pixel of `path`."""
    crf: int = Field(default=12, ge=0, le=51)
    """Constant rate factor of the colour videos; 0 loses nothing."""
    review: Path | None = None
    """Makes nothing: moves the scenes that are listed in this text file, a path and a reason per
    line, to the folder OUT-holdout, and writes the lists again. The contact sheet writes such a
    list."""
    workers: int = Field(default=0, ge=0)
    """Worker processes; 0: one for each core. Their number changes no byte."""
    cluster: str | None = None
    """The address of a dask scheduler, tcp://host:8786, in place of worker processes."""
    seed: int = Field(default=0, ge=0)
    """Seed of everything: maps, subjects, lenses, gaps and trajectories."""


SPEC = GeneratorSpec(
    "rig",
    "Videos of six cameras in a row around a moving subject, with depth, baselines and poses.",
    RigOptions,
    details="""
    Each scene is a proposal that passed: a map, a subject and what it does, a lens, five gaps and a
    trajectory. Proposals are rejected where the subject has no ground or space, where any of the
    six cameras collides, sees too little of it or cuts it off, and where the rig jumps; rendered
    scenes are checked again. Reasons are counted. A scene is finished when its
    _scene_complete.json exists; a stopped call continues where it stopped and gives the same bytes.

    The folder is in the layout of StereoGenBench, with a manifest, Croissant metadata, a contact
    sheet for the manual pass, and a page on proposed against realised distributions. It may have
    several splits and families, one call each.

    \b
      depthgauge make rig --scenes 4 --width 480 --height 480 --frames 9 --out rig
      depthgauge make rig --family IPD_Gaussian --scenes 4 --width 480 --height 480 --frames 9
        --out rig
      depthgauge make rig --split train --family Pairwise_Uniform --scenes 500 --out rig
      depthgauge make rig --review rejected.txt --out rig
    """,
    activity="filming",
)


def make(
    out: Path, options: RigOptions, *, overwrite: bool, progress: Progress | None
) -> GeneratedData:
    """Writes the scenes below `out`, their lists, a contact sheet and the page."""
    if options.review is not None:
        return _reviewed(out, options.review)
    from depthgauge.engine.generating.rig_scenes import make_scenes
    from depthgauge.report.rig.page import write_page

    scene = scene_options(options)
    numbers = range(options.first, options.first + options.scenes)
    made = make_scenes(
        out,
        numbers,
        scene,
        workers=options.workers,
        cluster=options.cluster,
        overwrite=overwrite,
        progress=progress,
    )
    page, found = write_page(out, made.rows)
    count = "1 scene" if len(made.scenes) == 1 else f"{len(made.scenes)} scenes"
    size = f"{options.width}x{options.height}"
    facts: dict[str, Any] = {
        "scenes": list(made.scenes),
        "seed": options.seed,
        "sheet": str(made.sheet),
        "page": str(page),
        "realised": found,
    }
    return GeneratedData(
        out,
        tuple(f"{path}/00-01" for path in made.scenes),
        f"{count} of {options.family}, six cameras of {size}, {options.frames} frames; look at "
        f"{made.sheet}",
        facts,
        next_command=("dataset", "audit", out),
    )


def scene_options(options: RigOptions) -> Any:
    """What the scenes have in common.

    Raises:
        Misuse: Options contradict each other.
    """
    from depthgauge.errors import Misuse
    from depthgauge.synth.library.maps import MAPS
    from depthgauge.synth.sets.rig import SceneOptions, Shoot

    if options.split == "eval" and options.family == "Pairwise_Uniform":
        raise Misuse("Pairwise_Uniform is for training only; give --split train.")
    if options.width % 2 or options.height % 2:
        raise Misuse(
            f"{options.width}x{options.height}: width and height must be even, as videos need."
        )
    kinds = {MAPS[name].reserved for name in options.maps}
    unseen = options.unseen
    if kinds and options.split == "train" and True in kinds:
        raise Misuse("Canyon and Temple are never used for training; leave them out.")
    if len(kinds) == 2:
        raise Misuse("maps that training shows and maps that it does not need a call each.")
    if kinds and options.split == "eval":
        unseen = 1.0 if True in kinds else 0.0
    shoot = Shoot(
        options.family,
        (options.width, options.height),
        options.frames,
        options.fps,
        *(options.maps, options.subjects, options.actions),
    )
    return SceneOptions(
        *(options.split, shoot, options.seed, unseen, options.quality, options.samples),
        options.crf,
    )


def _reviewed(out: Path, verdicts: Path) -> GeneratedData:
    from depthgauge.engine.generating.rig_review import holdout_of, review
    from depthgauge.engine.generating.rig_scenes import finish
    from depthgauge.errors import BadData
    from depthgauge.report.rig.page import write_page

    if not any(out.glob("metadata/rig-*.json")):
        raise BadData(f"{out}: has no scenes of 'depthgauge make rig'.")
    moved = review(out, verdicts)
    rows = finish(out)
    write_page(out, rows)
    count = "1 scene was" if len(moved) == 1 else f"{len(moved)} scenes were"
    return GeneratedData(
        out,
        tuple(f"{row['path']}/00-01" for row in rows),
        f"{count} moved to {holdout_of(out)}, {len(rows)} are left",
        {"moved": moved, "holdout": str(holdout_of(out))},
    )
