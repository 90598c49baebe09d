"""`--set KEY=VALUE`, any key of a protocol; and `--estimates NAME=DIR`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from depthgauge.errors import Misuse


def set_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--set KEY=VALUE`, which may be repeated."""
    return click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="Another key of the protocol, as in a benchmark file: pool=pixel, "
        "truth.max_depth_m=80, missing=interpolate; may be repeated. The hash changes with it.",
    )(command)


def parse_settings(texts: Iterable[str]) -> dict[str, Any]:
    """Keys of a protocol; `a.b=1` is a key of the table `a`.

    >>> parse_settings(["pool=pixel", "truth.max_depth_m=80", "truth.min_depth_m=0.1"])
    {'pool': 'pixel', 'truth': {'max_depth_m': 80, 'min_depth_m': 0.1}}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        parts = [part.strip() for part in name.split(".")]
        if not equals or not all(parts):
            raise click.UsageError(f"--set {text}: write KEY=VALUE, such as pool=pixel.")
        table = found
        for part in parts[:-1]:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise click.UsageError(f"--set {text}: {part} is already set to a value.")
        table[parts[-1]] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    """A TOML value; anything else is a word."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def merged(plain: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Keys with others in their place; tables are merged.

    >>> merged({"truth": {"min_depth_m": 1}, "pool": "image"}, {"truth": {"max_depth_m": 9}})
    {'truth': {'min_depth_m': 1, 'max_depth_m': 9}, 'pool': 'image'}
    """
    found = dict(plain)
    for name, value in given.items():
        before = found.get(name)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        found[name] = merged(before, value) if both else value  # type: ignore[arg-type]  # both are tables
    return found


def labelled(given: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """Folders by the method's name, by default the folder's name."""
    seen: set[str] = set()
    for text in given:
        name, equals, folder = text.partition("=")
        path = Path(folder if equals else text)
        label = name if equals else path.resolve().name
        if not label or label in seen:
            raise Misuse(f"--estimates {text}: give each folder its own name: NAME=DIR.")
        seen.add(label)
        yield label, path
