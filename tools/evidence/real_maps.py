"""Scores of real maps whose values were computed elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import depthgauge as dg
from depthgauge.io import read_map
from tools.evidence import DATA, Number, figure

# Folder, truth, estimate, quantity, then each score with the value that is known, to the digits
# that are known.
MAPS = (
    (
        "kitti-devkit-samples",
        ("disp_gt.png", "disp_est.png", "disparity"),
        {"d1": "13.62", "badpix:3": "14.95"},
    ),
    ("kitti-devkit-samples", ("flow_gt.png", "flow_est.png", "flow"), {"epe": "12.2007"}),
    ("kitti-devkit-samples", ("flow_gt.png", "flow_est.png", "flow"), {"fl": "20.69"}),
    (
        "rgbd-nyu-fastdepth",
        ("depth.npy", "pred.npy", "depth"),
        {"rms": "0.618", "delta:1.25": "77.7", "absrel": "0.140"},
    ),
)


@figure(
    "real-maps",
    data="KITTI devkit samples (disparity, flow) and a FastDepth estimate on NYU Depth v2",
    needs=("kitti-devkit-samples", "rgbd-nyu-fastdepth"),
)
def real_maps() -> Iterator[Number]:
    """Scores of real files against values from plain NumPy lines, to the digits those have.

    Those lines read a pixel that the KITTI disparity estimate lacks (199 of 111326) as 0 px, which
    is an outlier; here it is missing and `missing="bad"` counts it as one. The other estimates lack
    no pixel.
    """
    for folder, (truth, estimate, quantity), known in MAPS:
        maps = [read_map(DATA / folder / name, quantity=quantity) for name in (estimate, truth)]
        scores = dg.score(*maps, list(known), quantity=quantity, missing="bad")
        for metric, digits in known.items():
            half_digit = 0.5 * 10.0 ** -len(digits.partition(".")[2])
            value = scores[f"{metric}@all"].value
            yield Number(f"{folder} {metric}", value, float(digits), half_digit)
