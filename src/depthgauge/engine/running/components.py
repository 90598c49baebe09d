"""Runs a method as a chain of steps: every combination, or one step exchanged at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from depthgauge._registry import nearest
from depthgauge.benchmarks import Protocol
from depthgauge.engine.running.run import run
from depthgauge.engine.store.record import Run
from depthgauge.errors import Misuse
from depthgauge.methods import Method, find_method

Design = Literal["all", "one"]
MOST_CHAINS = 512


def chains(
    method: str,
    steps: Mapping[str, Sequence[Any]] | None = None,
    design: Design = "all",
) -> list[Method]:
    """The method with its steps exchanged; the first is the method as it is.

    Args:
        method: Its id, with options: `stereo-chain:radius=3`.
        steps: Choices of each step by the name of its option, any option; by default all choices of
            the steps that the method declares.
        design: `all` combinations, or only those that differ from the method in `one` step.

    Raises:
        Misuse: The method has no such option, declares no steps, or there are too many chains.
    """
    base = find_method(method)
    known = base.spec.options.model_fields
    chosen = {name: tuple(choices) for name, choices in (steps or {}).items()}
    for name in chosen:
        if name not in known:
            hint = nearest(name, known) or f"It has {', '.join(known)}."
            raise Misuse(f"{base.spec.id} has no option '{name}'. {hint}")
    for name in base.spec.steps if not chosen else ():
        chosen[name] = step_choices(base, name)
    if not chosen:
        raise Misuse(
            f"{base.spec.id} does not declare its steps; name options to exchange: "
            "--step mode=sgbm,hh."
        )
    chosen = {name: choices or step_choices(base, name) for name, choices in chosen.items()}
    plain = {name: _written(getattr(base.options, name)) for name in chosen}
    levels = {
        name: tuple(dict.fromkeys((plain[name], *map(_written, choices))))
        for name, choices in chosen.items()
    }
    found = list(_combinations(plain, levels, design))
    if len(found) > MOST_CHAINS:
        raise Misuse(
            f"{len(found)} chains are more than {MOST_CHAINS}; name fewer steps, or use the "
            "design 'one'."
        )
    name, colon, rest = method.partition(":")
    return [_chain(name, rest if colon else "", each) for each in found]


def step_choices(method: Method, name: str) -> tuple[str, ...]:
    """All choices of a step: the words of its option, or on and off."""
    kind = method.spec.options.model_fields[name].annotation
    if get_origin(kind) is Literal:
        return tuple(str(word) for word in get_args(kind))
    if kind is bool:
        return ("false", "true")
    raise Misuse(f"{method.spec.id}: say the choices of {name}: --step {name}=1,2,3.")


def _combinations(
    plain: Mapping[str, str], levels: Mapping[str, Sequence[str]], design: Design
) -> Iterator[dict[str, str]]:
    if design == "all":
        for values in product(*levels.values()):
            yield dict(zip(levels, values, strict=True))
        return
    yield dict(plain)
    for name, choices in levels.items():
        for choice in choices[1:]:
            yield {**plain, name: choice}


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _chain(name: str, given: str, steps: Mapping[str, str]) -> Method:
    kept = [text for text in given.split(",") if text and text.partition("=")[0] not in steps]
    said = [*kept, *(f"{step}={choice}" for step, choice in steps.items())]
    label = "+".join(steps.values())
    return find_method(f"{name}:{','.join(said)}", label)


def run_components(
    benchmark: str | Path | Protocol,
    data: str | Path,
    method: str,
    out: str | Path,
    *,
    steps: Mapping[str, Sequence[Any]] | None = None,
    design: Design = "all",
    **options: Any,
) -> Run:
    """Runs every chain on a benchmark; continues an interrupted call.

    Args:
        benchmark: Its id, the path of its TOML file, or the protocol itself.
        data: The dataset's folder.
        method: As in `chains`, like the next two.
        out: The run folder.
        steps: Choices of each step.
        design: Which chains.
        options: As of `run`: `workers`, `only`, `progress` ...
    """
    return run(benchmark, data, chains(method, steps, design), out, **options)
