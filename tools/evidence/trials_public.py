"""Shipped benchmarks on real samples: OpenCV's methods, small networks, KITTI's own estimate."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.evidence import DATA, REPOSITORY, Table, figure
from tools.evidence._trials import conduct, copy, example_weights, table

STEREO = (
    "sgbm",
    "sgbm-hh=sgbm:mode=hh",
    "sgbm-filled=sgbm:fill=background",
    "bm",
    f"mccnn={REPOSITORY / 'examples' / 'mccnn.toml'}",
    f"nvtiny={REPOSITORY / 'examples' / 'nvtiny.toml'}",
)
FLOW = ("dis", "dis:preset=fast", "farneback", "constant")
WEIGHTS = {"MCCNN_WEIGHTS": "net-stereo-mccnn", "NVTINY_WEIGHTS": "net-stereo-redtail"}


@figure(
    "trials-public",
    data="Middlebury stereo of 2001 to 2006, RubberWhale of Middlebury flow, the flow pair 000000 "
    "of KITTI 2015, the sample of KITTI's development kit",
    needs=(
        "middlebury-classic",
        "middlebury-2005-2006",
        "flow-rubberwhale",
        "flow-kitti-pair",
        "kitti-devkit-samples",
        *WEIGHTS.values(),
        "onnxruntime",
    ),
)
def trials_public() -> Iterator[Table]:
    """Scores under the benchmarks that depthgauge ships, in the layouts of the public datasets.

    Known beforehand are the mean length of RubberWhale's and KITTI's flow, and the kit's D1.
    """
    with tempfile.TemporaryDirectory() as folder, example_weights(WEIGHTS):
        place = Path(folder)
        for name in ("middlebury-classic", "middlebury-2005-2006"):
            found = conduct("middlebury-2001-2006", DATA / name, STEREO, place / name)
            yield table(f"public-{name}", found)
        whale = conduct("middlebury-flow", _whale(place / "whale"), FLOW, place / "whale-run")
        yield table("public-middlebury-flow", whale, known={"constant": {"epe@all": "1.256"}})
        street = conduct("kitti-2015-flow", _street(place / "street"), FLOW, place / "street-run")
        yield table("public-kitti-2015-flow", street, known={"constant": {"epe@all": "51.01"}})
        yield from _kit(place / "kit")


def _whale(root: Path) -> Path:
    source = DATA / "flow-rubberwhale"
    files = {
        "other-data/RubberWhale/frame10.png": "RubberWhale1.png",
        "other-data/RubberWhale/frame11.png": "RubberWhale2.png",
        "other-gt-flow/RubberWhale/flow10.flo": "RubberWhale.flo",
    }
    return copy({place: source / name for place, name in files.items()}, root)


def _street(root: Path) -> Path:
    source = DATA / "flow-kitti-pair"
    files = {
        "image_2/000000_10.png": "000000_10.png",
        "image_2/000000_11.png": "000000_11.png",
        "flow_occ/000000_10.png": "flow_gt_000000_10.png",
    }
    return copy({place: source / name for place, name in files.items()}, root)


def _kit(root: Path) -> Iterator[Table]:
    """The kit's own estimate; it has no map of objects, so scores of those are left out."""
    source = DATA / "kitti-devkit-samples"
    files = {"image_2": "image.png", "disp_occ_0": "disp_gt.png"}
    data = copy({f"{k}/000000_10.png": source / v for k, v in files.items()}, root / "training")
    estimates = copy({"disp_0/000000_10.png": source / "disp_est.png"}, root / "submission")
    ours = conduct("kitti-2015-stereo", data, [f"kit=folder:{estimates}"], root / "run")
    yield table("public-kitti-2015-stereo", ours, known={"kit": {"d1@all": "13.62"}})
