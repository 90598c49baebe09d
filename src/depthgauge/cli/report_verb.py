"""`depthgauge report`: a run as a page or as tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._options import board_options, parse_practical
from depthgauge.cli._output import program_name, progress_bar, working, write_json, write_text_to
from depthgauge.cli._runs import board_json, source_of

if TYPE_CHECKING:
    from depthgauge.analysis.board import Board
    from depthgauge.engine.record import Run


@click.command("report")
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where the page goes; RUN/report.html unless said.",
)
@click.option("--text", "kind", flag_value="text", help="The leaderboard as text, to stdout.")
@click.option("--markdown", "kind", flag_value="markdown", help="The same as Markdown.")
@click.option("--csv", "kind", flag_value="csv", help="The same as CSV, in full precision.")
@click.option("--latex", "kind", flag_value="latex", help="The same as LaTeX, for a paper.")
@click.option("--samples", is_flag=True, help="With those: the main score of every sample instead.")
@click.option("--column", "columns", multiple=True, help="Only this score; may be repeated.")
@click.option("--json", "json_to", metavar="FILE", help="Write strict JSON there; - for stdout.")
@board_options
@click.option("--oracles", is_flag=True, help="Add what an ideal choice among the methods reaches.")
@click.option("--data", type=click.Path(path_type=Path), help="The dataset's folder, if it moved.")
@click.option("--all-pictures", is_flag=True, help="Pictures of every sample, beside the page.")
def command(
    folder: Path,
    html: Path | None,
    kind: str | None,
    samples: bool,
    columns: tuple[str, ...],
    json_to: str | None,
    all_pictures: bool,
    **options: Any,
) -> None:
    """Writes the report of a run: one HTML file, or its tables for a terminal or a paper.

    \b
      depthgauge report runs/first                     one page with everything
      depthgauge report runs/first --latex > table.tex
      depthgauge report runs/first --csv --samples

    The page needs nothing else: no network, no scripts. It shows pictures of at most 12 samples,
    the best, median and worst of each method; --all-pictures writes the others beside it.
    """
    from depthgauge.engine.load import load_run

    if kind is not None and (html is not None or all_pictures):
        raise click.UsageError("--html and --all-pictures go without --text, --csv ...")
    options["practical"] = parse_practical(options.pop("practical"))
    with working("reading the run ..."):
        run = load_run(folder)
    if kind is not None or json_to is not None:
        _print_tables(run, kind, samples, columns, json_to, options)
        return
    _write_page(run, html or folder / "report.html", all_pictures, options)


def _board(run: Run, options: dict[str, Any]) -> Board:
    from depthgauge.analysis.make_board import make_board
    from depthgauge.analysis.oracle_scores import score_oracles
    from depthgauge.engine.maps import RunMaps

    oracles = None
    if options["oracles"]:
        with progress_bar("oracles") as step:
            oracles = score_oracles(RunMaps(run, options["data"]), step)
    accuracy = options["accuracy"]
    return make_board(
        run,
        main=options["main"],
        accuracy=run.protocol.truth_accuracy if accuracy is None else accuracy,
        practical=options["practical"],
        oracles=oracles,
    )


def _print_tables(
    run: Run,
    kind: str | None,
    samples: bool,
    columns: tuple[str, ...],
    json_to: str | None,
    options: dict[str, Any],
) -> None:
    from depthgauge.report import formats
    from depthgauge.report.build import values_of
    from depthgauge.report.leaderboard import leaderboard_table, sample_table

    with working("computing intervals ..."):
        board = _board(run, options)
    source = source_of(run.protocol)
    if json_to is not None:
        body = {"benchmark": run.protocol.id, "protocol_hash": run.protocol.hash}
        write_json(json_to, {"schema": 1, **body, **board_json(board)})
    if kind is None:
        return
    if samples:
        main = board.column(board.main)
        table = sample_table(values_of(run), main, samples=run.samples, source=source)
    else:
        known = [board.column(name).id for name in columns]
        table = leaderboard_table(board, known or None, source=source)
    render = {
        "text": formats.to_text,
        "markdown": formats.to_markdown,
        "csv": formats.to_csv,
        "latex": formats.to_latex,
    }
    write_text_to("-", render[kind](table))


def _write_page(run: Run, path: Path, all_pictures: bool, options: dict[str, Any]) -> None:
    from depthgauge.report.all_pictures import write_all_pictures
    from depthgauge.report.build import build_page
    from depthgauge.report.html import write_report

    with progress_bar("report") as step:
        page = build_page(
            run,
            data=options["data"],
            main=options["main"],
            accuracy=options["accuracy"],
            practical=options["practical"],
            with_oracles=options["oracles"],
            progress=step,
        )
    if all_pictures:
        with progress_bar("pictures") as step:
            page = write_all_pictures(run, page, path, data=options["data"], progress=step)
    with working("writing the page ..."):
        write_report(path, page)
    click.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB; open it in a browser.")
    if not options["oracles"]:
        click.echo(f"Tables: {program_name()} report {run.path} --text | --latex | --csv")
