"""`python -m depthgauge.methods.nets._torch.training.command TASK --out FOLDER`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch

from depthgauge.methods.nets._stages import STAGES
from depthgauge.methods.nets._torch.training.loop import Plan, train
from depthgauge.methods.nets._torch.training.tasks import TASKS


def main(arguments: list[str] | None = None) -> None:
    """Trains a network or a stage of the plan, or continues; prints where it stands as JSON."""
    given = _parser().parse_args(arguments)
    sys.stdout.write(json.dumps(train(_plan(given))) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("task", choices=sorted({*TASKS, *STAGES}))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--size", type=int, nargs=2)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--fused", action="store_true")
    parser.add_argument("--pool", type=int, default=4096)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--textures", type=int, default=160)
    parser.add_argument("--log-every", type=int, default=50)
    parser.add_argument("--packs", type=Path)
    parser.add_argument("--packed-share", type=float)
    parser.add_argument("--rate", type=float)
    return parser


def _plan(given: argparse.Namespace) -> Plan:
    stage = STAGES.get(given.task)
    settings = {} if stage is None else stage.settings(given.out, given.packs)
    own = {
        "seed": given.seed,
        "steps": given.steps,
        "start": given.start,
        "rate": given.rate,
        "packed_share": given.packed_share,
        "packs": given.packs if stage is None else None,
    }
    settings |= {name: value for name, value in own.items() if value is not None}
    return Plan(
        given.task if stage is None else stage.task,
        given.out if stage is None else given.out / stage.name,
        batch=given.batch,
        size=tuple(given.size) if given.size else None,
        seconds=given.seconds,
        fit=given.fit,
        fused=given.fused,
        pool=given.pool,
        textures=given.textures,
        device="cuda" if torch.cuda.is_available() else "cpu",
        log_every=given.log_every,
        **settings,
    )


if __name__ == "__main__":
    main()
