"""The estimates of KITTI's development kit, under three rules for missing pixels."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.evidence import DATA, Table, figure
from tools.evidence._trials import conduct, copy, table

DISPARITY = ("trial-kitti-disparity", "trial-kitti-disparity-skip", "trial-kitti-disparity-filled")
KNOWN = {
    "trial-kitti-disparity": {"d1@all": "13.62", "badpix:3@all": "14.95"},
    "trial-flow": {"epe@all": "12.2007", "fl@all": "20.69"},
}


@figure(
    "trials-kitti", data="the samples of KITTI's development kit", needs=("kitti-devkit-samples",)
)
def trials_kitti() -> Iterator[Table]:
    """Scores of the stored disparity and flow beside values from plain NumPy lines.

    Those lines read a pixel without an estimate as 0 px, which is an outlier: the rule `bad`.
    """
    kit = DATA / "kitti-devkit-samples"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for kind, protocols in (("disp", DISPARITY), ("flow", ("trial-flow",))):
            files = {"truth/sample.png": "gt", "kit/sample.png": "est"}
            root = copy({n: kit / f"{kind}_{end}.png" for n, end in files.items()}, place / kind)
            quantity = "flow" if kind == "flow" else "disparity"
            (root / "depthgauge.toml").write_text(
                f'truth = "truth/{{id}}.png"\nquantity = "{quantity}"\n'
            )
            for protocol in protocols:
                done = conduct(protocol, root, [f"folder:{root / 'kit'}"], place / protocol)
                name = f"kitti-{protocol.removeprefix('trial-').removeprefix('kitti-')}"
                known = {"kit": KNOWN[protocol]} if protocol in KNOWN else {}
                yield table(name, done, known=known)
