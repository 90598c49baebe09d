"""`depthgauge make`: data with exact truth."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._output import program_name, progress_bar, write_json


@click.group("make")
def command() -> None:
    """Makes data with exact truth."""


@command.command("stereo-scenes")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The dataset folder.")
@click.option("--width", type=click.IntRange(32, 8192), default=480, show_default=True)
@click.option("--height", type=click.IntRange(32, 8192), default=360, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the image noise.")
@click.option("--json", "as_json", is_flag=True, help="What was made, as JSON.")
def stereo_scenes(out: Path, width: int, height: int, seed: int, as_json: bool) -> None:
    """Eight small stereo scenes: slanted, curved, thin, textureless, occluded surfaces.

    \b
      depthgauge make stereo-scenes --out scenes
      depthgauge run stereo-scenes --data scenes -m sgbm -m bm --out runs/scenes
    """
    from depthgauge.synth.stereo_scenes import SCENES, write_scenes

    with progress_bar("making scenes") as step:
        write_scenes(out, size_px=(width, height), seed=seed, progress=step)
    if as_json:
        made = {"folder": str(out), "samples": list(SCENES), "size_px": [width, height]}
        write_json("-", {**made, "seed": seed})
        return
    click.echo(f"{out}: {len(SCENES)} scenes of {width}x{height} with exact truth.")
    click.echo(f"Next: {program_name()} run stereo-scenes --data {out} -m sgbm --out {out}-run")
