"""`depthgauge score`: two maps, two folders of maps, or a benchmark with folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._maps import (
    PROTOCOL_OPTIONS,
    draw,
    expressions,
    folder_keys,
    map_options,
    score_two_folders,
    score_two_maps,
)
from depthgauge.cli._options import (
    benchmark_argument,
    json_option,
    setting_options,
    trust_option,
    with_settings,
)
from depthgauge.cli._output import count, print_table, progress_bar, warn, write_json
from depthgauge.cli._reading import reading_keys, reading_options
from depthgauge.cli._runs import can_go_on, print_notes, some_of
from depthgauge.cli.workshop._settings import merged, parse_settings, set_option

if TYPE_CHECKING:
    from depthgauge.benchmarks import Protocol
    from depthgauge.engine.scoring.result import Result


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
    A benchmark, or one that differs from it in a rule:
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
            raise click.UsageError("--estimate and --truth go without a benchmark.")
        folder = _folder_of(benchmark, data, estimates, options)
        _score_benchmark(benchmark, folder[0], folder[1], options)
        return
    _refuse_benchmark_options(options)
    if options["dataset"] is not None:
        _score_dataset(data, estimates, options)
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
        score_two_maps(estimate, truth, options)


def _refuse_benchmark_options(options: dict[str, Any]) -> None:
    if options.pop("focal_px") is not None or options.pop("thresholds") is not None:
        raise click.UsageError("--focal and --thresholds are for a benchmark; name one first.")
    if options.pop("trust"):
        raise click.UsageError("--trust is for a benchmark; name one first.")


def _folder_of(
    benchmark: str, data: Path | None, given: tuple[str, ...], options: dict[str, Any]
) -> tuple[Path, Path]:
    """The folders of data and estimates; rejects what is only for calls without a benchmark."""
    if options["dataset"] or options["split"]:
        raise click.UsageError("a benchmark says its dataset itself; leave out --dataset.")
    if data is None or not given:
        raise click.UsageError(f"benchmark '{benchmark}' needs --data DIR and --estimates DIR.")
    if len(given) > 1:
        raise click.UsageError(
            f"benchmark '{benchmark}' scores one folder of estimates at a time; for a leaderboard "
            "use 'run' with -m folder:DIR for each."
        )
    for name in PROTOCOL_OPTIONS:
        if options[name]:
            raise click.UsageError(
                f"a benchmark says its {name.replace('_', ' ')} itself; write another benchmark "
                "file to change that."
            )
    return data, Path(given[0])


def _score_dataset(data: Path | None, given: tuple[str, ...], options: dict[str, Any]) -> None:
    """A dataset under rules that the options say, as a benchmark that has no file."""
    from depthgauge.engine.explaining.source import dataset_protocol
    from depthgauge.engine.scoring.in_memory.arrays import other_keys

    if data is None or len(given) != 1:
        raise click.UsageError("--dataset needs --data DIR and one --estimates DIR.")
    for name in ("left", "right", "right_truth", "materials", "pattern", "truth_pattern"):
        if options[name]:
            flag = name.replace("_", "-")
            raise click.UsageError(f"--{flag} is for maps without a dataset; leave it out.")
    protocol = dataset_protocol(
        data,
        options["dataset"],
        options["split"],
        options["metrics"],
        quantity=options["quantity"],
        regions=dict(expressions(options["regions"])),
        **{**folder_keys(options), **other_keys(parse_settings(options["settings"]))},
    )
    options |= {"focal_px": None, "thresholds": None, "settings": (), "trust": False}
    _score_benchmark(protocol, data, Path(given[0].rpartition("=")[2]), options)


def _score_benchmark(
    benchmark: str | Protocol, data: Path, estimates: Path, options: dict[str, Any]
) -> None:
    from depthgauge.engine.scoring.result import SUMMARY_COLUMNS, protocol_line, summary_rows

    name = Path(benchmark).name if isinstance(benchmark, str) else benchmark.dataset
    with progress_bar(f"scoring {name}") as step:
        result = _evaluate(benchmark, data, estimates, options, step)
    for sample, why in result.failed.items():
        warn(f"{sample}: {why}")
    if result.left_out:
        warn(f"left out, because the data lacks what they need: {some_of(result.left_out)}")
    if options["json_to"]:
        write_json(options["json_to"], result.to_json())
    if options["json_to"] != "-":
        protocol, n = result.protocol, len(result.samples)
        title = f"{protocol.id} v{protocol.version}, {count(n, 'sample')}: {estimates}"
        print_table(SUMMARY_COLUMNS, summary_rows(result), title)
        click.echo(protocol_line(protocol))
        print_notes(result.notes)
    if options["map_to"] is not None:
        _write_benchmark_maps(result, data, estimates, options)


def _evaluate(
    benchmark: str | Protocol, data: Path, estimates: Path, options: dict[str, Any], step: Any
) -> Result:
    """The scores; with --out they are those of a run that is kept."""
    from depthgauge.benchmarks import find_benchmark

    chosen = {name: options[name] for name in ("name", "only", "trust")} | {"progress": step}
    protocol = with_settings(benchmark, options)
    said = {**parse_settings(options["settings"]), **reading_keys(options)}
    if said:
        found = find_benchmark(protocol)
        plain = found.model_dump(exclude_unset=True)
        protocol = found.model_copy(update={n: merged(plain, said)[n] for n in said})
    if options["out"] is None:
        from depthgauge.engine.scoring.evaluate import evaluate

        return evaluate(protocol, data, estimates, check=options["check"], **chosen)
    from depthgauge.engine.running.run import score_folder

    with can_go_on():
        done = score_folder(protocol, data, estimates, options["out"], **chosen)
    return next(iter(done.results.values()))


def _write_benchmark_maps(
    result: Any, data: Path, estimates: Path, options: dict[str, Any]
) -> None:
    from depthgauge.engine.scoring.evaluate import prepared_samples

    if result.protocol.twin is not None:
        warn("a twin has no error maps; score the benchmark that it is the twin of.")
        return
    with progress_bar("drawing") as step:
        found = list(result.samples)
        chosen = {"name": options["name"], "only": found, "trust": options["trust"]}
        pairs = prepared_samples(result.protocol, data, estimates, **chosen)
        for done, (sample, prepared) in enumerate(pairs, start=1):
            draw(options["map_to"] / sample, result.protocol, prepared, sample)
            step(sample, done, len(found))
