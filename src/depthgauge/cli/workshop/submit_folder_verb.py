"""`depthgauge submit-folder`: the estimates of a run as a public server wants them."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._options import benchmark_argument, json_option
from depthgauge.cli._output import count, warn, working, write_json


@click.command("submit-folder")
@benchmark_argument()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--method", "-m", required=True, help="The method's name in the run.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="A new folder for the files."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which seed of the method.")
@click.option(
    "--archive/--no-archive",
    default=True,
    show_default=True,
    help="Also pack the zip file, beside the folder, where the server takes one.",
)
@click.option("--overwrite", is_flag=True, help="Replace the maps of an earlier call in --out.")
@json_option
def command(
    benchmark: str,
    run: Path,
    method: str,
    out: Path,
    seed: int,
    archive: bool,
    overwrite: bool,
    json_to: str | None,
) -> None:
    """Writes the stored estimates of a run as the public server of its dataset expects them.

    \b
      depthgauge run kitti-2015-stereo@test --data KITTI/2015 -m sgbm --out runs/kitti --no-truth
      depthgauge submit-folder kitti-2015-stereo runs/kitti --method sgbm --out sgbm-kitti

    Names, formats and the archive are those of the server; holes that it refuses, values that the
    format cannot hold and a wrong number of samples are reported. Nothing is sent.
    """
    from depthgauge.engine.store.submission_folder import write_submission

    with working("writing"):
        done = write_submission(
            benchmark, run, method, out, seed=seed, archive=archive, overwrite=overwrite
        )
    for text in done.warnings:
        warn(f"{text}.")
    if json_to is not None:
        write_json(json_to, done.to_json())
    if json_to == "-":
        return
    click.echo(f"{done.folder}: {count(done.files, 'file')} of {method}")
    if done.archive is not None:
        click.echo(f"{done.archive}: the same, packed")
    click.echo(f"{done.about} {done.url}")
