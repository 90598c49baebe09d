"""Checkpoints: weights in float32, moments in bfloat16, in files below a size."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from depthgauge.methods.nets._tensors import read_tensors, write_tensors

LARGEST_FILE = 15 * 2**20
"""Bytes of one file of a checkpoint, so that it can be carried anywhere."""


def save_checkpoint(
    folder: Path, net: nn.Module, optimiser: torch.optim.Optimizer, state: Mapping[str, Any]
) -> None:
    """Writes everything that training needs to continue; the last file written completes it."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = dict(_entries(net, optimiser))
    shards: list[dict[str, NDArray[Any]]] = [{}]
    for name, values in entries.items():
        if sum(v.nbytes for v in shards[-1].values()) + values.nbytes > LARGEST_FILE:
            shards.append({})
        shards[-1][name] = values
    for i, shard in enumerate(shards):
        write_tensors(folder / f"checkpoint-{i}.safetensors", shard)
    (folder / "checkpoint.json").write_text(json.dumps({**state, "shards": len(shards)}))


def load_checkpoint(
    folder: Path, net: nn.Module, optimiser: torch.optim.Optimizer
) -> dict[str, Any] | None:
    """Restores a net and its optimiser, and returns the stored state; None if there is none."""
    place = folder / "checkpoint.json"
    if not place.is_file():
        return None
    state: dict[str, Any] = json.loads(place.read_text())
    stored: dict[str, NDArray[Any]] = {}
    for i in range(state["shards"]):
        stored.update(read_tensors(folder / f"checkpoint-{i}.safetensors")[0])
    device = next(net.parameters()).device
    net.load_state_dict(
        {n.removeprefix("net."): _tensor(v) for n, v in stored.items() if n.startswith("net.")}
    )
    for name, parameter in net.named_parameters():
        moments = {
            kind: _tensor(stored[f"{kind}.{name}"]).to(device, torch.float32)
            for kind in ("exp_avg", "exp_avg_sq")
        }
        step = torch.tensor(float(state["step"]), device=device)
        _restore(optimiser.state[parameter], {"step": step, **moments})
    return state


def _restore(kept: dict[str, Tensor], values: dict[str, Tensor]) -> None:
    """In place where tensors exist: a recorded step goes on using them."""
    for name, value in values.items():
        if name in kept:
            kept[name].copy_(value)
        else:
            kept[name] = value


def _entries(
    net: nn.Module, optimiser: torch.optim.Optimizer
) -> Iterator[tuple[str, NDArray[Any]]]:
    for name, values in net.state_dict().items():
        yield f"net.{name}", values.detach().float().cpu().numpy()
    for name, parameter in net.named_parameters():
        for kind in ("exp_avg", "exp_avg_sq"):
            yield f"{kind}.{name}", _bits(optimiser.state[parameter][kind])


def _bits(values: Tensor) -> NDArray[np.uint16]:
    """The bits of bfloat16 values, which NumPy does not have."""
    return values.detach().to(torch.bfloat16).cpu().view(torch.int16).numpy().view(np.uint16)


def _tensor(values: NDArray[Any]) -> Tensor:
    if values.dtype == np.uint16:
        return torch.from_numpy(values.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(values.copy())


def weights_of(net: nn.Module) -> dict[str, NDArray[np.float16]]:
    """Weights in float16, as they are published."""
    return {n: v.detach().half().cpu().numpy() for n, v in net.state_dict().items()}


def load_weights(net: nn.Module, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Puts stored weights into a network."""
    net.load_state_dict({name: _tensor(values).float() for name, values in tensors.items()})
