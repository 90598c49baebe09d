"""`depthgauge score`: two maps, or a benchmark with folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._options import (
    benchmark_argument,
    json_option,
    setting_options,
    with_settings,
)
from depthgauge.cli._output import count, print_table, progress_bar, say, warn, working, write_json
from depthgauge.cli._runs import can_go_on, some_of
from depthgauge.errors import Misuse

if TYPE_CHECKING:
    from depthgauge.benchmarks import Protocol
    from depthgauge.engine.scoring.measure import PreparedSample
    from depthgauge.engine.scoring.result import Result


_MASK_ENDINGS = (".png", ".npy", ".pgm")


@click.command("score")
@benchmark_argument(required=False)
@click.option("--estimate", type=click.Path(path_type=Path), help="A map: PFM, PNG, NPY, FLO ...")
@click.option(
    "--truth",
    type=click.Path(path_type=Path),
    help="The true map, of the same size; not needed for metrics that use no truth.",
)
@click.option("--metric", "metrics", multiple=True, help="E.g. badpix:2 or mae; may be repeated.")
@click.option(
    "--region",
    "regions",
    multiple=True,
    metavar="NAME=MASK",
    help="Also score these pixels: front=mask.png, or an expression such as front=near:30; "
    "may be repeated.",
)
@click.option(
    "--derived",
    multiple=True,
    metavar="THING",
    help="Parameters of what regions and metrics share: edges:0.1 for a jump of 0.1 px; may be "
    "repeated.",
)
@click.option("--quantity", help="disparity, depth, flow ...; by default guessed from the files.")
@click.option(
    "--missing",
    type=click.Choice(["bad", "skip"]),
    help="What a pixel without estimate costs; bad by default. A benchmark has its own rule.",
)
@click.option("--data", type=click.Path(path_type=Path), help="The dataset's folder.")
@click.option("--estimates", type=click.Path(path_type=Path), help="The folder of estimates.")
@click.option("--name", help="The method's name, where file names contain it.")
@click.option("--sample", "only", multiple=True, help="Score this sample only; may be repeated.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Keep everything in a run folder, for report and compare.",
)
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
    estimates: Path | None,
    **options: Any,
) -> None:
    """Scores two maps, or a folder of estimates on a benchmark.

    \b
    Two maps:
      depthgauge score --estimate a.pfm --truth b.pfm --metric badpix:2 --metric mae
    A benchmark:
      depthgauge score middlebury --data trainingF --estimates results --name MyMethod

    Every number comes with the pixels it was made from; --json adds the whole protocol and its
    hash. 'depthgauge list metrics' shows the metrics, 'depthgauge show badpix' explains one.
    """
    if benchmark is None:
        if options.pop("focal_px") is not None or options.pop("thresholds") is not None:
            raise click.UsageError("--focal and --thresholds go with a benchmark; name one first.")
        if estimate is None or (truth is None and not options["metrics"]):
            raise click.UsageError(
                "give two maps (--estimate, --truth), or a benchmark with --data and --estimates."
            )
        if data is not None or estimates is not None:
            raise click.UsageError("--data and --estimates go with a benchmark; name one first.")
        _score_two(estimate, truth, options)
        return
    if estimate is not None or truth is not None:
        raise click.UsageError("--estimate and --truth go without a benchmark.")
    if data is None or estimates is None:
        raise click.UsageError(f"benchmark '{benchmark}' needs --data DIR and --estimates DIR.")
    for name in ("metrics", "regions", "derived", "quantity", "missing"):
        if options[name]:
            raise click.UsageError(
                f"a benchmark says its {name} itself; write another benchmark file to change them."
            )
    _score_benchmark(benchmark, data, estimates, options)


def _score_two(estimate: Path, truth: Path | None, options: dict[str, Any]) -> None:
    from depthgauge.benchmarks.aliases import notes
    from depthgauge.engine.scoring.arrays import prepare_maps, score_prepared
    from depthgauge.engine.scoring.result import SCORE_COLUMNS, protocol_line, score_rows

    if options["name"] is not None or options["only"] or options["out"] is not None:
        raise click.UsageError("--name, --sample and --out go with a benchmark.")
    with working("scoring (the first time, the kernels are compiled) ..."):
        protocol, prepared = prepare_maps(
            estimate,
            truth,
            options["metrics"],
            quantity=options["quantity"],
            missing=options["missing"] or "bad",
            regions=_read_regions(options["regions"]),
            derived=options["derived"],
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
    if options["map_to"] is not None:
        _draw(options["map_to"], protocol, prepared[""], estimate.stem)


def _draw(folder: Path, protocol: Protocol, prepared: PreparedSample, sample: str) -> None:
    from depthgauge.report.pictures.error_maps import write_error_maps

    without = write_error_maps(folder, protocol, prepared, sample)
    if without:
        warn(f"{sample}: no error map of {', '.join(without)}.")


def _read_regions(texts: tuple[str, ...]) -> dict[str, Any]:
    from depthgauge.io import read_mask

    regions: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise Misuse(f"--region {text}: write NAME=MASK.png, or NAME=EXPRESSION.")
        is_file = Path(value).suffix.lower() in _MASK_ENDINGS or Path(value).is_file()
        regions[name] = read_mask(Path(value)) if is_file else value
    return regions


def _score_benchmark(benchmark: str, data: Path, estimates: Path, options: dict[str, Any]) -> None:
    from depthgauge.engine.scoring.result import SUMMARY_COLUMNS, protocol_line, summary_rows

    with progress_bar(f"scoring {Path(benchmark).name}") as step:
        result = _evaluate(benchmark, data, estimates, options, step)
    for sample, why in result.failed.items():
        warn(f"{sample}: {why}")
    if result.left_out:
        warn(f"left out, the data lacks what they need: {some_of(result.left_out)}")
    if options["json_to"]:
        write_json(options["json_to"], result.to_json())
    if options["json_to"] != "-":
        protocol, n = result.protocol, len(result.samples)
        title = f"{protocol.id} v{protocol.version}, {count(n, 'sample')}: {estimates}"
        print_table(SUMMARY_COLUMNS, summary_rows(result), title)
        click.echo(protocol_line(protocol))
    if options["map_to"] is not None:
        _write_benchmark_maps(result, data, estimates, options)


def _evaluate(
    benchmark: str, data: Path, estimates: Path, options: dict[str, Any], step: Any
) -> Result:
    """The scores; with --out they are those of a run that is kept."""
    chosen = {"name": options["name"], "only": options["only"], "progress": step}
    protocol = with_settings(benchmark, options)
    if options["out"] is None:
        from depthgauge.engine.scoring.evaluate import evaluate

        return evaluate(protocol, data, estimates, **chosen)
    from depthgauge.engine.running.run import score_folder

    with can_go_on():
        done = score_folder(protocol, data, estimates, options["out"], **chosen)
    return next(iter(done.results.values()))


def _write_benchmark_maps(
    result: Any, data: Path, estimates: Path, options: dict[str, Any]
) -> None:
    from depthgauge.engine.scoring.evaluate import prepared_samples

    if result.protocol.twin is not None:
        warn("a twin has no error maps of its own; score the benchmark it is the twin of.")
        return
    with progress_bar("drawing") as step:
        found = list(result.samples)
        pairs = prepared_samples(result.protocol, data, estimates, name=options["name"], only=found)
        for done, (sample, prepared) in enumerate(pairs, start=1):
            _draw(options["map_to"] / sample, result.protocol, prepared, sample)
            step(sample, done, len(found))
