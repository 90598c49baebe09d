"""Options that say how stored numbers become values: scales, and marks for missing pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_SIDES = ("estimate", "truth")


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--scale` and `--invalid`, for both sides or for one, and `--no-check`."""
    for option in reversed(
        (
            click.option(
                "--scale",
                metavar="FACTOR",
                help="Stored numbers times FACTOR are px or m, whatever the files say: 0.001 for "
                "millimetres, 1/256 for KITTI's PNG; --estimate-scale, --truth-scale for one side.",
            ),
            click.option("--estimate-scale", metavar="FACTOR", help="The same for estimates."),
            click.option("--truth-scale", metavar="FACTOR", help="The same for truths."),
            click.option(
                "--invalid",
                multiple=True,
                metavar="NUMBER",
                help="A stored number that means missing: 0, -1, 65535; may be repeated. "
                "--estimate-invalid, --truth-invalid for one side.",
            ),
            click.option(
                "--estimate-invalid",
                multiple=True,
                metavar="NUMBER",
                help="The same for estimates.",
            ),
            click.option(
                "--truth-invalid", multiple=True, metavar="NUMBER", help="The same for truths."
            ),
            click.option(
                "--check/--no-check",
                default=True,
                help="Test on some pixels whether the maps are read correctly (default).",
            ),
        )
    ):
        command = option(command)
    return command


def reading_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `dg.score` that these options say, checked, with the options' own names."""
    from depthgauge.io.reading import parse_invalid, parse_scale

    found: dict[str, Any] = {}
    for side in _SIDES:
        for kind in ("scale", "invalid"):
            if options[kind] and options[f"{side}_{kind}"]:
                raise click.UsageError(
                    f"--{kind} is for both sides and --{side}-{kind} for one; give one of them."
                )
        scale = options["scale"] or options[f"{side}_scale"]
        marks = options["invalid"] or options[f"{side}_invalid"]
        flag = "--scale" if options["scale"] else f"--{side}-scale"
        found[f"{side}_scale"] = parse_scale(scale, flag)
        flag = "--invalid" if options["invalid"] else f"--{side}-invalid"
        found[f"{side}_invalid"] = parse_invalid(",".join(marks), flag)
    return found


def reading_keys(options: dict[str, Any]) -> dict[str, Any]:
    """The same as a key of a benchmark; nothing where nothing is said."""
    from depthgauge.engine.scoring.in_memory.arrays import reading_key

    return reading_key(reading_arguments(options))
