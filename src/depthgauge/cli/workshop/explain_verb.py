"""`depthgauge explain`: which protocol gives a number, and how ranks depend on the protocol."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._maps import told_in_options
from depthgauge.cli._options import json_option
from depthgauge.cli._output import count, print_table, program_name, progress_bar, say, write_json
from depthgauge.cli._reading import reading_arguments, reading_options
from depthgauge.cli.workshop._settings import labelled

if TYPE_CHECKING:
    from depthgauge.analysis.explain.ranks import RankTable
    from depthgauge.analysis.explain.search import Explanation, Explanations, Match
    from depthgauge.engine.explaining.source import Source

_SAID = ("scale", "estimate_scale", "truth_scale", "invalid", "estimate_invalid", "truth_invalid")


@click.command("explain")
@click.argument("numbers", metavar="[NUMBER]...", nargs=-1)
@click.option("--estimate", type=click.Path(path_type=Path), help="A map, with --truth.")
@click.option(
    "--truth", type=click.Path(path_type=Path), help="The true map, or a folder of true maps."
)
@click.option("--data", type=click.Path(path_type=Path), help="The dataset's folder.")
@click.option("--dataset", help="The layout of --data; detected if only one fits.")
@click.option("--split", help="Which part of the dataset; the first with truth by default.")
@click.option(
    "--estimates",
    multiple=True,
    metavar="[NAME=]DIR",
    help="A folder of estimates; give several to compare methods.",
)
@click.option("--name", help="The method's name, where file names contain it.")
@click.option("--run", "run_folder", type=click.Path(path_type=Path), help="A run folder instead.")
@click.option("--quantity", help="disparity, depth, flow ...; by default what the files say.")
@click.option("--pattern", metavar="PATTERN", help="Names of estimates, '{id}_disp.npy'.")
@click.option("--truth-pattern", metavar="PATTERN", help="Names of true maps, '{id}_gt.png'.")
@click.option("--sample", "only", multiple=True, help="This sample only; may be repeated.")
@click.option("--method", help="Without numbers: explain the ranks of this method only.")
@click.option("--metric", "metrics", multiple=True, help="Try only this metric: badpix:2, epe ...")
@click.option("--region", "regions", multiple=True, help="Try only this region: all, visible ...")
@click.option(
    "--align", "aligns", multiple=True, metavar="KIND[:SPACE]", help="Try only this alignment."
)
@click.option("--crop", "crops", multiple=True, help="Try only this crop: 0, garg, 15 ...")
@click.option("--resize", "resizes", multiple=True, help="Try only this way of resizing.")
@click.option(
    "--missing",
    multiple=True,
    type=click.Choice(["bad", "skip", "fill"]),
    help="Try only this rule for missing pixels.",
)
@click.option(
    "--pool",
    "pools",
    multiple=True,
    type=click.Choice(["image", "pixel", "scene"]),
    help="Try only this way of pooling.",
)
@click.option("--most", default=10, show_default=True, type=click.IntRange(1), help="Lines shown.")
@reading_options
@json_option
def command(numbers: tuple[str, ...], **options: Any) -> None:
    """Finds the protocols that give a published number, or shows how ranks depend on the protocol.

    \b
    A number of a paper, or several of one table:
      depthgauge explain 13.6 --data trainingF --estimates results --name MyMethod
      depthgauge explain 13.6 1.24 --truth disp_occ_0 --estimates results
      depthgauge explain 0.071 --estimate a.npy --truth b.npy --quantity depth
    Ranks of several methods under thresholds, regions, rules and alignments:
      depthgauge explain --truth truth --estimates A=a --estimates B=b --estimates C=c
      depthgauge explain --run runs/first --method sgbm

    13.6 means any value in [13.55, 13.65). Every truth and estimate is measured once, and all
    usual protocols are tried on the result: metric and threshold, region, what a missing pixel
    costs, alignment, crop, resizing, pooling, and how the number is printed. Each line can be
    reproduced with the command below it. Few digits match many protocols: the output says how many
    would match by chance, and a second number of the same table rules most of them out.
    """
    with told_in_options():
        source = _source(options)
        wanted = _wanted(options)
        if numbers:
            from depthgauge.analysis.explain.search import explain

            with progress_bar("measuring") as step:
                found = explain(numbers, source, wanted=wanted, most=options["most"], progress=step)
            _show(found, options)
            return
        from depthgauge.analysis.explain.ranks import rank_table

        if len(source.methods) < 2:
            raise click.UsageError(
                "give the number to explain, or several methods (--estimates A=DIR ...) to see "
                "how their ranks depend on the protocol."
            )
        with progress_bar("measuring") as step:
            table = rank_table(source, method=options["method"], wanted=wanted, progress=step)
    _show_ranks(table, options)


def _source(options: dict[str, Any]) -> Source:
    """What is compared, from the options."""
    from depthgauge.engine.explaining import source
    from depthgauge.io.reading import Reading

    said = reading_arguments(options)
    readings: dict[str, Any] = {
        f"{side}_reading": Reading(said[f"{side}_scale"], said[f"{side}_invalid"])
        for side in ("estimate", "truth")
    }
    ways = ("estimate", "data", "run_folder")
    given = [n for n in ways if options[n] is not None]
    if options["truth"] is not None and options["estimate"] is None:
        given.append("truth")
    if len(given) != 1:
        raise click.UsageError(
            "say what is compared: --estimate and --truth, --truth and --estimates, --data and "
            "--estimates, or --run."
        )
    if given == ["run_folder"]:
        from depthgauge.engine.store.load import load_run

        return source.source_of_run(load_run(options["run_folder"]))
    quantity = options["quantity"]
    if given == ["estimate"]:
        if options["truth"] is None:
            raise click.UsageError("--estimate needs --truth.")
        maps = options["estimate"], options["truth"]
        return _with_readings(source.source_of_maps(*maps, quantity=quantity, **readings), options)
    if not options["estimates"]:
        raise click.UsageError("give the folder of estimates: --estimates DIR.")
    folders = dict(labelled(options["estimates"]))
    chosen: dict[str, Any] = {"quantity": quantity, "only": options["only"]}
    if given == ["truth"]:
        patterns = {name: options[name] for name in ("pattern", "truth_pattern")}
        made = source.source_of_folders(options["truth"], folders, **chosen, **patterns, **readings)
    else:
        layout = {name: options[name] for name in ("dataset", "split", "name")}
        readings.pop("truth_reading")
        made = source.source_of_dataset(options["data"], folders, **chosen, **layout, **readings)
    return _with_readings(made, options)


def _with_readings(source: Source, options: dict[str, Any]) -> Source:
    """Commands to repeat a protocol also say how numbers are stored."""
    words: list[str] = []
    for name in _SAID:
        flag = f"--{name.replace('_', '-')}"
        value = options[name]
        for each in value if isinstance(value, tuple) else [value] if value else []:
            words += [flag, str(each)]
    return replace(source, calls={label: (*call, *words) for label, call in source.calls.items()})


def _wanted(options: dict[str, Any]) -> Any:
    from depthgauge.analysis.explain.space import Wanted

    names = ("metrics", "regions", "aligns", "crops", "resizes", "missing", "pools")
    return Wanted(**{name: options[name] for name in names})


def _show(found: Explanations, options: dict[str, Any]) -> None:
    if options["json_to"] is not None:
        write_json(options["json_to"], found.to_json())
    if options["json_to"] == "-":
        return
    several = found.samples > 1
    for each in found.found:
        _show_one(each, several, options["most"], len({e.label for e in found.found}) > 1)
    if len({each.number.text for each in found.found}) > 1:
        _show_together(found, several, options["most"])
    if found.not_tried:
        say(f"{len(found.not_tried)} settings do not fit these maps, such as {found.not_tried[0]}")


def _show_one(each: Explanation, several: bool, most: int, named: bool) -> None:
    number = each.number
    whose = f"{each.label}: " if named else ""
    n = len(each.matches)
    tried = f"{count(each.distinct, 'distinct value')} of {count(each.tried, 'protocol')}"
    means = f"{number.text}, which means [{number.low:.10g}, {number.high:.10g})"
    chance = f"about {each.by_chance:.2g} would be by chance"
    if n:
        click.echo(f"{whose}{n} of {tried} {'is' if n == 1 else 'are'} {means}; {chance}.")
    else:
        click.echo(f"{whose}none of {tried} is {means}; {chance}. The nearest:")
    shown = dict(enumerate((each.matches or each.nearest)[:most], start=1))
    usual = each.most_usual
    if usual is not None and n > 1:
        shown.setdefault(usual + 1, each.matches[usual])
    columns = [("#", "right"), ("value", "right"), ("score", "left"), ("protocol", "left")]
    print_table(columns, [_row(i, match, several) for i, match in shown.items()])
    if usual is not None and n > 1:
        click.echo(f"The most usual of them is {usual + 1}.")
    for i, match in shown.items():
        if match.arguments:
            words = " ".join(shlex.quote(word) for word in match.arguments)
            click.echo(f"{i}: {program_name()} score {words}")
    if n > len(shown):
        click.echo(f"{n - len(shown)} more: --most {n}.")
    click.echo()


def _row(place: int, match: Match, several: bool) -> list[str]:
    found = match.candidate
    same = f" (the same under {count(len(match.same), 'other protocol')})" if match.same else ""
    words = f"{found.words(several=several)}{same}"
    return [str(place), f"{found.value:.6g} {found.unit}".strip(), found.score, words]


def _show_together(found: Explanations, several: bool, most: int) -> None:
    if not found.together:
        click.echo("No combination of region, rule, setting and pooling gives all these numbers.")
        return
    click.echo(f"{count(len(found.together), 'protocol')} for all of these numbers at once:")
    columns = [("region", "left"), ("scores", "left"), ("protocol", "left")]
    rows = []
    for each in found.together[:most]:
        scores = ", ".join(c.metric for c in each.candidates)
        words = next(
            (c.words(several=several) for c in each.candidates if not c.any_rule),
            each.candidates[0].words(several=several),
        )
        rows.append([each.region, scores, words])
    print_table(columns, rows)


def _show_ranks(table: RankTable, options: dict[str, Any]) -> None:
    from depthgauge._tables import show_number
    from depthgauge.analysis.explain.ranks import sentences

    if options["json_to"] is not None:
        write_json(options["json_to"], table.to_json())
    if options["json_to"] == "-":
        return
    columns = [("protocol", "left"), *((label, "right") for label in table.labels)]
    rows = [
        [
            each.words,
            *(f"{show_number(each.values[n])} ({each.ranks[n]})" for n in table.labels),
        ]
        for each in table.protocols
    ]
    title = f"{count(table.samples, 'sample')}; ranks in brackets; each row differs from the first"
    print_table(columns, rows, title)
    for sentence in sentences(table, options["most"]):
        click.echo(sentence)
    if not table.changes:
        click.echo("No rank changes under any of these protocols.")
