"""`depthgauge score`: two maps, two folders of maps, or a benchmark with folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._benchmark_scores import folders_of, score_benchmark, score_dataset
from depthgauge.cli._maps import (
    ITEMS,
    MASK_ENDINGS,
    draw,
    map_options,
    protocol_keys,
    score_two_folders,
    told_in_options,
)
from depthgauge.cli._options import (
    benchmark_argument,
    json_option,
    setting_options,
    trust_option,
)
from depthgauge.cli._output import print_table, say, working, write_json
from depthgauge.cli._reading import reading_arguments, reading_options
from depthgauge.cli._runs import print_notes
from depthgauge.cli.workshop._settings import parse_settings, set_option
from depthgauge.errors import BadFile, Misuse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@click.command("score")
@benchmark_argument(required=False)
@map_options
@reading_options
@click.option("--data", type=click.Path(path_type=Path), help="The dataset's folder.")
@click.option(
    "--dataset",
    help="Without a benchmark: the layout of --data, for metrics and rules of your own.",
)
@click.option("--split", help="With --dataset: which part of it; the first with truth by default.")
@click.option(
    "--estimates",
    multiple=True,
    metavar="[NAME=]DIR",
    help="The folder of estimates. Without a benchmark, give several for a leaderboard: "
    "--estimates A=results/a --estimates B=results/b.",
)
@click.option("--name", help="The method's name, where file names contain it.")
@click.option("--sample", "only", multiple=True, help="Score this sample only; may be repeated.")
@click.option(
    "--out",
    "--save",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Keep everything in a run folder, for report and compare.",
)
@trust_option
@set_option
@setting_options
@json_option
@click.option(
    "--map",
    "map_to",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write error maps there.",
)
def command(
    benchmark: str | None,
    estimate: Path | None,
    truth: Path | None,
    data: Path | None,
    estimates: tuple[str, ...],
    **options: Any,
) -> None:
    """Scores two maps, two folders of maps, or a folder of estimates on a benchmark.

    \b
    Two maps:
      depthgauge score --estimate a.pfm --truth b.pfm --metric bad2 --metric epe
      depthgauge score --estimate a.npy --truth b.npy --quantity depth \\
          --align scale_shift:disparity --crop garg --metric abs_rel --metric a1
    Two folders, or several methods side by side:
      depthgauge score --truth disp_occ_0 --estimates results --pattern '{id}_disp.npy'
      depthgauge score --truth truth --estimates A=a --estimates B=b --save run
    A benchmark, or the same with one rule changed:
      depthgauge score middlebury --data trainingF --estimates results --name MyMethod
      depthgauge score middlebury --data trainingF --estimates results --set missing=skip
    A dataset with metrics and rules of your own:
      depthgauge score --dataset middlebury-2014 --data trainingF --estimates results \\
          --metric bad2@visible --pool pixel

    Every number comes with the pixels it was made from; --json adds the whole protocol and its
    hash. 'depthgauge list metrics' shows the metrics, 'depthgauge show badpix' explains one.
    """
    if benchmark is not None:
        if estimate is not None or truth is not None:
            raise click.UsageError("--estimate and --truth cannot be used with a benchmark.")
        folder = folders_of(benchmark, data, estimates, options)
        score_benchmark(benchmark, folder[0], folder[1], options)
        return
    _refuse_benchmark_options(options)
    if options["dataset"] is not None:
        score_dataset(data, estimates, options)
        return
    if data is not None or options["split"] is not None:
        raise click.UsageError(
            "--data is for a benchmark or a dataset; name one (--dataset), or write --truth."
        )
    if estimates or (truth is not None and truth.is_dir()):
        if estimate is not None or truth is None or not estimates:
            raise click.UsageError("two folders are --truth DIR and --estimates DIR.")
        score_two_folders(truth, estimates, options)
    elif estimate is None or (truth is None and not options["metrics"]):
        raise click.UsageError(
            "give two maps (--estimate, --truth), two folders (--truth, --estimates), or a "
            "benchmark with --data and --estimates."
        )
    else:
        _score_two_maps(estimate, truth, options)


def _refuse_benchmark_options(options: dict[str, Any]) -> None:
    if options.pop("focal_px") is not None or options.pop("thresholds") is not None:
        raise click.UsageError("--focal and --thresholds are for a benchmark; name one first.")
    if options.pop("trust"):
        raise click.UsageError("--trust is for a benchmark; name one first.")


def _score_two_maps(estimate: Path, truth: Path | None, options: dict[str, Any]) -> None:
    """Prints the scores of two maps."""
    from depthgauge.benchmarks.aliases import notes
    from depthgauge.engine.scoring.in_memory.arrays import prepare_maps, score_prepared
    from depthgauge.engine.scoring.result import SCORE_COLUMNS, protocol_line, score_rows

    if options["name"] is not None or options["only"] or options["out"] is not None:
        raise click.UsageError("--name, --sample and --save are for folders.")
    if options["pattern"] or options["truth_pattern"] or options["pool"]:
        raise click.UsageError("--pattern, --truth-pattern and --pool are for two folders.")
    regions, items = _read_regions(options["regions"])
    with (
        told_in_options(),
        working("scoring ..."),
    ):
        protocol, prepared = prepare_maps(
            estimate,
            truth,
            options["metrics"],
            quantity=options["quantity"],
            regions=regions,
            items=items | _read_items(options),
            check=options["check"],
            protocol=parse_settings(options["settings"]),
            **reading_arguments(options),
            **protocol_keys(options),
        )
        scores = score_prepared(protocol, prepared)
    if said := notes(options["metrics"], protocol.quantity):
        say(said)
    if options["json_to"]:
        write_json(options["json_to"], scores.as_result((truth or estimate).stem).to_json())
    if options["json_to"] != "-":
        title = f"{estimate} against {truth}" if truth else f"{estimate}"
        print_table(SCORE_COLUMNS, score_rows(scores), title)
        click.echo(protocol_line(protocol))
        if (fit := prepared[""].alignment) is not None:
            click.echo(str(fit))
        print_notes(scores.notes)
    if options["map_to"] is not None:
        draw(options["map_to"], protocol, prepared[""], estimate.stem)


def _read_regions(texts: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Regions by name, and the masks among them that built-in regions are made of."""
    from depthgauge.io import read_mask
    from depthgauge.regions import REGIONS

    regions: dict[str, Any] = {}
    items: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals and name not in REGIONS:
            raise Misuse(
                f"--region {text}: write NAME=MASK.png, NAME=EXPRESSION, or the name of a region "
                "('depthgauge list regions' has all)."
            )
        is_file = Path(value).suffix.lower() in MASK_ENDINGS or Path(value).is_file()
        regions[name] = read_mask(Path(value)) if is_file else value or name
        if is_file and f"{name}_mask" in ITEMS:
            items[f"{name}_mask"], regions[name] = regions[name], name
    return regions, items


def _read_items(options: dict[str, Any]) -> dict[str, Any]:
    """The images and maps that come beside two maps."""
    from depthgauge.io import read_image, read_map

    images = {"left_image": options["left"], "right_image": options["right"]}
    items: dict[str, Any] = {
        name: read_image(path) for name, path in images.items() if path is not None
    }
    if options["right_truth"] is not None:
        items["right_disparity"] = read_map(options["right_truth"], quantity="disparity")
    if options["materials"] is not None:
        items["layer_material"] = _read_materials(options["materials"])
    return items


def _read_materials(path: Path) -> NDArray[np.uint8]:
    import numpy as np

    from depthgauge.geometry.layers import MATERIALS, NO_MATERIAL
    from depthgauge.io.stacks import read_stack

    codes = np.nan_to_num(read_stack(path, ("layer", "y", "x")), nan=NO_MATERIAL)
    if not np.isin(codes, (*range(len(MATERIALS)), NO_MATERIAL)).all():
        listed = ", ".join(f"{code} {name}" for code, name in enumerate(MATERIALS))
        raise BadFile(f"{path}: expected the codes {listed} or {NO_MATERIAL} for none.")
    return codes.astype(np.uint8)
