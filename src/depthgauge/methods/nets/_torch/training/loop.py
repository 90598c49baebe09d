"""The loop: pairs made on the fly or packed, one learning-rate cycle, checkpoints, curves."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from depthgauge.methods.nets._packs import read_index
from depthgauge.methods.nets._tensors import read_tensors, write_tensors
from depthgauge.methods.nets._torch.data.draw import Draw
from depthgauge.methods.nets._torch.data.packed import PackedPairs
from depthgauge.methods.nets._torch.data.pairs import Pairs, small_flow_pairs
from depthgauge.methods.nets._torch.data.pool import Pool
from depthgauge.methods.nets._torch.data.textures import make_textures
from depthgauge.methods.nets._torch.flow_net import FlowNet, layers_from_flow
from depthgauge.methods.nets._torch.training.checkpoint import (
    load_checkpoint,
    load_weights,
    save_checkpoint,
    weights_of,
)
from depthgauge.methods.nets._torch.training.losses import errors
from depthgauge.methods.nets._torch.training.stepper import Stepper
from depthgauge.methods.nets._torch.training.tasks import TASKS, Task

_SEEDS_PER_RUN = 10_000_000
_VALIDATION = 9_000_000
"""Seeds from here on are for validation: no step uses them."""
_TEXTURES, _PAIRS = 8_000_000, 7_000_000
"""Where the seeds of textures and of pairs begin; those of steps begin at 0."""
_PACKED = 6_000_000
"""Where the seeds of steps that learn from packed pairs begin."""
SAMPLES = "samples.npz"
"""What the network says about a few pairs that it has not learned from, for pages."""
_SHOWN = 3
_MEASURED = (20, 80)
"""The steps between which the speed is measured."""
_RESERVE_S = 20.0
"""Left for validation and for writing when steps fill a time."""
_WARM_UP = 0.05
"""The share of the steps in which the learning rate grows."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is trained, for how long, and where it is stored."""

    task: str
    folder: Path
    seed: int = 0
    steps: int | None = None
    """None: those of the task."""
    batch: int | None = None
    size: tuple[int, int] | None = None
    seconds: float = 1e9
    """Stop after this time, with a checkpoint; the same call continues."""
    fit: bool = False
    """Choose the number of steps so that they fill `seconds`, from the speed of the first ones."""
    pool: int = 4096
    """Pairs that are kept in memory."""
    new_pairs_every: int = 8
    """Steps after which a batch of pairs is replaced."""
    textures: int = 160
    texture_px: int = 512
    new_textures_every: int = 400
    """Steps after which the bank of textures is made anew."""
    start: Path | None = None
    """Weights to start from; for layers also those of a flow network."""
    learned: float = 1.0
    """How far the stored weights go from those at the start (0) to the trained ones (1)."""
    device: str = "cpu"
    fused: bool = False
    """Compile what recurs, which takes a minute and makes each step a third shorter on a GPU."""
    log_every: int = 50
    validation: int = 6
    """Batches of new pairs on which it is judged at the end."""
    packs: Path | None = None
    """A folder of packed pairs; without it, all pairs are made on the fly."""
    packed_share: float = 1.0
    """The share of the steps that learn from packed pairs, if there are any."""
    rate: float | None = None
    """The largest learning rate; None: that of the task."""
    small_motion: bool = False
    """Flow: pairs with motion of a few px only."""


def train(plan: Plan, logged: Callable[[], None] | None = None) -> dict[str, Any]:
    """Trains until all steps are done or the time is up; returns the state that it reached.

    Args:
        plan: What is trained.
        logged: Called after each new line of the curves.
    """
    began = time.monotonic()
    task = _task(plan)
    torch.manual_seed(plan.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    net = task.net().to(plan.device, memory_format=torch.channels_last)
    stepper = Stepper(task, net, plan.device, fused=plan.fused)
    supply = _Supply(plan, task)
    stepper.record(supply.validation(0))
    if plan.start is not None:
        start_from(net, plan.start)
    new = {"step": 0, "seconds": 0.0, "steps": task.steps}
    started = {name: values.clone() for name, values in net.state_dict().items()}
    state = load_checkpoint(plan.folder, net, stepper.optimiser) or new
    plan.folder.mkdir(parents=True, exist_ok=True)
    before = state["seconds"]
    with (plan.folder / "curves.jsonl").open("a") as curves:
        for entry in _steps(plan, task, stepper, supply, state):
            now = time.monotonic() - began
            state["seconds"] = before + now
            _fit(plan, state, now)
            if entry:
                curves.write(json.dumps({**entry, "seconds": round(state["seconds"], 1)}) + "\n")
                curves.flush()
                if logged:
                    logged()
            if time.monotonic() - began > plan.seconds:
                break
        save_checkpoint(plan.folder, net, stepper.optimiser, state)
        _blend(net, started, plan.learned)
        net.eval()
        _write_samples(plan.folder / SAMPLES, task, stepper, supply)
        net.train()
        final = {"step": state["step"], **validate(task, stepper, supply, plan.validation)}
        curves.write(
            json.dumps({"validation": final, "seconds": round(state["seconds"], 1)}) + "\n"
        )
    about = {"task": plan.task, "seed": str(plan.seed), "steps": str(state["step"])}
    write_tensors(plan.folder / f"{plan.task}.safetensors", weights_of(net), about)
    if logged:
        logged()
    return {**state, **final}


def _task(plan: Plan) -> Task:
    task = TASKS[plan.task]
    if plan.small_motion:
        task = replace(task, pairs=small_flow_pairs)
    return replace(
        task,
        rate=plan.rate or task.rate,
        steps=plan.steps or task.steps,
        batch=plan.batch or task.batch,
        size=plan.size or task.size,
    )


def start_from(net: nn.Module, path: Path) -> None:
    """Puts stored weights into a network; those of one layer become those of several."""
    tensors = read_tensors(path)[0]
    if isinstance(net, FlowNet) and "contexts.1.stem.weight" not in tensors:
        weights = {
            name: torch.from_numpy(values.copy()).float() for name, values in tensors.items()
        }
        net.load_state_dict(layers_from_flow(weights, net.layers))
    else:
        load_weights(net, tensors)


def _blend(net: nn.Module, started: Mapping[str, Tensor], learned: float) -> None:
    """Moves weights back towards those at the start: the network forgets less of what it knew."""
    trained = net.state_dict()
    net.load_state_dict({name: old.lerp(trained[name], learned) for name, old in started.items()})


class _Supply:
    """Batches; everything is drawn with the seed of its step, so that training can continue."""

    def __init__(self, plan: Plan, task: Task) -> None:
        self._plan, self._task = plan, task
        self._pool = Pool(task.pairs, task.size, plan.pool)
        self._bank: Tensor | None = None
        self._filled = False
        self._packed, self._held = _packed(plan)

    def batch(self, step: int) -> Pairs:
        """The batch of a step."""
        plan = self._plan
        if self._packed is not None and self._learns_packed(step):
            draw = self._draw(_PACKED + step)
            return _laid_out(self._packed.batch(draw, self._task.batch, self._task.size))
        if self._bank is None or step % plan.new_textures_every == 0:
            self._bank = self._textures(_TEXTURES + step // plan.new_textures_every)
        if not self._filled:
            self._filled = True
            for i in range(0, plan.pool, self._task.batch):
                count = min(self._task.batch, plan.pool - i)
                self._pool.add(self._draw(_PAIRS + 1_000_000 // 2 + step + i), self._bank, count)
        elif step % plan.new_pairs_every == 0:
            self._pool.add(self._draw(_PAIRS + step), self._bank, self._task.batch)
        return _laid_out(self._pool.batch(self._draw(step), self._task.batch))

    def _learns_packed(self, step: int) -> bool:
        """Steps of packed pairs are spread evenly."""
        share = self._plan.packed_share
        return int((step + 1) * share) > int(step * share)

    def validation(self, number: int) -> Pairs:
        """A batch that no step has seen: of held-out scenes, else new pairs with new textures."""
        if self._held is not None:
            start = number * self._task.batch
            return _laid_out(self._held.in_order(start, self._task.batch, self._task.size))
        bank = self._textures(_VALIDATION)
        pool = Pool(self._task.pairs, self._task.size, self._task.batch)
        draw = self._draw(_VALIDATION + 1 + number)
        pool.add(draw, bank, self._task.batch)
        return _laid_out(pool.batch(draw, self._task.batch))

    def _draw(self, number: int) -> Draw:
        return Draw(self._plan.seed * _SEEDS_PER_RUN + number, self._plan.device)

    def _textures(self, number: int) -> Tensor:
        return make_textures(self._draw(number), self._plan.textures, self._plan.texture_px)


def _packed(plan: Plan) -> tuple[PackedPairs | None, PackedPairs | None]:
    """Pairs to learn from, and those of held-out scenes, if any are held out."""
    if plan.packs is None:
        return None, None
    index = read_index(plan.packs)
    size = plan.size or TASKS[plan.task].size
    if any(own < wanted for own, wanted in zip(index["size"], size, strict=True)):
        raise ValueError(f"{plan.packs}: has pairs of {index['size']} px, training takes {size}.")
    held = index["files"]["held"]
    return (
        PackedPairs(plan.packs, plan.task, plan.device),
        PackedPairs(plan.packs, plan.task, plan.device, held_out=True) if held else None,
    )


def _laid_out(pairs: Pairs) -> Pairs:
    """With the channels of a pixel beside each other, as the network computes."""
    layout = torch.channels_last
    pairs.first = pairs.first.contiguous(memory_format=layout)
    pairs.second = pairs.second.contiguous(memory_format=layout)
    pairs.motion = pairs.motion.contiguous()
    return pairs


def _steps(
    plan: Plan, task: Task, stepper: Stepper, supply: _Supply, state: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Trains step by step; says what it reached now and then."""
    stepper.net.train()
    last, began = state["step"], time.monotonic()
    while state["step"] < state["steps"]:
        pairs = supply.batch(state["step"])
        rate = task.rate * _cycle(state["step"] / state["steps"])
        loss, estimate, truth = stepper.step(pairs, rate)
        state["step"] += 1
        entry: dict[str, Any] = {}
        if state["step"] % plan.log_every == 0 or state["step"] == state["steps"]:
            entry = {"step": state["step"], "loss": float(loss), **errors(estimate, truth)}
            speed = task.batch * (state["step"] - last) / (time.monotonic() - began)
            entry["pairs_per_s"] = round(speed, 1)
            last, began = state["step"], time.monotonic()
        yield entry


def _fit(plan: Plan, state: dict[str, Any], now: float) -> None:
    """Sets the number of steps when the speed is known."""
    first, last = _MEASURED
    if plan.fit and state["step"] in _MEASURED and plan.device.startswith("cuda"):
        torch.cuda.synchronize()
    if plan.fit and state["step"] == first:
        state["measured"] = now
    if plan.fit and state["step"] == last and "measured" in state:
        per_step = (now - state.pop("measured")) / (last - first)
        state["steps"] = last + max(1, int((plan.seconds - _RESERVE_S - now) / per_step))


def _cycle(done: float) -> float:
    """The learning rate at a share of the steps: up, then down to almost 0, in straight lines."""
    if done < _WARM_UP:
        return 0.04 + 0.96 * done / _WARM_UP
    return max(1e-3, (1 - done) / (1 - _WARM_UP))


def validate(task: Task, stepper: Stepper, supply: _Supply, batches: int) -> dict[str, float]:
    """Errors on pairs and textures that no step has seen."""
    found = []
    for i in range(batches):
        pairs = supply.validation(1 + i)
        with torch.no_grad(), stepper.mixed():
            _, estimate, truth = task.loss(stepper.net, pairs)
        found.append(errors(estimate, truth))
    return {name: round(sum(e[name] for e in found) / batches, 4) for name in found[0]}


def _write_samples(path: Path, task: Task, stepper: Stepper, supply: _Supply) -> None:
    """Left or first pictures, truths and estimates of a few pairs that no step has seen."""
    pairs = supply.validation(1)
    with torch.no_grad(), stepper.mixed():
        _, estimate, truth = task.loss(stepper.net, pairs)
    layers = len(estimate) // len(pairs.first)
    shown = {
        "first": (255 * pairs.first[:_SHOWN]).round().byte().permute(0, 2, 3, 1),
        "truth": truth.unflatten(0, (-1, layers))[:_SHOWN, 0].permute(0, 2, 3, 1).float(),
        "estimate": estimate.unflatten(0, (-1, layers))[:_SHOWN, 0].permute(0, 2, 3, 1).float(),
    }
    np.savez_compressed(path, **{name: values.cpu().numpy() for name, values in shown.items()})
