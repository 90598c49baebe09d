"""`depthgauge make`: data with exact truth."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli import (
    _make_capture_session,
    _make_light_field,
    _make_oasis_like,
    _make_stratified,
)
from depthgauge.cli._output import in_shell, program_name, progress_bar, say, write_json


@click.group("make")
def command() -> None:
    """Makes data with exact truth."""


command.add_command(_make_stratified.command)
command.add_command(_make_light_field.command)
command.add_command(_make_capture_session.command)
command.add_command(_make_oasis_like.command)


@command.command("stereo-scenes")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The dataset folder.")
@click.option("--width", type=click.IntRange(32, 8192), default=480, show_default=True)
@click.option("--height", type=click.IntRange(32, 8192), default=360, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the image noise.")
@click.option("--overwrite", is_flag=True, help="Replace a dataset that is there already.")
@click.option("--json", "as_json", is_flag=True, help="What was made, as JSON.")
def stereo_scenes(
    out: Path, width: int, height: int, seed: int, overwrite: bool, as_json: bool
) -> None:
    """Eight small stereo scenes: slanted, curved, thin, textureless, occluded surfaces.

    \b
      depthgauge make stereo-scenes --out scenes
      depthgauge run stereo-scenes --data scenes -m sgbm -m bm --out runs/scenes
    """
    from depthgauge.synth.sets.stereo_scenes import SCENES, write_scenes

    with progress_bar("making scenes") as step:
        size_px = (width, height)
        write_scenes(out, size_px=size_px, seed=seed, progress=step, overwrite=overwrite)
    if as_json:
        made = {"folder": str(out), "samples": list(SCENES), "size_px": [width, height]}
        write_json("-", {**made, "seed": seed})
        return
    click.echo(f"{out}: {len(SCENES)} scenes of {width}x{height} with exact truth.")
    run = f"run stereo-scenes --data {in_shell(out)} -m sgbm --out {in_shell(f'{out}-run')}"
    say(f"Next: {program_name()} {run}")
