"""Trains the network of `capture refine --engine bimodal`: `python -m tools.train_refiner`.

It needs PyTorch. Simulated sessions are labelled up to `spacetime`, at full and at half size, and
the network learns the density of the true disparity near jumps, as in equation 8 of Booster's
paper with absolute values.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from torch import Tensor, nn

from depthgauge.capture.pipeline import run_steps
from depthgauge.capture.refine.engine import MeasuredMaps, RefineOptions
from depthgauge.capture.refine.engines import bimodal
from depthgauge.capture.refine.engines.classical import _colours
from depthgauge.methods.nets._tensors import write_tensors
from depthgauge.sessions import Session, open_session
from depthgauge.synth.sets.capture_session import CaptureOptions, write_capture_session
from depthgauge.types import Map, Mask
from tools.evidence.networks_refine import views

SESSIONS = (
    ("kitchen", 1, 400),
    ("desk", 2, 400),
    ("bathroom", 3, 400),
    ("kitchen", 4, 480),
    ("desk", 5, 480),
    ("bathroom", 6, 480),
    ("desk", 7, 400),
    ("bathroom", 8, 400),
)
"""Scene, seed and width in px of the sessions to learn from."""
PATTERNS = 5
SCALES = (0.5, 1.0)
HIDDEN = (96, 64)
_WILD_PX = 30.0


class Refiner(nn.Module):
    """The layers of `bimodal.modes`."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(bimodal.INPUTS, HIDDEN[0])
        self.second = nn.Linear(HIDDEN[0], HIDDEN[1])
        self.last = nn.Linear(HIDDEN[1], bimodal.OUTPUTS)

    def forward(self, inputs: Tensor, values: Tensor, known: Tensor) -> tuple[Tensor, ...]:
        """Share, places above the lowest value (N, 2), and scales (N, 2)."""
        x = self.last(torch.relu(self.second(torch.relu(self.first(inputs)))))
        n = bimodal.WINDOW
        places = []
        for k in range(2):
            shown = x[:, k * n : (k + 1) * n].masked_fill(~known, -torch.inf)
            places.append((torch.softmax(shown, 1) * values).sum(1))
        scales = nn.functional.softplus(x[:, 2 * n + 1 :]) + bimodal._LEAST_SCALE_PX
        return torch.sigmoid(x[:, 2 * n]), torch.stack(places, 1), scales


def surprise(share: Tensor, places: Tensor, scales: Tensor, truth: Tensor) -> Tensor:
    """Minus the mean logarithm of the density at the truth (N,)."""
    parts = -(truth[:, None] - places).abs() / scales - torch.log(2 * scales)
    weighed = parts + torch.log(torch.stack([share, 1 - share], 1).clamp(min=1e-6))
    return -torch.logsumexp(weighed, 1).mean()


Sample = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Inputs, values, known, and the truth above the lowest value, in px of the measured map."""


def samples(folder: Path) -> Iterator[Sample]:
    """What can be learned from each session, view and scale."""
    for scene, seed, width in SESSIONS:
        place = folder / "sessions" / f"{scene}-{seed}-{width}-{PATTERNS}"
        options = CaptureOptions(
            scene=scene, seed=seed, width_px=width, patterns=PATTERNS, passive=False
        )
        write_capture_session(place, options=options)
        for scale in SCALES:
            yield from _of_session(open_session(place), folder / f"work-{scale}", scale)


def _of_session(session: Session, works: Path, scale: float) -> Iterator[Sample]:
    work = works / session.folder.name
    for _ in run_steps(session, work, until="spacetime", options={"spacetime": {"scale": scale}}):
        pass
    for _, maps, guide, truth, seen in views(session, work):
        yield _sample(maps, guide, truth, seen)


def _sample(maps: MeasuredMaps, guide: Any, truth: Map, seen: Mask) -> Sample:
    colours = _colours(guide)
    ratio = maps.disparity.shape[1] / colours.shape[1]
    near = bimodal.near_jumps(maps, colours, RefineOptions()) & np.isfinite(truth) & seen
    here = np.nonzero(near)
    found = bimodal.windows(maps, colours, here)
    wanted = truth[here] * ratio - found.lowest
    tame = np.isfinite(found.lowest) & (np.abs(wanted) < _WILD_PX)
    return found.inputs[tame], found.values[tame], found.known[tame], wanted[tame]


def fit(data: Sample, steps: int, seed: int, batch: int = 2048) -> tuple[Refiner, list[float]]:
    """The trained network, and its loss over the steps."""
    torch.manual_seed(seed)
    net = Refiner()
    parts = [torch.from_numpy(np.ascontiguousarray(part)) for part in data]
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-4)
    cycle = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    losses = []
    for _ in range(steps):
        chosen = torch.randint(len(parts[0]), (batch,))
        inputs, values, known, truth = (part[chosen] for part in parts)
        loss = surprise(*net(inputs, values, known), truth.float())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        cycle.step()
        losses.append(float(loss.detach()))
    return net, losses


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("out/refiner"))
@click.option("--out", type=click.Path(path_type=Path), default=bimodal.WEIGHTS)
@click.option("--steps", type=int, default=2500)
@click.option("--seed", type=int, default=0)
def main(work: Path, out: Path, steps: int, seed: int) -> None:
    """Makes the sessions if they are not there, trains, and writes the weights."""
    found = list(samples(work))
    data = tuple(np.concatenate(parts) for parts in zip(*found, strict=True))
    net, losses = fit(data, steps, seed)  # type: ignore[arg-type]  # four parts
    out.parent.mkdir(parents=True, exist_ok=True)
    weights = {n: v.detach().half().numpy() for n, v in net.state_dict().items()}
    about = {
        "task": "refiner",
        "seed": str(seed),
        "steps": str(steps),
        "samples": str(len(data[0])),
    }
    write_tensors(out, weights, about)
    first, last = np.mean(losses[:100]), np.mean(losses[-100:])
    click.echo(f"{out}: {len(data[0])} pixels, loss {first:.3f} -> {last:.3f}")


if __name__ == "__main__":
    main()
