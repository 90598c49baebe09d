"""What `train` and `fine-tune` share: PyTorch, the loop, its page, and what is said at the end."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import click

from depthgauge.cli._output import say, write_json
from depthgauge.errors import BadData, MissingExtra, Misuse

KINDS = click.Choice(["stereo", "flow", "layers"])
_MULTIPLE = 32


def torch_module(name: str) -> ModuleType:
    """A module of the networks, which need PyTorch.

    Raises:
        MissingExtra: It is not installed.
    """
    import importlib

    try:
        return importlib.import_module(f"depthgauge.methods.nets._torch.{name}")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra("training needs PyTorch; say: pip install 'depthgauge[nets]'") from None


def check_size(size: tuple[int, int] | None) -> None:
    """Sides are multiples of 32.

    Raises:
        Misuse: They are not.
    """
    if size and (size[0] % _MULTIPLE or size[1] % _MULTIPLE):
        raise Misuse(f"--size is {size[0]} {size[1]} but must be multiples of {_MULTIPLE}.")


def trained(kind: str, out: Path, title: str, json_to: str | None, **settings: Any) -> None:
    """Trains, draws the page now and then, and says what was reached.

    Raises:
        BadData: The packs cannot be used.
    """
    from depthgauge.report.training_page import PAGE, write_progress

    loop = torch_module("training.loop")
    device = torch_module("inference").device_of("auto")
    plan = loop.Plan(kind, out, device=device, **settings)
    say(f"{out / PAGE} shows the progress.")
    try:
        state = loop.train(plan, lambda: write_progress(out, title, running=True))
    except ValueError as error:
        raise BadData(str(error)) from error
    write_progress(out, title)
    if json_to:
        write_json(json_to, state)
        return
    click.echo(
        f"{out / kind}.safetensors: {state['step']} steps; on new pairs the mean error is "
        f"{state['epe_px']:.3f} px, {state['bad2']:.2f} % are off by more than 2 px."
    )
