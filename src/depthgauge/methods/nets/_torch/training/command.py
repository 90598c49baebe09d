"""`python -m depthgauge.methods.nets._torch.training.command TASK --out FOLDER`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch

from depthgauge.methods.nets._torch.training.loop import Plan, train
from depthgauge.methods.nets._torch.training.tasks import TASKS


def main(arguments: list[str] | None = None) -> None:
    """Trains a network, or continues; prints where it stands as JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("task", choices=sorted(TASKS))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--size", type=int, nargs=2)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--pool", type=int, default=4096)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--textures", type=int, default=160)
    parser.add_argument("--log-every", type=int, default=50)
    given = parser.parse_args(arguments)
    plan = Plan(
        given.task,
        given.out,
        seed=given.seed,
        steps=given.steps,
        batch=given.batch,
        size=tuple(given.size) if given.size else None,
        seconds=given.seconds,
        fit=given.fit,
        pool=given.pool,
        start=given.start,
        textures=given.textures,
        device="cuda" if torch.cuda.is_available() else "cpu",
        log_every=given.log_every,
    )
    sys.stdout.write(json.dumps(train(plan)) + "\n")


if __name__ == "__main__":
    main()
