"""`depthgauge train`: trains networks of ours on synthetic pairs, and exports them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import say, write_json
from depthgauge.errors import MissingExtra, Misuse

KINDS = click.Choice(["stereo", "flow", "layers"])
_MULTIPLE = 32


def _torch_module(name: str) -> ModuleType:
    """A module of the networks, which need PyTorch."""
    import importlib

    try:
        return importlib.import_module(f"depthgauge.methods.nets._torch.{name}")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra("training needs PyTorch; say: pip install 'depthgauge[nets]'") from None


@click.group("train")
def command() -> None:
    """Trains networks of ours on synthetic pairs with exact truth, and exports them."""


@command.command("network")
@click.argument("kind", type=KINDS)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder of checkpoint, curves and weights; training continues there.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed.")
@click.option("--steps", type=click.IntRange(1), help="Number of steps; by default the network's.")
@click.option("--batch", type=click.IntRange(1), help="Pairs per step; by default the network's.")
@click.option(
    "--size", type=click.IntRange(32), nargs=2, help="Height and width of pairs, multiples of 32."
)
@click.option("--seconds", type=float, default=1e9, help="Stop after this time; call it again.")
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
    json_to: str | None,
) -> None:
    """Trains a network, on a GPU if there is one; the same call continues.

    \b
    Example:
      depthgauge train network stereo --out nets/stereo --seconds 600 --fit
      depthgauge run middlebury --data trainingH --out runs/mine \\
          -m mine=nets-stereo:weights=nets/stereo/stereo.safetensors
    """
    loop = _torch_module("training.loop")
    device = _torch_module("inference").device_of("auto")
    _check_size(size)
    plan = loop.Plan(
        kind,
        out,
        seed=seed,
        steps=steps,
        batch=batch,
        size=size,
        seconds=seconds,
        fit=fit,
        pool=pool,
        textures=textures,
        start=start,
        device=device,
    )
    state = loop.train(plan)
    if json_to:
        write_json(json_to, state)
        return
    click.echo(
        f"{out / kind}.safetensors: {state['step']} steps; on new pairs the mean error is "
        f"{state['epe_px']:.3f} px, {state['bad2']:.2f} % are off by more than 2 px."
    )
    say("curves.jsonl has the losses.")


@command.command("export")
@click.argument("kind", type=KINDS)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The ONNX file.")
@click.option(
    "--weights",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file that training wrote; by default the weights of the package.",
)
@click.option(
    "--size",
    type=click.IntRange(32),
    nargs=2,
    default=(480, 640),
    show_default=True,
    help="Height and width of the largest pictures, multiples of 32.",
)
@click.option("--updates", type=click.IntRange(1), default=8, show_default=True, help="Updates.")
@json_option
def export(
    kind: str,
    out: Path,
    weights: Path | None,
    size: tuple[int, int],
    updates: int,
    json_to: str | None,
) -> None:
    """Writes a network as an ONNX file, which runs without PyTorch.

    \b
    Example:
      depthgauge train export flow --out flow.onnx --size 480 640
      depthgauge run middlebury-flow --data other-data --out runs/onnx \\
          -m nets-onnx:model=flow.onnx,kind=flow
    """
    from depthgauge.methods.nets._networks import WEIGHTS

    exporting = _torch_module("export")
    _check_size(size)
    exporting.export_onnx(kind, weights or WEIGHTS / f"{kind}.safetensors", out, size, updates)
    if json_to:
        write_json(json_to, {"file": str(out), "kind": kind, "size": list(size)})
        return
    click.echo(f"{out}: {kind} for pictures of up to {size[1]}x{size[0]} px.")


def _check_size(size: tuple[int, int] | None) -> None:
    if size and (size[0] % _MULTIPLE or size[1] % _MULTIPLE):
        raise Misuse(f"--size is {size[0]} {size[1]} but must be multiples of {_MULTIPLE}.")
