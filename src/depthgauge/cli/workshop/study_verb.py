"""`depthgauge study`: whether people and metrics rank methods alike."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import write_json, write_text_to

FILE = click.Path(path_type=Path)


@click.command("study")
@click.argument("rankings", type=FILE)
@click.option(
    "--scores",
    type=FILE,
    metavar="FILE",
    help="Scores of metrics: experiment, method, score, and better (lower, higher or zero).",
)
@click.option(
    "--decimals",
    type=click.IntRange(0, 12),
    default=1,
    show_default=True,
    help="Scores that are equal when rounded to this are ties: people see no finer differences.",
)
@click.option(
    "--ties",
    type=click.Choice(["average", "min"]),
    default="average",
    show_default=True,
    help="Ties share the mean of their places, or the better one.",
)
@click.option("--ranks", is_flag=True, help="Also the ranks of every experiment, by method.")
@click.option("--text", "kind", flag_value="text", default=True, help="Tables as text (default).")
@click.option("--markdown", "kind", flag_value="markdown", help="The same as Markdown.")
@click.option("--csv", "kind", flag_value="csv", help="The same as CSV, in full precision.")
@click.option("--latex", "kind", flag_value="latex", help="The same as LaTeX, for a paper.")
@json_option
def command(
    rankings: Path,
    scores: Path | None,
    decimals: int,
    ties: str,
    ranks: bool,
    kind: str,
    json_to: str | None,
) -> None:
    """Compares people's rankings of methods with each other, and with those of metrics.

    RANKINGS is a CSV file with the columns grader, experiment, variant, repeat, method and rank, a
    row for each method of each ranking; variant and repeat may be left out, and an empty rank means
    that the method was not ranked. A .json file is a list of objects with these keys. Agreement is
    the mean of Kendall's tau-b and of Spearman's rho over pairs of rankings.

    \b
      depthgauge study rankings.csv
      depthgauge study rankings.csv --scores scores.csv --ranks
      depthgauge study rankings.csv --scores scores.csv --latex > table.tex

    For people who drew normals and depth, see `annotate agreement`.
    """
    from depthgauge.analysis.agreement import measure_study
    from depthgauge.report.tables.render import FORMATS
    from depthgauge.report.tables.study import agreement_table, rank_tables

    found = measure_study(rankings, scores, decimals=decimals, ties=ties)
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        tables = [agreement_table(found), *(rank_tables(found) if ranks else ())]
        write_text_to("-", "\n".join(FORMATS[kind](table) for table in tables))
