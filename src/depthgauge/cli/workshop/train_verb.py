"""`depthgauge train`: trains networks of ours on synthetic or packed pairs, and exports them."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import progress_bar, write_json
from depthgauge.cli.workshop._training import KINDS, check_size, torch_module, trained
from depthgauge.errors import BadData, Misuse


@click.group("train")
def command() -> None:
    """Trains our networks on pairs with exact truth, and exports them."""


@command.command("network")
@click.argument("kind", type=KINDS)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder for checkpoint, curves and weights; training continues there.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed.")
@click.option("--steps", type=click.IntRange(1), help="Number of steps; by default the network's.")
@click.option("--batch", type=click.IntRange(1), help="Pairs per step; by default the network's.")
@click.option(
    "--size", type=click.IntRange(32), nargs=2, help="Height and width of pairs, multiples of 32."
)
@click.option(
    "--seconds", type=float, default=1e9, help="Stop after this time; the same call continues."
)
@click.option("--fit", is_flag=True, help="Choose the number of steps so that they fill --seconds.")
@click.option(
    "--pool", type=click.IntRange(1), default=4096, show_default=True, help="Pairs in memory."
)
@click.option(
    "--textures", type=click.IntRange(1), default=160, show_default=True, help="Textures in memory."
)
@click.option(
    "--start",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Weights to start from; for layers also those of a flow network.",
)
@click.option(
    "--packs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Learn from the pairs that `train pack` wrote.",
)
@click.option(
    "--packed-share",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    help="With --packs: the share of the steps that learn from them, not from new pairs.",
)
@click.option("--rate", type=float, help="Largest learning rate; by default the network's.")
@click.option(
    "--fused",
    is_flag=True,
    help="Compile repeated work: takes about a minute, then steps are a third faster.",
)
@json_option
def network(
    kind: str,
    out: Path,
    seed: int,
    steps: int | None,
    batch: int | None,
    size: tuple[int, int] | None,
    seconds: float,
    fit: bool,
    pool: int,
    textures: int,
    start: Path | None,
    packs: Path | None,
    packed_share: float,
    rate: float | None,
    fused: bool,
    json_to: str | None,
) -> None:
    """Trains a network, on a GPU if there is one; the same call continues training.

    \b
    Example:
      depthgauge train network stereo --out nets/stereo --seconds 600 --fit
      depthgauge run middlebury --data trainingH --out runs/mine \\
          -m mine=nets-stereo:weights=nets/stereo/stereo.safetensors
    """
    check_size(size)
    trained(
        kind,
        out,
        f"Training of nets-{kind}",
        json_to,
        seed=seed,
        steps=steps,
        batch=batch,
        size=size,
        seconds=seconds,
        fit=fit,
        pool=pool,
        textures=textures,
        start=start,
        packs=packs,
        packed_share=packed_share,
        rate=rate,
        fused=fused,
    )


@command.command("average")
@click.argument(
    "weights", type=click.Path(path_type=Path, exists=True, dir_okay=False), nargs=-1, required=True
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write.")
@json_option
def average(weights: tuple[Path, ...], out: Path, json_to: str | None) -> None:
    """Averages the weights of trainings with the same start, such as those of several seeds.

    The mean is often as good as the best of them, and no choice is needed.

    \b
    Example:
      depthgauge train average nets/seed-*/stereo.safetensors --out nets/stereo.safetensors
    """
    from depthgauge.methods.nets._tensors import average as store_mean

    try:
        store_mean(weights, out)
    except ValueError as error:
        raise BadData(str(error)) from error
    if json_to:
        write_json(json_to, {"file": str(out), "mean_of": [str(path) for path in weights]})
        return
    click.echo(f"{out}: the mean of {len(weights)} files of weights.")


@command.command("pack")
@click.argument("kind", type=KINDS)
@click.option("--dataset", required=True, help="Layout of the folder: layered, booster, folder ...")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="The dataset folder.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the packs.")
@click.option("--split", default="all", show_default=True, help="Split of the dataset.")
@click.option(
    "--size",
    type=click.IntRange(32),
    nargs=2,
    help="Height and width of the crops, multiples of 32; by default the network's.",
)
@click.option(
    "--crops", type=click.IntRange(1), default=4, show_default=True, help="Crops of each pair."
)
@click.option(
    "--held-out",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.2,
    show_default=True,
    help="Share of the scenes to hold out.",
)
@click.option(
    "--most-mib",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="Size of all packs; larger datasets get fewer crops.",
)
@click.option(
    "--largest-px",
    type=click.FloatRange(0, min_open=True),
    default=float("inf"),
    help="Crops with larger motion are not packed.",
)
@json_option
def pack(
    kind: str,
    dataset: str,
    data: Path,
    out: Path,
    split: str,
    size: tuple[int, int] | None,
    crops: int,
    held_out: float,
    most_mib: float,
    largest_px: float,
    json_to: str | None,
) -> None:
    """Packs pairs of a dataset into a few files that training reads with NumPy alone.

    Whole scenes are learned from or held out.

    \b
    Example:
      depthgauge train pack layers --dataset layered --data rooms --out packs/layers
      depthgauge train network layers --out nets/layers-l --packs packs/layers
    """
    from depthgauge.engine.training import PackRules
    from depthgauge.engine.training import pack as pack_dataset
    from depthgauge.methods.nets._packs import SIZES

    check_size(size)
    rules = PackRules(size or SIZES[kind], crops, held_out, most_mib, largest_px=largest_px)
    with progress_bar("packing") as progress:
        index = pack_dataset(dataset, data, kind, out, rules, split=split, progress=progress)
    if json_to:
        write_json(json_to, index)
        return
    pairs, scenes = index["pairs"], index["scenes"]
    click.echo(
        f"{out}: {pairs['train']} pairs of {len(scenes['train'])} scenes to learn from, "
        f"{pairs['held']} of {len(scenes['held'])} that are held out."
    )


@command.command("page")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@json_option
def page(folder: Path, json_to: str | None) -> None:
    """Draws the progress page of a training folder from another machine.

    \b
    Example:
      depthgauge train page nets/stereo-s-0
    """
    from depthgauge.report.training_page import write_progress

    place = write_progress(folder, f"Training: {folder.name}")
    if json_to:
        write_json(json_to, {"file": str(place)})
        return
    click.echo(str(place))


@command.command("plan")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("nets"),
    show_default=True,
    help="The folder that has one folder per stage.",
)
@click.option(
    "--seconds",
    type=float,
    default=560.0,
    show_default=True,
    help="How long one command may take.",
)
@json_option
def plan(out: Path, seconds: float, json_to: str | None) -> None:
    """Lists the stages of training our networks, what is done, and the command of each.

    Repeat a command until all its steps are done. S are pairs made on the fly, L those of packs
    (`train pack`, one folder per network in `packs`), S+L alternates between both.

    \b
    Example:
      depthgauge train plan --out nets
    """
    from depthgauge._tables import text_table
    from depthgauge.methods.nets._stages import STAGES

    rows = []
    for stage in STAGES.values():
        more = " --packs packs" if stage.packed_share else ""
        call = (
            f"python tools/train_networks.py {stage.name} --out {out} --seconds {seconds:g}{more}"
        )
        rows.append(
            {
                "stage": stage.name,
                "data": stage.data,
                "seed": stage.seed,
                "steps": stage.steps,
                "done": stage.done(out),
                "after": stage.start,
                "command": call,
            }
        )
    if json_to:
        write_json(json_to, {"stages": rows})
        return
    columns = [(name, "left") for name in rows[0]]
    click.echo(text_table(columns, [[str(v) for v in row.values()] for row in rows]))


@command.command("export")
@click.argument("kind", type=KINDS)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The ONNX file; a matcher's is in the folder of weights by default.",
)
@click.option(
    "--weights",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file that training wrote; by default the weights of the package.",
)
@click.option(
    "--size",
    type=click.IntRange(32),
    nargs=2,
    help="Height and width of the largest pictures, multiples of 32; by default 480 640, of a "
    "matcher 480 832.",
)
@click.option(
    "--updates", type=click.IntRange(1), help="Updates; by default 8, those of a matcher 10."
)
@click.option(
    "--as-matcher",
    is_flag=True,
    help="Stereo: the matcher of the metric `sd`, for pictures from 0 to 255.",
)
@json_option
def export(
    kind: str,
    out: Path | None,
    weights: Path | None,
    size: tuple[int, int] | None,
    updates: int | None,
    as_matcher: bool,
    json_to: str | None,
) -> None:
    """Writes a network as an ONNX file, which runs without PyTorch.

    \b
    Example:
      depthgauge train export flow --out flow.onnx --size 480 640
      depthgauge run middlebury-flow --data other-data --out runs/onnx \\
          -m nets-onnx:model=flow.onnx,kind=flow
      depthgauge train export stereo --as-matcher
    """
    from depthgauge.io import weights as folder
    from depthgauge.methods.nets._networks import WEIGHTS

    exporting = torch_module("export")
    if as_matcher and kind != "stereo":
        raise Misuse(f"--as-matcher is for stereo, not for {kind}.")
    usual = as_matcher and not (out or weights or size or updates)
    size = size or (folder.MATCHER_SIZE if as_matcher else (480, 640))
    updates = updates or (folder.MATCHER_UPDATES if as_matcher else 8)
    check_size(size)
    if out is None and not usual:
        raise Misuse("--out: say where the ONNX file goes.")
    out = out or folder.matcher_path()
    given = weights or WEIGHTS / f"{kind}.safetensors"
    out.parent.mkdir(parents=True, exist_ok=True)
    exporting.export_onnx(kind, given, out, size, updates, white=255.0 if as_matcher else 1.0)
    name = folder.MATCHER if usual else folder.network_name(out)
    if json_to:
        write_json(json_to, {"file": str(out), "kind": kind, "size": list(size), "name": name})
        return
    if as_matcher:
        click.echo(f'{out}: the matcher "{name}", if it is in the folder of weights.')
        return
    click.echo(f"{out}: {kind} for pictures of up to {size[1]}x{size[0]} px.")
