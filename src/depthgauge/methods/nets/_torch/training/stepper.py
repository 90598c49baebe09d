"""One step of training; on a GPU it is recorded once and replayed, since launching takes longer."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from depthgauge.methods.nets._torch.data.pairs import Pairs
from depthgauge.methods.nets._torch.training.tasks import Task

_REHEARSALS = 3


class Stepper:
    """Forward, backward, and a step of AdamW."""

    def __init__(self, task: Task, net: nn.Module, device: str, *, fused: bool = False) -> None:
        self._task, self.net = task, net
        if fused:
            fuse(net)
        self._on_gpu = device.startswith("cuda")
        self._rate = torch.tensor(task.rate, device=device) if self._on_gpu else None
        self.optimiser = torch.optim.AdamW(
            net.parameters(),
            lr=task.rate if self._rate is None else self._rate,
            weight_decay=1e-5,
            **({"fused": True, "capturable": True} if self._on_gpu else {}),
        )
        self._graph: Any = None
        self._given: Pairs | None = None
        self._found: tuple[Tensor, Tensor, Tensor] | None = None

    def mixed(self) -> Any:
        """bfloat16 where it helps; weights and coordinates stay float32."""
        if not self._on_gpu:
            return nullcontext()
        return torch.autocast("cuda", torch.bfloat16, cache_enabled=self._graph is None)

    def record(self, pairs: Pairs) -> None:
        """Records a step on a GPU; rehearsals have the learning rate 0, and leave no trace."""
        if not self._on_gpu:
            return
        self._given = Pairs(*(v.clone() for v in _tensors(pairs)))
        assert self._rate is not None
        self._rate.fill_(0.0)
        self._graph = torch.cuda.CUDAGraph()
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_REHEARSALS):
                self._whole(self._given)
        torch.cuda.current_stream().wait_stream(aside)
        self.optimiser.zero_grad(set_to_none=True)
        with torch.cuda.graph(self._graph):
            self._found = self._once(self._given)
        for kept in self.optimiser.state.values():
            for value in kept.values():
                value.zero_()

    def step(self, pairs: Pairs, rate: float) -> tuple[Tensor, Tensor, Tensor]:
        """Learns from a batch; the loss, the last estimate and the truth it was held against."""
        if self._graph is None or self._given is None or self._found is None:
            for group in self.optimiser.param_groups:
                group["lr"] = rate
            return self._whole(pairs)
        assert self._rate is not None
        self._rate.fill_(rate)
        for kept, value in zip(_tensors(self._given), _tensors(pairs), strict=True):
            kept.copy_(value)
        self._graph.replay()
        return self._found

    def _whole(self, pairs: Pairs) -> tuple[Tensor, Tensor, Tensor]:
        self.optimiser.zero_grad(set_to_none=True)
        return self._once(pairs)

    def _once(self, pairs: Pairs) -> tuple[Tensor, Tensor, Tensor]:
        with self.mixed():
            loss, estimate, truth = self._task.loss(self.net, pairs)
        loss.backward()
        for parameter in self.net.parameters():  # an overflow costs a step, not the network
            if parameter.grad is not None:
                parameter.grad.nan_to_num_(0.0, 0.0, 0.0)
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimiser.step()
        return loss.detach(), estimate.detach(), truth


def fuse(net: nn.Module) -> None:
    """Compiles the parts of a network that its classes name, so that passes over memory are saved.

    Parts rather than the whole, since most of them recur in every update.
    """
    for part in net.modules():
        for name in getattr(part, "FUSED", ()):
            setattr(part, name, torch.compile(getattr(part, name), dynamic=False))


def _tensors(pairs: Pairs) -> tuple[Tensor, ...]:
    return pairs.first, pairs.second, pairs.motion, pairs.number
