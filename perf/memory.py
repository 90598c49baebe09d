"""Extra peak memory of our scoring call, measured in a process of its own.

The child loads the maps, runs the call once on a few rows so that all code is there, notes its
resident memory, resets the kernel's high-water mark and runs the call on everything.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from depthgauge.types import Plane
from perf import protocol
from perf.scenes import Scene

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
ROWS = 64


def extra_memory(scene: Scene, plane: Plane, quantiles: bool) -> float | None:
    """In float32 copies of the map; None where the system does not tell."""
    if not _RESET.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        for name, values in (
            ("estimate", scene.estimate),
            ("truth", scene.truth),
            ("codes", plane.codes),
            ("atoms", plane.atoms),
            ("lookup", plane.lookup),
            ("names", np.array(plane.names)),
        ):
            np.save(f"{folder}/{name}.npy", values)
        command = [sys.executable, "-m", "perf.memory", folder, str(int(quantiles))]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout) / scene.truth.nbytes


def main(folder: str, quantiles: bool) -> None:
    def load(name: str) -> np.ndarray:
        return np.load(f"{folder}/{name}.npy")

    estimate, truth = load("estimate"), load("truth")
    names = tuple(load("names").tolist())
    plane = Plane(load("codes"), names, load("atoms"), load("lookup"))
    few = Plane(plane.codes[:ROWS].copy(), names, plane.atoms, plane.lookup)
    protocol.ours(estimate[:ROWS].copy(), truth[:ROWS].copy(), few, quantiles)
    before = _resident("VmRSS")
    _RESET.write_text("5")
    protocol.ours(estimate, truth, plane, quantiles)
    print(_resident("VmHWM") - before)


def _resident(key: str) -> int:
    found = re.search(rf"{key}:\s+(\d+) kB", _STATUS.read_text())
    if found is None:
        raise SystemExit(f"{_STATUS} has no {key}")
    return 1024 * int(found[1])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "1")
