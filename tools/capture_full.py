"""`python -m tools.capture_full`: a session at full size, from photographs to the exported dataset.

Simulates a session of 4112x3008 px (passive images with few light paths) and runs every step of the
pipeline on it, each in a process of its own, up to the export. Time and memory of every stage, and
the audit's errors by class, are written beside the work folder. A stopped run goes on with the
stage, the picture or the tile where it was; times of earlier attempts are added.

    python -m tools.capture_full --width 480 --patterns 6      # does it run? two minutes
    python -m tools.capture_full --patterns 100                 # hours

`python -m tools.evidence capture-full` records one such run.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from depthgauge import io
from depthgauge.capture.registry import step_names
from depthgauge.io.text import read_json

REPOSITORY = Path(__file__).parents[1]
_BEFORE_MATCHING = ("calibrate", "register", "rectify")


class StageFailed(click.ClickException):
    """A stage ended with an error, which it has printed."""


@dataclass(frozen=True)
class FullSession:
    """The session that is simulated."""

    scene: str
    seed: int
    width_px: int = 4112
    patterns: int = 25
    samples: int = 4
    """Light paths for each pixel of the passive images, of one illumination."""

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.scene}-{self.seed}-{self.width_px}-{self.patterns}"

    def command(self, folder: Path) -> list[str]:
        """The command that simulates it."""
        numbers = {
            "width": self.width_px,
            "seed": self.seed,
            "patterns": self.patterns,
            "samples": self.samples,
            "illuminations": 1,
        }
        options = [f"--{name}={value}" for name, value in numbers.items()]
        return ["make", "capture-session", "--out", str(folder), "--scene", self.scene, *options]


def measured_run(
    full: FullSession, session: Path, work: Path, scale: float | None = None
) -> dict[str, Any]:
    """Time and memory of every stage, and the audit of the session.

    Args:
        full: What is simulated.
        session: The session's folder; what the simulator used is kept in `<session>.json`.
        work: The work folder; what the steps used is kept in `<work>.json`, and the dataset in
            `<work>-dataset`.
        scale: Scale of the matching; by default that of the step.

    Raises:
        StageFailed: A stage ended with an error.
    """
    stages = _run(session.with_name(f"{session.name}.json"), [("simulate", full.command(session))])
    stages |= _run(work.with_name(f"{work.name}.json"), _steps(session, work, scale))
    return {"stages": stages, "audit": read_json(work / "audit" / "audit.json")}


def measured_matching(session: Path, work: Path, patterns: int) -> dict[str, Any]:
    """Time and memory of `spacetime` with fewer patterns, in a copy of the work folder.

    Args:
        session: The session's folder.
        work: A work folder in which the session is rectified.
        patterns: How many patterns are matched.
    """
    copy = work.with_name(f"{work.name}-{patterns}")
    for name in _BEFORE_MATCHING:
        if not (copy / name).is_dir():
            shutil.copytree(work / name, copy / name)
    command = ["capture", "spacetime", str(session), "--work", str(copy)]
    stages = [("spacetime", [*command, "--patterns", str(patterns)])]
    return dict(_run(copy.with_name(f"{copy.name}.json"), stages)["spacetime"])


def _steps(session: Path, work: Path, scale: float | None) -> Iterator[tuple[str, list[str]]]:
    where = [str(session), "--work", str(work)]
    for step in step_names():
        more = ["--scale", str(scale)] if step == "spacetime" and scale is not None else []
        yield step, ["capture", step, *where, *more]
    dataset = work.with_name(f"{work.name}-dataset")
    yield "export", ["capture", "export", *where, "--out", str(dataset), "--overwrite"]


def _run(record: Path, stages: Iterable[tuple[str, list[str]]]) -> dict[str, Any]:
    """Runs the stages that a record does not have as done, and keeps the record."""
    record.parent.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = read_json(record) if record.is_file() else {}
    for name, command in stages:
        if found.get(name, {}).get("done"):
            continue
        used = found[name] = _measured(command, found.get(name, {}))
        io.write_text(record, json.dumps(found, indent=1) + "\n")
        click.echo(f"{name}: {used['cpu_s']:.0f} CPU s, {used['peak_gib']:.2f} GiB", err=True)
        if not used["done"]:
            raise StageFailed(f"{name} failed; see above, then run this again.")
    return found


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


@click.command()
@click.option("--width", default=4112, help="px of L and R.", show_default=True)
@click.option("--patterns", default=25, show_default=True)
@click.option("--samples", default=4, help="Light paths per pixel.", show_default=True)
@click.option("--scene", default="kitchen", show_default=True)
@click.option("--seed", default=31, show_default=True)
@click.option("--scale", type=float, help="Scale of the matching; by default that of the step.")
@click.option("--out", type=click.Path(path_type=Path), default=REPOSITORY / "out" / "full")
def main(
    width: int, patterns: int, samples: int, scene: str, seed: int, scale: float | None, out: Path
) -> None:
    """Measure the whole pipeline once, at full size."""
    full = FullSession(scene, seed, width, patterns, samples)
    found = measured_run(full, out / full.name / "session", out / full.name / "work", scale)
    true = found["audit"]["simulated"]
    parts = {"all": true["final"], **true["materials"], "thin": true["thin"]}
    click.echo(json.dumps({**found["stages"], **parts}, indent=1))


if __name__ == "__main__":
    main(prog_name="python -m tools.capture_full")
