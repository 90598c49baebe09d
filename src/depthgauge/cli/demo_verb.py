"""`depthgauge demo`: the newcomer's first minute."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._output import print_table, program_name


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("depthgauge-demo"),
    show_default=True,
    help="The folder for the maps and pictures.",
)
def command(out: Path) -> None:
    """Makes a true disparity map and a flawed estimate of it, scores it, and draws the errors."""
    click.echo("making two disparity maps ...", err=True)
    import numpy as np

    from depthgauge.engine.arrays import score
    from depthgauge.io import write_map
    from depthgauge.report.pictures import write_error_map
    from depthgauge.report.tables import SCORE_COLUMNS, score_rows
    from depthgauge.synth.two_maps import make_estimate, make_truth

    truth = make_truth()
    estimate = make_estimate(truth)
    out.mkdir(parents=True, exist_ok=True)
    write_map(out / "truth.pfm", truth)
    write_map(out / "estimate.pfm", estimate)
    click.echo("scoring (the first time, the kernels are compiled) ...", err=True)
    regions = {"front": "near:28", "edges": "discontinuities"}
    metrics = ["badpix:1", "badpix:2", "mae", "rms", "quantile:90", "density"]
    scores = score(estimate, truth, metrics, regions=regions)
    print_table(SCORE_COLUMNS, score_rows(scores), f"{out}/estimate.pfm against {out}/truth.pfm")
    click.echo(f"missing estimates: bad, protocol {scores.protocol_hash[:12]}")
    picture = out / "error.png"
    write_error_map(
        picture,
        np.abs(estimate - truth),
        np.isfinite(truth),
        title="absolute error of the estimate",
        unit="px",
    )
    name = program_name()
    click.echo(
        f"\nOpen {picture} to see where the estimate is wrong. Then try:\n"
        f"  {name} score --estimate {out}/estimate.pfm --truth {out}/truth.pfm --map {out}/maps\n"
        f"  {name} list metrics\n"
        f"  {name} show badpix"
    )
