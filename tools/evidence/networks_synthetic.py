"""Our networks on new synthetic pairs, with one estimate and with several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from depthgauge.methods.nets._networks import WEIGHTS
from depthgauge.methods.nets._packs import SIZES
from depthgauge.methods.nets.flow import FlowNetOptions
from depthgauge.methods.nets.stereo import StereoNetOptions
from tools._measured import table, update
from tools.evidence import Number, figure, recorded_values, within

PAIRS = 24
SEED = 880_000_000
"""Trainings draw from other seeds; textures are new as well."""
_TEXTURES, _TEXTURE_PX = 96, 512
UPDATES = {"stereo": StereoNetOptions().updates, "flow": FlowNetOptions().updates}
WAYS = {"one estimate": False, "three": True}
SHOWN = {
    "epe_px": "mean error, px",
    "bad1": "above 1 px, %",
    "bad2": "above 2 px, %",
}


@dataclass(frozen=True, slots=True)
class _Pair:
    """Pictures (H, W, 3) from 0 to 1, and the motion (C, H, W)."""

    first: NDArray[np.float32]
    second: NDArray[np.float32]
    motion: NDArray[np.float32]


@figure(
    "networks-synthetic",
    data=f"{PAIRS} new pairs each as training makes them: "
    + ", ".join(f"{task} {SIZES[task][1]}x{SIZES[task][0]} px" for task in UPDATES),
    needs=("torch",),
)
def networks_synthetic() -> Iterator[Number]:
    """Means over pairs; the networks alone, without the polish of the flow."""
    for task in UPDATES:
        pairs = list(_pairs(task))
        found = {way: _scores(task, pairs, several) for way, several in WAYS.items()}
        for way, scores in found.items():
            for name, value in scores.items():
                yield Number(f"{task}, {way}: {SHOWN[name]}", value)
        one, three = (found[way]["bad2"] for way in WAYS)
        yield within(f"{task}: above 2 px, three as a share of one estimate", three / one, 0, 1)


def _pairs(task: str) -> Iterator[_Pair]:
    from depthgauge.methods.nets._torch.data.draw import Draw
    from depthgauge.methods.nets._torch.data.pairs import flow_pairs, stereo_pairs
    from depthgauge.methods.nets._torch.data.pool import Pool
    from depthgauge.methods.nets._torch.data.textures import make_textures

    make = {"stereo": stereo_pairs, "flow": flow_pairs}[task]
    bank = make_textures(Draw(SEED), _TEXTURES, _TEXTURE_PX)
    for number in range(1, PAIRS + 1):
        draw, pool = Draw(SEED + number), Pool(make, SIZES[task], 1)
        pool.add(draw, bank, 1)
        pair = pool.batch(draw, 1)
        first, second = (p[0].permute(1, 2, 0).numpy() for p in (pair.first, pair.second))
        yield _Pair(first, second, pair.motion[0, 0].numpy())


def _scores(task: str, pairs: list[_Pair], several: bool) -> dict[str, float]:
    import torch

    from depthgauge.methods.nets._torch.inference import Runner, network
    from depthgauge.methods.nets._torch.training.losses import errors

    net = network(task, WEIGHTS / f"{task}.safetensors", "cpu")
    runner = Runner(net, "cpu", UPDATES[task], 10**6)
    found = []
    for pair in pairs:
        if task == "stereo":
            most = float(pair.motion.max())
            estimate = runner.stereo(pair.first, pair.second, most, averaged=several)
        else:
            estimate = runner.flow(pair.first, pair.second, averaged=several)
        found.append(
            errors(*(torch.from_numpy(m)[None] for m in (estimate.motion[0], pair.motion)))
        )
    return {name: mean(each[name] for each in found) for name in SHOWN}


def write_page(*, check: bool = False) -> bool:
    """Brings the table of docs/networks.md up to date; True where it is."""
    numbers = recorded_values("networks-synthetic")
    if not numbers:
        return False
    rows = []
    for task in UPDATES:
        for way in WAYS:
            error, *shares = (numbers[f"{task}, {way}: {shown}"] for shown in SHOWN.values())
            rows.append(
                [f"`nets-{task}`", way, f"{error:.2f}", *(f"{share:.1f}" for share in shares)]
            )
    columns = ["network", "way", *SHOWN.values()]
    return update("networks.md", {"synthetic": table(columns, rows)}, "evidence", check)
