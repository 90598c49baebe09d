"""What is wrong with a call of `run`, before anything runs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from depthgauge.benchmarks import Protocol
from depthgauge.engine.running.task import GIVEN
from depthgauge.errors import BadData, Misuse
from depthgauge.methods import Method
from depthgauge.types import Sample


def check_ids(samples: Iterable[Sample]) -> None:
    """Rejects sample names that a table or a disk cannot distinguish, before anything runs."""
    seen: dict[str, str] = {}
    for sample in samples:
        folded = unicodedata.normalize("NFC", sample.id).casefold()
        if folded in seen:
            raise BadData(
                f"samples '{seen[folded]}' and '{sample.id}' would be one folder on some disks; "
                "rename one of them."
            )
        seen[folded] = sample.id
        try:
            sample.id.encode()
        except UnicodeEncodeError as error:
            raise BadData(
                f"sample {sample.id!a}: the name of its file is not UTF-8; rename the file."
            ) from error


def check_call(methods: Sequence[Method], workers: int, seeds: int, time_limit_s: float) -> None:
    """Rejects numbers that make no sense."""
    if not methods:
        raise Misuse("give at least one method, such as sgbm; 'depthgauge list methods' has all.")
    if seeds < 1:
        raise Misuse(f"seeds is {seeds} but must be at least 1.")
    if workers < 0:
        raise Misuse(f"workers is {workers} but must be 0 or more.")
    if not time_limit_s > 0:
        raise Misuse(f"the time limit is {time_limit_s:g} s but must be positive.")


def check_methods(methods: Sequence[Method], protocol: Protocol, samples: list[Sample]) -> None:
    """Rejects a method that cannot estimate a single sample, before anything runs."""
    for method in methods:
        spec = method.spec
        if not spec.can_estimate(protocol.quantity):
            raise Misuse(
                f"method '{method.label}' estimates {' and '.join(spec.quantities)}, but "
                f"{protocol.id} scores {protocol.quantity}; choose another method or benchmark."
            )
        if protocol.perturb and not spec.keeps:
            raise Misuse(
                f"method '{method.label}' reads existing estimates, made from other "
                f"images than those with {protocol.perturb}; run the method itself."
            )
        folder = getattr(method.options, "path", None) if spec.id == "folder" else None
        if folder is not None and not Path(folder).is_dir():
            raise BadData(f"{folder}: there is no such folder of estimates.")
        needs = [name for name in spec.needs if name not in GIVEN]
        if not any(all(name in s.inputs for name in needs) for s in samples):
            raise Misuse(
                f"method '{method.label}' needs {' and '.join(needs)}; no sample has them, "
                f"they have {', '.join(samples[0].inputs) or 'no inputs'}."
            )
