"""What the methods with networks of ours share: options, weights, pictures, confidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from depthgauge.errors import BadFile, MissingExtra, Unavailable
from depthgauge.methods._spec import MethodOptions
from depthgauge.types import Estimate, Inputs, Map

if TYPE_CHECKING:
    from depthgauge.methods.nets._torch.inference import Runner

WEIGHTS = Path(__file__).parent / "_weights"
"""Weights of the package, one file per network."""
LOCAL = ("device",)
"""Options that are specific to one machine."""


class NetworkOptions(MethodOptions):
    """Options of all networks."""

    updates: int = Field(default=8, ge=1, le=100)
    """Number of recurrent updates; by default as many as while training."""
    weights: str = ""
    """A file of weights that `depthgauge train` wrote; empty: those of the package."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where it computes; auto: on a GPU if there is one."""
    at_once_mpx: float = Field(default=1.0, gt=0.05)
    """Larger pictures are estimated in tiles of this size; a flow starts from a smaller scale."""

    def short_name(self) -> str:
        """The name of the file of weights, if one is given."""
        return Path(self.weights).stem if self.weights else ""


def runner(kind: str, options: Any) -> Runner:
    """The network of a kind with its weights.

    Raises:
        MissingExtra: PyTorch is not installed.
        Unavailable: There is no file of weights.
        BadFile: It is not one of this kind of network.
    """
    try:
        from depthgauge.methods.nets._torch.inference import Runner, device_of, network
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra(
            f"nets-{kind} needs PyTorch; say: pip install 'depthgauge[nets]'"
        ) from None
    path = Path(options.weights) if options.weights else WEIGHTS / f"{kind}.safetensors"
    if not path.is_file():
        raise Unavailable(f"{path}: there are no weights for nets-{kind}.")
    device = device_of(options.device)
    try:
        net = network(kind, path, device)
    except (ValueError, KeyError, RuntimeError) as error:
        raise BadFile(f"{path}: are no weights of nets-{kind}: {_first_line(error)}") from error
    return Runner(net, device, options.updates, round(1e6 * options.at_once_mpx))


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def as_colour(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(H, W, 3) from 0 to 1."""
    colour = np.repeat(picture[..., None], 3, axis=2) if picture.ndim == 2 else picture[..., :3]
    return np.asarray(colour, np.float32) / np.float32(255)


def with_confidence(
    values: Map, spread_px: NDArray[np.float32], quantity: str, inputs: Inputs
) -> Estimate | Map:
    """The estimate with its confidence; the map alone where it stands for a stack of layers."""
    if inputs.get("quantity", quantity) != quantity:
        return values
    return Estimate(values, quantity, {"confidence": confidence_of(spread_px)})


def confidence_of(spread_px: NDArray[np.float32]) -> Map:
    """1 where the last updates agree; halved where they spread by 0.7 px."""
    return np.asarray(np.exp(-spread_px), np.float32)
