"""Our networks beside classical methods, on real pairs that nothing was tuned on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.evidence import DATA, Number, Table, figure, within
from tools.evidence._trials import conduct, copy, table
from tools.evidence.trials_flow import PAIRS
from tools.evidence.trials_middlebury import _aloe, _motorcycle

STEREO = ("nets-stereo", "sgbm-filled=sgbm:fill=background")
FLOW = ("nets-flow", "dis", "farneback")
BAD = "badpix:2@all"


@figure(
    "networks",
    data="13 Middlebury stereo pairs of 2001 to 2014; RubberWhale and a KITTI 2015 pair for flow",
    needs=(
        "torch",
        "middlebury-classic",
        "middlebury-2005-2006",
        "middlebury-aloe",
        "middlebury-motorcycle",
        "flow-rubberwhale",
        "flow-kitti-pair",
    ),
)
def networks() -> Iterator[Number | Table]:
    """Scores of our stereo and flow networks beside SGBM (filled), DIS and Farneback.

    The networks were trained on synthetic layers and on scenes that we rendered; these pairs
    decided nothing.
    """
    yield from _stereo()
    yield from _flow()


def _stereo() -> Iterator[Number | Table]:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, protocol, data in (
            ("networks-middlebury-2001", "trial-middlebury-2001", DATA / "middlebury-classic"),
            ("networks-middlebury-2005", "trial-middlebury-2001", DATA / "middlebury-2005-2006"),
            ("networks-middlebury-aloe", "trial-middlebury-2001", _aloe(place / "aloe-data")),
            ("networks-middlebury-2014", "trial-middlebury-2014", _motorcycle(place / "2014")),
        ):
            found.append(table(name, conduct(protocol, data, STEREO, place / name)))
            yield found[-1]
    pairs = sum(len(each.samples) for each in found)
    means = {
        row: sum((each.rows[row][BAD] or 0) * len(each.samples) for each in found) / pairs
        for row in ("nets-stereo", "sgbm-filled")
    }
    for row, value in means.items():
        yield Number(f"{row}: mean of {BAD} over {pairs} pairs, %", value)
    ratio = means["nets-stereo"] / means["sgbm-filled"]
    # The aim, set before anything was trained: half of that of SGBM.
    yield within(f"nets-stereo: {BAD} as a share of that of sgbm-filled", ratio, 0, 0.5)


def _flow() -> Iterator[Number | Table]:
    for name, source, pictures, truth, _ in PAIRS:
        with tempfile.TemporaryDirectory() as place:
            root = Path(place, "data")
            kinds = zip(("first", "second"), pictures, strict=True)
            files = {f"{kind}/{name}.png": DATA / source / file for kind, file in kinds}
            suffix = Path(truth).suffix
            copy({**files, f"truth/{name}{suffix}": DATA / source / truth}, root)
            (root / "depthgauge.toml").write_text(
                f'truth = "truth/{{id}}{suffix}"\nquantity = "flow"\n'
                'first = "first/{id}.png"\nsecond = "second/{id}.png"\n'
            )
            found = table(f"networks-{name}", conduct("trial-flow", root, FLOW, Path(place, "run")))
            yield found
            ours, best = (found.rows[row]["epe@all"] or 0 for row in ("nets-flow", "dis"))
            most = 2 / 3 if "kitti" in name else 1
            label = f"{name}: EPE of nets-flow as a share of that of dis"
            yield within(label, ours / best, 0, most)
