"""`depthgauge report`: a run as a page or as tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._options import board_options, json_option
from depthgauge.cli._output import (
    in_shell,
    is_terminal,
    program_name,
    progress_bar,
    say,
    warn,
    working,
    write_json,
    write_text_to,
)
from depthgauge.cli._runs import board_choices, fitting_board, print_run_notes
from depthgauge.errors import CannotWrite, DepthgaugeError

if TYPE_CHECKING:
    from depthgauge.analysis.boards.board import Board
    from depthgauge.analysis.tagged.strata import StrataTable
    from depthgauge.engine.store.record import Run
    from depthgauge.report.page.model import Page
    from depthgauge.report.tables.leaderboard import TableStyle


VIEW_PIVOTS = (
    *("conditions", "branches", "controls", "diagnostics", "baselines", "focal-lengths"),
    *("implicit-baseline", "maps"),
)
"""As in `report/tables/views.py`, which is not imported before it is needed."""


@click.command("report")
@click.argument(
    "folders", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--html",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Where the page goes; RUN/report.html by default, - for stdout.",
)
@click.option("--text", "kind", flag_value="text", help="The leaderboard as text, to stdout.")
@click.option("--markdown", "kind", flag_value="markdown", help="The same as Markdown.")
@click.option("--csv", "kind", flag_value="csv", help="The same as CSV, in full precision.")
@click.option("--latex", "kind", flag_value="latex", help="The same as LaTeX, for a paper.")
@click.option("--samples", is_flag=True, help="With a table: the main score of every sample.")
@click.option(
    "--pivot",
    type=click.Choice(["methods", "regions", "layers", "points", "difficulty", *VIEW_PIVOTS]),
    help="With a table: metrics by regions, as in papers. methods: a row for each method, "
    "the metrics in a group for each region. regions: a table for each method, a row for each "
    "region. layers: a row for each method, a group for each layer or material. points: how many "
    "points each layer and material has. difficulty: where 50 % fail on each axis of difficulty. "
    "The others are tables of right-view generation.",
)
@click.option(
    "--tier", metavar="NAME", help="Only methods of this tier, in benchmarks that have tiers."
)
@click.option("--column", "columns", multiple=True, help="Only this score; may be repeated.")
@click.option(
    "--region", "regions", multiple=True, help="With --pivot: only this region; may be repeated."
)
@click.option(
    "--digits",
    type=click.IntRange(0, 12),
    metavar="N",
    help="With a table: decimals of every number; CSV always has all.",
)
@click.option("--no-intervals", is_flag=True, help="With a table: values alone.")
@click.option(
    "--caption", metavar="TEXT", help="With --latex: the caption, in place of the default line."
)
@json_option
@board_options
@click.option("--oracles", is_flag=True, help="Add ideal choices among the methods.")
@click.option("--data", type=click.Path(path_type=Path), help="The dataset's folder, if it moved.")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME|FILE",
    help="Rank methods for an application: automotive, surgery, matting ... or a TOML file; may be "
    "repeated. By default all profiles that the scores mostly cover.",
)
@click.option(
    "--strata",
    multiple=True,
    metavar="FILE|hazards",
    help="Scores by tags: a .csv or .toml of tags, or hazards for those that are found in pixels; "
    "may be repeated. Tags beside the dataset are always on the page.",
)
@click.option(
    "--pool",
    type=click.Choice(["image", "median"]),
    help="Pool the samples in this way, not as the benchmark does: the mean, or the median.",
)
@click.option("--all-pictures", is_flag=True, help="Pictures of every sample, beside the page.")
def command(folders: tuple[Path, ...], **options: Any) -> None:
    """Writes the report of a run: one HTML file, or its tables for a terminal or a paper.

    \b
      depthgauge report runs/first                     one page with everything
      depthgauge report runs/first --latex --digits 2 --no-intervals > table.tex
      depthgauge report runs/first --csv --samples
      depthgauge report runs/first --latex --pivot methods --region all --region visible
      depthgauge report runs/first runs/second --html both.html
      depthgauge report runs/first --profile surgery   methods by what surgeons need
      depthgauge report runs/noisy                     the levels of run --perturb
      depthgauge report runs/first --text --strata tags.csv --strata hazards

    The page needs nothing else: no network, no scripts. It shows pictures of at most 12 samples,
    the best, median and worst of each method; --all-pictures writes the others beside it.
    Several runs make one table where `compare` would allow it; their pictures are in the report of
    each run.
    """
    wants_page = options["html"] is not None or options["all_pictures"]
    if options["samples"] or options["columns"] or options["pivot"]:
        options["kind"] = options["kind"] or ("text" if options["json_to"] is None else None)
    _check_together(options, wants_page)
    if len(folders) == 1 and (folders[0] / "robustness.json").is_file():
        _report_robustness(folders[0], options)
        return
    if len(folders) > 1:
        _check_several(options)
    from depthgauge.analysis.boards.tiers import one_tier
    from depthgauge.analysis.merged_runs import load_merged
    from depthgauge.engine.store.repool import repool

    with working("reading the run ..."):
        run = load_merged(folders, options["data"])
        if options["tier"] is not None:
            run = one_tier(run, options["tier"])
        if options["pool"] is not None:
            run = repool(run, options["pool"])
    folder = folders[0]
    options["pictures"] = len(folders) == 1
    options["choices"] = board_choices(run.protocol, options)
    if wants_page or (options["kind"] is None and options["json_to"] is None):
        _write_page(run, folder, options)
    else:
        _print_tables(run, folder, options)


def _check_several(options: dict[str, Any]) -> None:
    if options["oracles"] or options["all_pictures"]:
        raise click.UsageError("--oracles and --all-pictures are for a single run.")
    if options["html"] is None and options["kind"] is None and options["json_to"] is None:
        raise click.UsageError("several runs need --html FILE for their page.")


def _check_together(options: dict[str, Any], wants_page: bool) -> None:
    """Rejects options that exclude each other: two outputs on stdout, a page and tables."""
    if options["kind"] is not None and wants_page:
        raise click.UsageError(
            "--html and --all-pictures go without --text, --csv, --samples, --pivot, --column ..."
        )
    if options["json_to"] == "-" and (options["kind"] is not None or options["html"] == "-"):
        raise click.UsageError("only one thing can go to stdout; give --json a file.")
    if options["samples"] and len(options["columns"]) > 1:
        raise click.UsageError("--samples shows one score; name one --column.")
    _check_strata(options)
    if options["samples"] and options["pivot"]:
        raise click.UsageError("--samples and --pivot are two different tables; choose one.")
    if options["regions"] and options["pivot"] not in ("methods", "regions"):
        raise click.UsageError("--region is for --pivot methods or regions.")
    if options["columns"] and options["pivot"] in ("layers", "points", "difficulty", *VIEW_PIVOTS):
        raise click.UsageError(
            f"--pivot {options['pivot']} has its own columns; leave out --column."
        )
    if options["caption"] is not None and options["kind"] != "latex":
        raise click.UsageError("--caption is for --latex.")
    if (options["digits"] is not None or options["no_intervals"]) and options["kind"] is None:
        raise click.UsageError("--digits and --no-intervals are for --text, --markdown or --latex.")
    if options["html"] == "-" and options["all_pictures"]:
        raise click.UsageError("--all-pictures writes files beside the page; give --html a file.")


def _check_strata(options: dict[str, Any]) -> None:
    if options["strata"] and (options["samples"] or options["pivot"]):
        raise click.UsageError("--strata is a table of its own; leave out --samples and --pivot.")


def _report_robustness(folder: Path, options: dict[str, Any]) -> None:
    """The page or the table of a run for each level of a perturbation."""
    from depthgauge.analysis.robustness import load_robustness
    from depthgauge.report.page.robustness import robustness_table, write_robustness_page
    from depthgauge.report.tables.render import FORMATS

    alone = [
        *("samples", "columns", "oracles", "all_pictures", "profiles", "json_to", "pivot"),
        *("digits", "no_intervals", "caption", "pool"),
    ]
    if given := [name for name in alone if options[name]]:
        name = {"columns": "column", "json_to": "json", "profiles": "profile"}.get(
            given[0], given[0]
        )
        raise click.UsageError(
            f"--{name.replace('_', '-')} needs the run of one level: {folder}/<level>."
        )
    with working("reading the runs ..."):
        found = load_robustness(folder, main=options["main"])
    if options["kind"] is not None:
        write_text_to("-", FORMATS[options["kind"]](robustness_table(found)))
        return
    path = folder / "report.html" if options["html"] is None else Path(options["html"])
    with working("writing the page ..."):
        write_robustness_page(path, found)
    click.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB; open it in a browser.")


# --- tables -------------------------------------------------------------------------------------


def _print_tables(run: Run, folder: Path, options: dict[str, Any]) -> None:
    with working("computing intervals ..."):
        board = _board(run, options)
    known = [board.column(name).id for name in options["columns"]]
    if options["strata"]:
        _print_strata(run, known or [board.main], options)
        return
    if options["json_to"] is not None:
        _write_json(run, board, options)
    plain = options["kind"] == "text" and not options["samples"] and not options["pivot"]
    if plain and is_terminal(sys.stdout):
        title = f"Methods by {board.main}"
        style = _style(options)
        shown = fitting_board(board, title, run.protocol, folder, known or None, style)
        write_text_to("-", shown)
    elif options["kind"] is not None:
        write_text_to("-", _table(run, board, known, options))
    if options["kind"] == "text":
        print_run_notes(run)


def _print_strata(run: Run, scores: list[str], options: dict[str, Any]) -> None:
    from depthgauge.report.tables.render import FORMATS
    from depthgauge.report.tables.strata import strata_text_table
    from depthgauge.report.words.protocol import source_line

    tables = _strata(run, scores, options)
    if options["json_to"] is not None:
        body = {"schema": 1, "scores": [table.to_json() for table in tables]}
        write_json(options["json_to"], body)
    for table in tables if options["kind"] is not None else ():
        shown = strata_text_table(table, source_line(run.protocol), _style(options))
        write_text_to("-", FORMATS[options["kind"]](shown))


def _strata(run: Run, scores: list[str], options: dict[str, Any]) -> list[StrataTable]:
    """Every wanted score by all tags that are named, or that are beside the dataset."""
    from depthgauge.analysis.tagged.strata import strata_table, tags_of

    tags = tags_of(run, options["strata"], options["data"])
    if tags is None:
        return []
    with progress_bar("tags") as step:
        return [
            strata_table(run, tags, score, data=options["data"], progress=step) for score in scores
        ]


def _page_strata(run: Run, main: str, options: dict[str, Any]) -> list[StrataTable]:
    """The tags of the page; those beside the dataset are a present that may be damaged."""
    if options["strata"]:
        return _strata(run, [main], options)
    if not options["pictures"]:
        return []
    try:
        return _strata(run, [main], options)
    except DepthgaugeError as error:
        warn(f"the report has no tags: {error}")
        return []


def _board(run: Run, options: dict[str, Any]) -> Board:
    from depthgauge.analysis.boards.tier_boards import joined_board
    from depthgauge.analysis.maps.oracles import score_oracles
    from depthgauge.engine.running.maps import RunMaps

    oracles = None
    if options["oracles"]:
        with progress_bar("oracles") as step:
            oracles = score_oracles(RunMaps(run, options["data"]), step)
    choices = options["choices"]
    return joined_board(run, **choices, oracles=oracles)


def _table(run: Run, board: Board, known: list[str], options: dict[str, Any]) -> str:
    from depthgauge.report.tables.difficulty import difficulty_table
    from depthgauge.report.tables.layers import layers_text
    from depthgauge.report.tables.render import FORMATS, leaderboard_text, pivot_text, samples_text
    from depthgauge.report.tables.views import views_text

    form, style = options["kind"], _style(options)
    if options["pivot"] in ("layers", "points"):
        return layers_text(run, board, form, options["pivot"], style)
    if options["pivot"] == "difficulty":
        return FORMATS[form](difficulty_table(run, board, style=style))
    if options["pivot"] in VIEW_PIVOTS:
        return views_text(run, form, options["pivot"], style)
    if options["pivot"]:
        regions = options["regions"]
        return pivot_text(
            run, board, form, options["pivot"], columns=known, regions=regions, style=style
        )
    if options["samples"]:
        return samples_text(run, board, form, known[0] if known else None, style)
    return leaderboard_text(run, board, form, known, style)


def _style(options: dict[str, Any]) -> TableStyle:
    from depthgauge.report.tables.leaderboard import TableStyle

    return TableStyle(options["digits"], not options["no_intervals"], options["caption"] or "")


def _write_json(run: Run, board: Board, options: dict[str, Any]) -> None:
    from depthgauge.analysis.boards.make_board import leaderboard_json

    body = leaderboard_json(run, board, with_samples=options["samples"])
    write_json(options["json_to"], body)


# --- the page -----------------------------------------------------------------------------------


def _write_page(run: Run, folder: Path, options: dict[str, Any]) -> None:
    from depthgauge.report.page.build import build_page

    main = options["choices"]["main"] or run.protocol.main_score
    strata = _page_strata(run, main, options)
    with progress_bar("report") as step:
        page = build_page(
            run,
            strata=strata,
            data=options["data"],
            **options["choices"],
            with_oracles=options["oracles"],
            with_pictures=options["pictures"],
            profiles=options["profiles"] or None,
            progress=step,
        )
    for note in page.notes:
        warn(note)
    if options["json_to"] is not None:
        _write_json(run, page.board, options)
    if options["html"] == "-":
        from depthgauge.report.page.html import render_report
        from depthgauge.report.page.size_limit import LIMIT_BYTES, fitted

        write_text_to("-", fitted(page, render_report, LIMIT_BYTES))
        return
    path = folder / "report.html" if options["html"] is None else Path(options["html"])
    _store_page(run, page, path, options)
    tell = say if options["json_to"] == "-" else click.echo
    tell(f"{path}: {path.stat().st_size / 1e6:.1f} MB; open it in a browser.")
    say(f"Tables: {program_name()} report {in_shell(folder)} --text | --latex | --csv")


def _store_page(run: Run, page: Page, path: Path, options: dict[str, Any]) -> None:
    from depthgauge.report.page.all_pictures import write_all_pictures
    from depthgauge.report.page.html import write_report

    try:
        if options["all_pictures"]:
            with progress_bar("pictures") as step:
                page = write_all_pictures(run, page, path, data=options["data"], progress=step)
        with working("writing the page ..."):
            write_report(path, page)
    except CannotWrite as error:
        if options["html"] is not None:
            raise
        raise CannotWrite(f"{error}; or choose another place with --html FILE.") from error
