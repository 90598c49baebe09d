"""Options of `depthgauge score` without a benchmark; two folders of maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._output import (
    count,
    in_shell,
    print_table,
    program_name,
    progress_bar,
    say,
    warn,
    write_json,
)
from depthgauge.cli._reading import reading_keys
from depthgauge.cli._runs import (
    can_go_on,
    leaderboard,
    list_failures,
    print_run_notes,
    some_of,
)
from depthgauge.cli.workshop._settings import labelled, parse_settings
from depthgauge.errors import Misuse, NotGiven, SizesDiffer, UnknownScale, WrongShape

if TYPE_CHECKING:
    from depthgauge.benchmarks import Protocol
    from depthgauge.engine.scoring.measure import PreparedSample
    from depthgauge.engine.store.record import Run

PROTOCOL_OPTIONS = (
    "metrics",
    "regions",
    "derived",
    "quantity",
    "missing",
    "align",
    "resize",
    "crop",
    "pool",
    "left",
    "right",
    "right_truth",
    "materials",
    "pattern",
    "truth_pattern",
)
"""What options set if there is no benchmark."""
MASK_ENDINGS = (".png", ".npy", ".pgm")
ITEMS = {
    "left_image": "--left IMAGE",
    "right_image": "--right IMAGE",
    "right_disparity": "--right-truth MAP",
    "layer_material": "--materials FILE",
    "visible_mask": "--region visible=MASK.png",
    "occluded_mask": "--region occluded=MASK.png",
}
"""How the command line gives what metrics and regions need beside two maps."""


def map_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All options for two maps or two folders."""
    a_file = click.Path(path_type=Path)
    for option in reversed(
        (
            click.option("--estimate", type=a_file, help="A map: PFM, PNG, NPY, FLO ..."),
            click.option(
                "--truth",
                type=a_file,
                help="The true map, or a folder of them; not needed for metrics without truth.",
            ),
            click.option(
                "--metric",
                "metrics",
                multiple=True,
                help="badpix:2, mae, or a name in papers: epe, rmse, a1, bad-2.0; may be repeated.",
            ),
            click.option(
                "--region",
                "regions",
                multiple=True,
                metavar="NAME[=MASK]",
                help="Also score these pixels: front=mask.png, an expression such as "
                "front=near:30, or a region by its name, textureless; may be repeated.",
            ),
            click.option(
                "--derived",
                multiple=True,
                metavar="THING",
                help="Parameters of what regions and metrics share: edges:0.1 for a jump of "
                "0.1 px; may be repeated.",
            ),
            click.option(
                "--quantity", help="disparity, depth, flow ...; by default guessed from the files."
            ),
            click.option(
                "--missing",
                type=click.Choice(["bad", "skip"]),
                help="What a pixel without estimate costs; bad by default.",
            ),
            click.option(
                "--align",
                metavar="KIND[:SPACE]",
                callback=_known_alignment,
                help="Fit each estimate to its truth first: median, scale or scale_shift; "
                "scale_shift:disparity fits the inverse of depths.",
            ),
            click.option(
                "--resize",
                type=click.Choice(["nearest", "block", "bilinear", "zoom", "area", "kb"]),
                help="How an estimate of another size is brought to the truth's.",
            ),
            click.option(
                "--crop",
                metavar="BOX",
                help="Score only garg, eigen (KITTI), nyu, or rows and columns: 45:471,41:601 in "
                "px, 0.4:0.99,0.0:1.0 in fractions. A number leaves out a border.",
            ),
            click.option(
                "--pool",
                type=click.Choice(["image", "median", "pixel"]),
                help="For folders: the mean over images, which is usual, their median, or the mean "
                "over all pixels.",
            ),
            click.option(
                "--left",
                type=a_file,
                help="The left image, or a folder, for textureless ...",
            ),
            click.option("--right", type=a_file, help="The right image, or a folder."),
            click.option(
                "--right-truth", type=a_file, help="The right view's disparity, for occluded ..."
            ),
            click.option(
                "--materials",
                type=a_file,
                help="For truths with layers: 0 diffuse, 1 transparent, 2 reflective, 255 none, "
                "as an array (layer, y, x); for count_bad ...",
            ),
            click.option(
                "--pattern",
                metavar="PATTERN",
                help="For folders: the names of estimates, '{id}_disp.npy'; {id} is the id from "
                "the truth's name.",
            ),
            click.option(
                "--truth-pattern",
                metavar="PATTERN",
                help="For folders: the names of truth maps, '{id}_gt.png'.",
            ),
        )
    ):
        command = option(command)
    return command


def _known_alignment(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    kind, colon, space = (value or "none").partition(":")
    kinds, spaces = ("none", "median", "scale", "scale_shift"), ("depth", "disparity")
    if kind not in kinds or (colon and space not in spaces):
        raise click.BadParameter(
            f"'{value}' must be {', '.join(kinds[1:-1])} or {kinds[-1]}, and may be followed by "
            f":{' or :'.join(spaces)}.",
            ctx,
            param,
        )
    return value


def folder_keys(options: dict[str, Any]) -> dict[str, Any]:
    """The keys of a protocol of many maps that the options say, but for `--set`."""
    return protocol_keys(options) | ({"pool": options["pool"]} if options["pool"] else {})


def protocol_keys(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `dg.score` that the options say, which are part of the protocol."""
    crop = options["crop"] or "0"
    return {
        "missing": options["missing"] or "bad",
        "align": options["align"] or "none",
        "estimate_resize": options["resize"] or "none",
        "crop": int(crop) if crop.isdecimal() else crop,
        "derived": options["derived"],
    }


@contextmanager
def told_in_options() -> Iterator[None]:
    """Says what is lacking as options, where Python would say it as arguments."""
    try:
        yield
    except SizesDiffer as error:
        raise WrongShape(
            f"the estimate is {error.estimate}, the truth is {error.truth}"
            f"{' (is it transposed?)' if error.transposed else ''}; give it at the "
            "truth's size, or say how to resize it: --resize nearest, block, bilinear or zoom."
        ) from None
    except UnknownScale as error:
        option = error.form.partition("=")[0].replace("_", "-")
        raise error.said_as(f"--{option} {{factor}}") from None
    except NotGiven as error:
        known = [ITEMS[name] for name in error.needs if name in ITEMS]
        advice = f"; give {' or '.join(known)}" if known else ""
        why = error.why.rstrip(".")
        said = why if why.startswith(error.what) else f"{error.what}: {why}"
        raise Misuse(f"{said}{advice}.") from None


def draw(folder: Path, protocol: Protocol, prepared: PreparedSample, sample: str) -> None:
    """Writes the error maps of a sample."""
    from depthgauge.report.pictures.error_maps import write_error_maps

    without = write_error_maps(folder, protocol, prepared, sample)
    if without:
        warn(f"{sample}: no error map of {', '.join(without)}.")


def score_two_folders(truth: Path, given: tuple[str, ...], options: dict[str, Any]) -> None:
    """Prints the scores of one folder of estimates, or the leaderboard of several."""
    from depthgauge.benchmarks.aliases import notes
    from depthgauge.engine.running.folders import score_folders

    if options["right_truth"] is not None or options["materials"] is not None:
        raise click.UsageError("--right-truth and --materials are for two maps.")
    if options["name"] is not None or options["map_to"] is not None:
        raise click.UsageError("--name and --map are for a benchmark or two maps.")
    with told_in_options(), can_go_on(), progress_bar("scoring") as step:
        found = score_folders(
            truth,
            dict(labelled(given)),
            options["metrics"],
            pattern=options["pattern"],
            truth_pattern=options["truth_pattern"],
            quantity=options["quantity"],
            regions=dict(expressions(options["regions"])),
            images={side: options[side] for side in ("left", "right") if options[side]},
            only=options["only"],
            out=options["out"],
            progress=step,
            protocol=parse_settings(options["settings"]),
            **folder_keys(options),
            **reading_keys(options),
        )
    for pairing in found.pairings:
        say(str(pairing))
    if said := notes(options["metrics"], found.run.protocol.quantity):
        say(said)
    _show_run(found.run, truth, options)


def _show_run(run: Run, truth: Path, options: dict[str, Any]) -> None:
    from depthgauge.engine.scoring.result import SUMMARY_COLUMNS, protocol_line, summary_rows

    results = list(run.results.values())
    if options["json_to"]:
        write_json(options["json_to"], results[0].to_json() if len(results) == 1 else run.to_json())
    if options["json_to"] != "-":
        n = count(len(run.samples), "sample")
        if len(results) == 1:
            title = f"{run.entrants[0].label} against {truth}, {n}"
            print_table(SUMMARY_COLUMNS, summary_rows(results[0]), title)
            click.echo(protocol_line(run.protocol))
        else:
            click.echo(leaderboard(run, f"{truth}, {n}", options["out"]), nl=False)
        print_run_notes(run)
    list_failures(run)
    if lacking := sorted({entry for result in results for entry in result.left_out}):
        warn(
            f"left out, because the folders lack what they need: {some_of(lacking)}; give pictures "
            "with --left DIR and --right DIR, masks in masks/NAME beside the truth's folder."
        )
    if options["out"] is not None:
        say(f"Next: {program_name()} report {in_shell(options['out'])}")


def expressions(texts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Regions by name; masks of single maps are of no use here."""
    for text in texts:
        name, _, value = text.partition("=")
        if Path(value).suffix.lower() in MASK_ENDINGS:
            raise Misuse(
                f"--region {text}: one mask does not fit a folder of maps; put masks into "
                "masks/NAME beside the truth's folder 'truth', and write NAME."
            )
        yield name, value or name
