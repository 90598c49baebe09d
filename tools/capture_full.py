"""`python -m tools.capture_full`: a session at full size, from photographs to the exported dataset.

Simulates a session of 4112x3008 px with 100 patterns (passive images with few light paths) and runs
every step of the pipeline on it, each in a process of its own, up to the export. Writes
`measured.json`: time and memory of every stage, and the audit's errors by class. A stopped run goes
on with the stage, the picture or the tile where it was; times of earlier attempts are added.

    python -m tools.capture_full --width 480 --patterns 6      # does it run? two minutes
    python -m tools.capture_full                                # hours
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from depthgauge import io
from depthgauge.capture.registry import step_names
from depthgauge.io.text import read_json

REPOSITORY = Path(__file__).parents[1]
_FIGURES = ("pixels", "mean_abs_px", "median_abs_px", "bad_2_percent", "kept_percent")


@click.command()
@click.option("--width", default=4112, help="px of L and R.", show_default=True)
@click.option("--patterns", default=100, show_default=True)
@click.option("--samples", default=4, help="Light paths per pixel.", show_default=True)
@click.option("--scene", default="kitchen", show_default=True)
@click.option("--seed", default=31, show_default=True)
@click.option("--scale", type=float, help="Scale of the matching; by default that of the step.")
@click.option("--out", type=click.Path(path_type=Path), default=REPOSITORY / "out" / "full")
def main(
    width: int, patterns: int, samples: int, scene: str, seed: int, scale: float | None, out: Path
) -> None:
    """Measure the whole pipeline once, at full size."""
    folder = out / f"{scene}-{seed}-{width}-{patterns}"
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / "measured.json"
    found: dict[str, Any] = read_json(record) if record.is_file() else {"stages": {}}
    found["session"] = {"scene": scene, "seed": seed, "width_px": width, "patterns": patterns}
    make = ["make", "capture-session", "--out", str(folder / "session"), "--scene", scene]
    numbers = {"width": width, "seed": seed, "patterns": patterns, "samples": samples}
    make += [f"--{name}={value}" for name, value in {**numbers, "illuminations": 1}.items()]
    for name, command in _stages(folder, make, scale):
        if found["stages"].get(name, {}).get("done"):
            click.echo(f"{name}: done before")
            continue
        found["stages"][name] = _measured(command, found["stages"].get(name, {}))
        io.write_text(record, json.dumps(found, indent=1) + "\n")
        used = found["stages"][name]
        click.echo(f"{name}: {used['cpu_s']:.0f} CPU s, {used['peak_gib']:.2f} GiB")
        if not used["done"]:
            raise click.ClickException(f"{name} failed; see above, then run this again.")
    found["audit"] = _audit(folder / "session" / "work")
    io.write_text(record, json.dumps(found, indent=1) + "\n")
    click.echo(json.dumps(found["audit"], indent=1))


def _stages(
    folder: Path, make: list[str], scale: float | None
) -> Iterator[tuple[str, Sequence[str]]]:
    session = str(folder / "session")
    yield "simulate", make
    for step in step_names():
        more = ["--scale", str(scale)] if step == "spacetime" and scale is not None else []
        yield step, ["capture", step, session, *more]
    dataset = str(folder / "dataset")
    yield "export", ["capture", "export", session, "--out", dataset, "--split", "train"]


def _measured(command: Sequence[str], before: dict[str, Any]) -> dict[str, Any]:
    """Runs a command of depthgauge; its time, with that of earlier attempts, and largest memory."""
    start = time.monotonic()
    tool = str(Path(sys.executable).with_name("depthgauge"))
    child = os.posix_spawn(tool, [tool, *command], os.environ)
    _, status, used = os.wait4(child, 0)
    return {
        "done": status == 0,
        "cpu_s": before.get("cpu_s", 0.0) + used.ru_utime + used.ru_stime,
        "wall_s": before.get("wall_s", 0.0) + time.monotonic() - start,
        "peak_gib": max(before.get("peak_gib", 0.0), used.ru_maxrss / 2**20),
    }


def _audit(work: Path) -> dict[str, Any]:
    true = read_json(work / "audit" / "audit.json")["simulated"]
    parts = {"all": true["final"], "unbalanced pair": true.get("unbalanced", {})}
    parts |= {f"class {name}": figures for name, figures in true["materials"].items()}
    return {
        **{name: {n: figures.get(n) for n in _FIGURES} for name, figures in parts.items()},
        "worst_object": true["worst_object"],
        "thin": true["thin"],
    }


if __name__ == "__main__":
    main(prog_name="python -m tools.capture_full")
