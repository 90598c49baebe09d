"""`depthgauge dataset`: check a dataset folder, audit its geometry, describe its content."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._options import OptionsCommand, json_option, options_of
from depthgauge.cli._output import (
    count,
    one_line,
    print_table,
    progress_bar,
    say,
    warn,
    write_json,
)

if TYPE_CHECKING:
    from depthgauge.engine.describing.describe import Description


@click.group("dataset")
def command() -> None:
    """Checks a dataset folder, audits its geometry, or says what it contains."""


@command.command("verify")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="The problems as JSON.")
@click.pass_context
def verify(ctx: click.Context, folder: Path, as_json: bool) -> None:
    """Compares every file of a depthgauge dataset folder with its manifest: size and SHA-256."""
    from depthgauge.datasets import manifest_folder

    problems = manifest_folder.verify(folder)
    if as_json:
        listed = [{"where": p.where, "what": p.what, "hint": p.hint} for p in problems]
        write_json("-", {"ok": not problems, "folder": str(folder), "problems": listed})
    else:
        for problem in problems:
            click.echo(one_line(str(problem)))
        click.echo(f"{folder}: {len(problems) or 'no'} problem{'s' * (len(problems) != 1)}")
    if problems:
        ctx.exit(1)


@command.command("audit", cls=OptionsCommand)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--dataset",
    default="",
    help="The layout: booster, middlebury-2014 ...; by default scenes of cameras in a row.",
)
@click.option("--split", default="all", show_default=True, help="Which part of the dataset.")
@options_of("depthgauge.engine.auditing.audit:AuditOptions")
@json_option
@click.pass_context
def audit(
    ctx: click.Context,
    folder: Path,
    dataset: str,
    split: str,
    options: Any,
    json_to: str | None,
) -> None:
    """Says whether pictures, depth, lens, baselines and poses of a stereo dataset agree.

    \b
      depthgauge dataset audit rig
      depthgauge dataset audit Booster --dataset booster --split train
      depthgauge dataset audit rig --frames 0 --pairs all --json audit.json

    Depth is compared with the depth of the other view, and with the positions of colours. The exit
    code is 1 if a scene has faults.
    """
    from depthgauge._tables import show_number
    from depthgauge.engine.auditing.audit import audit_dataset

    with progress_bar("auditing") as step:
        found = audit_dataset(folder, dataset, split=split, options=options, progress=step)
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        rows = [
            [n, show_number(middle), show_number(worst)] for n, middle, worst in found.summary()
        ]
        columns = [("figure", "left"), ("median", "right"), ("worst", "right")]
        if rows:
            print_table(columns, rows)
        wrong = [scene for scene in found.scenes if not scene.ok]
        for scene in wrong:
            for finding in scene.findings:
                click.echo(one_line(f"{scene.scene}: {finding.check}: {finding.what}"))
        against = f"{len(wrong) or 'none'} with faults"
        click.echo(f"{folder}: {count(len(found.scenes), 'scene')}, {against}.")
    ctx.exit(0 if found.ok else 1)


@command.command("describe")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--dataset", help="The layout; detected if only one fits.")
@click.option("--split", help="Which part of it; the first with truth by default.")
@click.option("--quantity", help="Which truth; the dataset's first by default.")
@click.option("--sample", "only", multiple=True, help="This sample only; may be repeated.")
@click.option("--picture", type=click.Path(path_type=Path), help="Draw the distributions, PNG.")
@click.option(
    "--sift/--no-sift", default=True, help="Match the pictures of pairs, to measure difficulty."
)
@json_option
def describe(folder: Path, picture: Path | None, json_to: str | None, **options: Any) -> None:
    """Says what a dataset contains: values, texture, hazards, labels, tags, difficulty.

    \b
      depthgauge dataset describe scenes --picture scenes.png
      depthgauge dataset describe training --dataset middlebury-2014 --json

    Difficulty is how many SIFT keypoints of the left picture find a match in the whole right one,
    and how many of these matches leave their row (Haeusler et al. 2010): few matches and many wrong
    ones mean a difficult pair. Tags are read from tags.csv or tags.toml in the folder.
    """
    from depthgauge.engine.describing.describe import describe_dataset

    with progress_bar("describing") as step:
        found = describe_dataset(folder, progress=step, **options)
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        _show_description(found, folder)
    if picture is not None:
        from depthgauge.report.datasets.description import draw

        say(f"{draw(found, picture)}: the distributions.")


def _show_description(found: Description, folder: Path) -> None:
    from depthgauge._tables import show_number, show_share

    columns = [("sample", "left"), ("size", "right"), ("truth", "right"), ("1 %", "right")]
    columns += [("median", "right"), ("99 %", "right"), ("matches/Mpx", "right")]
    columns += [("off row", "right"), ("wrong", "right")]
    rows = []
    for each in found.samples:
        pair = each.difficulty
        matches = ["-", "-", "-"]
        if pair is not None:
            shares = (show_share(pair.off_row_share), show_share(pair.wrong_share))
            matches = [show_number(pair.matches_per_megapixel, 0), *shares]
        values = [show_number(each.percentiles[n]) for n in (0, 2, 4)]
        size = f"{each.size[0]}x{each.size[1]}"
        rows.append([each.sample, size, show_share(each.known), *values, *matches])
    n = count(len(found.samples), "sample")
    print_table(columns, rows, f"{folder}: {found.dataset} ({found.split}), {n}, {found.quantity}")
    hazards = [
        [name, show_share(share), str(samples)] for name, (share, samples) in found.hazards.items()
    ]
    if hazards:
        heads = [("hazard of pixels", "left"), ("share", "right"), ("samples", "right")]
        print_table(heads, hazards)
    for kind, tags in found.tags.items():
        click.echo(one_line(f"{kind}: " + ", ".join(f"{tag} {n}" for tag, n in tags.items())))
    if found.missing:
        click.echo(f"No sample has: {', '.join(found.missing)}.")
    for note in found.notes:
        warn(note)
