"""A FastDepth estimate on NYU Depth v2, as it is and aligned."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.evidence import DATA, Table, figure
from tools.evidence._trials import conduct, copy, table

PROTOCOLS = ("trial-nyu", "trial-nyu-median", "trial-nyu-scale-shift")
KNOWN = {"fastdepth": {"rms@all": "0.618", "delta:1.25@all": "77.7", "absrel@all": "0.140"}}


@figure(
    "trials-nyu",
    data="the sample published with FastDepth: NYU Depth v2",
    needs=("rgbd-nyu-fastdepth",),
)
def trials_nyu() -> Iterator[Table]:
    """Scores of the stored depth beside values from plain NumPy lines, and under two alignments."""
    source = DATA / "rgbd-nyu-fastdepth"
    files = {
        "truth/sample.npy": "depth.npy",
        "image/sample.png": "rgb.png",
        "fastdepth/sample.npy": "pred.npy",
    }
    with tempfile.TemporaryDirectory() as folder:
        root = copy({place: source / name for place, name in files.items()}, Path(folder, "data"))
        (root / "depthgauge.toml").write_text(
            'truth = "truth/{id}.npy"\nimage = "image/{id}.png"\nquantity = "depth"\n'
        )
        methods = [f"folder:{root / 'fastdepth'}", "constant:value=2.5"]
        for protocol in PROTOCOLS:
            done = conduct(protocol, root, methods, Path(folder, protocol))
            known = KNOWN if protocol == "trial-nyu" else {}
            yield table(protocol.removeprefix("trial-"), done, known=known)
