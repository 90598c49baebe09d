"""`depthgauge fine-tune`: a network of ours learns from a dataset of yours."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import progress_bar, say
from depthgauge.cli.workshop._training import KINDS, check_size, torch_module, trained
from depthgauge.errors import Misuse


@click.command("fine-tune")
@click.argument("kind", type=KINDS)
@click.option("--dataset", required=True, help="Layout of the folder: layered, booster, folder ...")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    help="The dataset folder.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder for packs, checkpoint, curves, page and weights; training continues there.",
)
@click.option("--split", default="all", show_default=True, help="Split of the dataset.")
@click.option(
    "--start",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Weights to start from; by default those of the package.",
)
@click.option("--steps", type=click.IntRange(1), default=1000, show_default=True, help="Steps.")
@click.option(
    "--batch", type=click.IntRange(1), default=4, show_default=True, help="Pairs per step."
)
@click.option(
    "--size",
    type=click.IntRange(32),
    nargs=2,
    default=(256, 320),
    show_default=True,
    help="Height and width of the crops that it learns from, multiples of 32.",
)
@click.option(
    "--crops", type=click.IntRange(1), default=8, show_default=True, help="Crops of each pair."
)
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    default=1e-4,
    show_default=True,
    help="Largest learning rate.",
)
@click.option(
    "--new-pairs",
    type=click.FloatRange(0, 1),
    default=0.25,
    show_default=True,
    help="Share of the steps that learn from synthetic pairs, so that the network forgets less.",
)
@click.option(
    "--learned",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.75,
    show_default=True,
    help="How far the stored weights go from the old (0) to the trained ones (1); below 1, the "
    "network forgets less.",
)
@click.option(
    "--held-out",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.2,
    show_default=True,
    help="Share of the scenes that it is judged on and does not learn from.",
)
@click.option(
    "--seconds", type=float, default=1e9, help="Stop after this time; the same call continues."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed.")
@json_option
def command(
    kind: str,
    dataset: str,
    data: Path,
    out: Path,
    split: str,
    start: Path | None,
    steps: int,
    batch: int,
    size: tuple[int, int],
    crops: int,
    rate: float,
    new_pairs: float,
    learned: float,
    held_out: float,
    seconds: float,
    seed: int,
    json_to: str | None,
) -> None:
    """Fine-tunes one of our networks on a dataset; whole scenes are held out to judge it.

    Uses a GPU if there is one; on a CPU, use small crops and few steps. progress.html shows the
    progress.

    \b
    Example:
      depthgauge fine-tune stereo --dataset booster --data train --out nets/mine
      depthgauge run booster-balanced --data test --out runs/mine \\
          -m nets-stereo -m mine=nets-stereo:weights=nets/mine/stereo.safetensors
    """
    from depthgauge.engine.training import PackRules, pack
    from depthgauge.methods.nets._networks import WEIGHTS
    from depthgauge.methods.nets._packs import INDEX, read_index

    check_size(size)
    torch_module("training.loop")
    packs = out / "packs"
    if (packs / INDEX).is_file():
        found = tuple(read_index(packs)["size"])
        if found != size:
            raise Misuse(f"{packs}: has crops of {found}, --size is {size}; choose another --out.")
    else:
        rules = PackRules(size, crops, held_out, most_mib=2048.0, seed=seed)
        with progress_bar("packing") as progress:
            index = pack(dataset, data, kind, packs, rules, split=split, progress=progress)
        say(f"held out: {', '.join(index['scenes']['held']) or 'no scene'}.")
    trained(
        kind,
        out,
        f"Fine-tuning of nets-{kind} on {data.name}",
        json_to,
        seed=seed,
        steps=steps,
        batch=batch,
        size=size,
        seconds=seconds,
        start=start or WEIGHTS / f"{kind}.safetensors",
        packs=packs,
        packed_share=1 - new_pairs,
        learned=learned,
        rate=rate,
        pool=64,
        textures=32,
        log_every=10,
        validation=2,
    )
