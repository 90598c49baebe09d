"""OpenCV's optical flow on a Middlebury and a KITTI pair."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from depthgauge.io import write_image
from tools.evidence import DATA, Table, figure
from tools.evidence._trials import conduct, copy, table

# Table, folder, the two pictures, the truth, then what is known.
PAIRS = (
    (
        "rubberwhale",
        "flow-rubberwhale",
        ("RubberWhale1.png", "RubberWhale2.png"),
        "RubberWhale.flo",
        {"constant": {"epe@all": "1.256"}, "dis-imread-grey": {"epe@all": "0.223"}},
    ),
    (
        "kitti-2015-flow",
        "flow-kitti-pair",
        ("000000_10.png", "000000_11.png"),
        "flow_gt_000000_10.png",
        {"constant": {"epe@all": "51.01"}, "dis-imread-grey": {"epe@all": "23.73"}},
    ),
)
METHODS = ("dis", "dis:preset=fast", "farneback", "constant")


@figure(
    "trials-flow",
    data="RubberWhale (Middlebury flow) and the pair 000000 of KITTI 2015",
    needs=("flow-rubberwhale", "flow-kitti-pair"),
)
def trials_flow() -> Iterator[Table]:
    """Scores of OpenCV's methods beside values from plain NumPy lines.

    The known values of DIS (preset medium) were made on pictures that `cv2.imread` had turned to
    grey while it read them, which rounds otherwise than `cvtColor`: `dis-imread-grey` does the
    same.
    """
    for name, folder, pictures, truth, known in PAIRS:
        source = DATA / folder
        with tempfile.TemporaryDirectory() as place:
            colour, grey = Path(place, "colour"), Path(place, "grey")
            files = {f"{k}/{name}.png": source / p for k, p in zip(_TWO, pictures, strict=True)}
            truths = {f"truth/{name}{Path(truth).suffix}": source / truth}
            for root in (colour, grey):
                copy({**files, **truths}, root)
                (root / "depthgauge.toml").write_text(
                    f'truth = "truth/{{id}}{Path(truth).suffix}"\nquantity = "flow"\n'
                    'first = "first/{id}.png"\nsecond = "second/{id}.png"\n'
                )
            for picture in files:
                _as_imread_does(grey / picture)
            yield table(
                name,
                conduct("trial-flow", colour, METHODS, Path(place, "run")),
                conduct("trial-flow", grey, ["dis-imread-grey=dis"], Path(place, "run-grey")),
                known=known,
            )


_TWO = ("first", "second")


def _as_imread_does(path: Path) -> None:
    """Turns a picture to grey by OpenCV's reader."""
    import cv2

    grey = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)  # noqa: TID251  # its grey is the point
    assert grey is not None
    write_image(path, grey)
