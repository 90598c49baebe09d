"""Extra peak memory of our scoring call, measured in a separate process.

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

from depthgauge.regions import pack
from perf import protocol
from perf.scenes import Scene

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
ROWS = 64


def extra_memory(scene: Scene, call: str, quantiles: bool) -> float | None:
    """Of the call `plane` or `masks`, in float32 copies of the map; None where none can tell."""
    if not _RESET.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/estimate.npy", scene.estimate)
        np.save(f"{folder}/truth.npy", scene.truth)
        for name, mask in scene.masks.items():
            np.save(f"{folder}/mask_{name}.npy", mask)
        command = [sys.executable, "-m", "perf.memory", folder, call, str(int(quantiles))]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout) / scene.truth.nbytes


def main(folder: str, call: str, quantiles: bool) -> None:
    paths = sorted(Path(folder).glob("mask_*.npy"))
    masks = {path.stem.removeprefix("mask_"): np.load(path) for path in paths}
    scene = Scene(np.load(f"{folder}/estimate.npy"), np.load(f"{folder}/truth.npy"), masks)
    few = Scene(
        scene.estimate[:ROWS].copy(),
        scene.truth[:ROWS].copy(),
        {name: mask[:ROWS].copy() for name, mask in masks.items()},
    )
    plane = pack(masks, scene.truth)
    protocol.ours(few.estimate, few.truth, pack(few.masks, few.truth), quantiles)
    protocol.public(few, quantiles)
    before = _resident("VmRSS")
    _RESET.write_text("5")
    if call == "plane":
        protocol.ours(scene.estimate, scene.truth, plane, quantiles)
    else:
        protocol.public(scene, quantiles)
    print(_resident("VmHWM") - before)


def _resident(key: str) -> int:
    found = re.search(rf"{key}:\s+(\d+) kB", _STATUS.read_text())
    if found is None:
        raise SystemExit(f"{_STATUS} has no {key}")
    return 1024 * int(found[1])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] == "1")
