"""The other real samples: a light field, depth of one picture, and pictures without a truth."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import depthgauge as dg
from depthgauge.io import read_image, read_map, write_image
from depthgauge.methods import find_method
from depthgauge.types import Inputs, Map
from tools._measured import table as markdown
from tools._measured import update
from tools.evidence import DATA, REPOSITORY, Number, Table, figure, recorded_values
from tools.evidence._trials import conduct, copy, example_weights, table

EXAMPLES = REPOSITORY / "examples"
WEIGHTS = {
    "MCCNN_WEIGHTS": "net-stereo-mccnn",
    "NVTINY_WEIGHTS": "net-stereo-redtail",
    "TCMONODEPTH_WEIGHTS": "net-mono-tcmonodepth",
}
LIGHT_FIELD = ("lf-cost-volume", "lf-epi", "lf-pair")
PLAIN = {"lf-cost-volume": "6.66", "lf-epi": "17.78", "lf-pair": "19.04"}
"""BadPix(0.07) of antinous without a border of 15 px, by three lines of NumPy."""
TUM_SCALE = 5000
STREET_RANGE = (0.0, 192.0)
LYTRO_BORDER_PX = 11
PREDICTED = ("prediction_rms", "prediction_ncc", "prediction_ssim", "density_of_estimates")
PICTURES = ("street", "film", "lytro")


@figure(
    "trials-others",
    data="antinous of the 4D light fields; pictures with depth of NYU Depth v2, TUM RGB-D and "
    "ARC 2017; a frame of Sintel's stereo version; a pair of KITTI 2015, frames of Sintel and a "
    "Lytro light field without a truth",
    needs=(
        "lf-hci-antinous",
        "lf-lytro-2067",
        "rgbd-nyu-fastdepth",
        "rgbd-opencv",
        "rgbd-arc2017",
        "kitti2015-stereo",
        "flow-sintel-demo",
        "opencv-disparityfilter",
        *WEIGHTS.values(),
        "onnxruntime",
    ),
)
def trials_others() -> Iterator[Number | Table]:
    """Scores of light-field methods and of depth from one picture; view prediction without a truth.

    Known beforehand are bad pixels of the light field, from plain NumPy lines.
    """
    with tempfile.TemporaryDirectory() as folder, example_weights(WEIGHTS):
        place = Path(folder)
        yield _light_field(place / "light-field")
        yield from _depth(place / "depth")
        yield _filtered(place / "filtered")
        for name, found in {"street": _street(), "film": _film(), "lytro": _lytro()}.items():
            yield from _predicted(name, *found)


def _light_field(root: Path) -> Table:
    shutil.copytree(DATA / "lf-hci-antinous", root / "data" / "additional" / "antinous")
    run = conduct("hci4d", root / "data", LIGHT_FIELD, root / "run")
    known = {method: {"badpix:0.07@all": digits} for method, digits in PLAIN.items()}
    return table("others-light-field", run, known=known)


def _depth(root: Path) -> Iterator[Table]:
    """FastDepth's picture with its stored estimate; then two pictures without one."""
    network = f"tcmonodepth={EXAMPLES / 'tcmonodepth.toml'}"
    nyu = DATA / "rgbd-nyu-fastdepth"
    files = {
        "truth/nyu.npy": nyu / "depth.npy",
        "image/nyu.png": nyu / "rgb.png",
        "fastdepth/nyu.npy": nyu / "pred.npy",
    }
    first = _pictures(copy(files, root / "nyu"))
    methods = [f"folder:{first / 'fastdepth'}", network, "constant:value=2.5"]
    run = conduct("trial-inverse-depth", first, methods, root / "nyu-run")
    yield table("others-depth-nyu", run)
    second = _pictures(_two_rooms(root / "rooms"))
    run = conduct(
        "trial-inverse-depth", second, [network, "constant:value=2.5"], root / "rooms-run"
    )
    yield table("others-depth-rooms", run)


def _filtered(root: Path) -> Table:
    """A frame of Sintel with the disparities that OpenCV's test of filters starts from."""
    source, frame = DATA / "opencv-disparityfilter", "film/frame_0001"
    files = {f"clean_left/{frame}.png": "left_view.png", f"disparities/{frame}.png": "GT.png"}
    data = copy({place: source / name for place, name in files.items()}, root / "training")
    stored = read_image(source / "disparity_left_raw.png").astype(np.float32)
    place = root / "opencv-raw" / "clean" / frame / "disparity.npy"
    place.parent.mkdir(parents=True)
    np.save(place, np.where(stored > 0, stored, np.nan))
    run = conduct("sintel-stereo", data, [f"folder:{root / 'opencv-raw'}"], root / "run")
    return table("others-sintel-stereo", run)


def _pictures(root: Path) -> Path:
    (root / "depthgauge.toml").write_text(
        'truth = "truth/{id}.npy"\nleft = "image/{id}.png"\nquantity = "depth"\n'
    )
    return root


def _two_rooms(root: Path) -> Path:
    """A desk of TUM RGB-D and a bin of ARC 2017, as metres."""
    copy({"image/tum.png": DATA / "rgbd-opencv" / "rgb.png"}, root)
    (root / "truth").mkdir()
    metres = read_map(DATA / "rgbd-opencv" / "depth.png", "depth", scale=TUM_SCALE)
    np.save(root / "truth" / "tum.npy", metres)
    with np.load(DATA / "rgbd-arc2017" / "data.npz") as file:
        np.save(root / "truth" / "arc.npy", file["depth"])
        write_image(root / "image" / "arc.png", file["rgb"])
    return root


def _street() -> tuple[Mapping[str, Any], dict[str, Map], str]:
    """A pair of KITTI with the stored estimate of AANet."""
    source = DATA / "kitti2015-stereo"
    items = {
        "left_image": read_image(source / "000151_10_left.png"),
        "right_image": read_image(source / "000151_10_right.png"),
    }
    inputs = Inputs({**items, "disparity_range": STREET_RANGE, "quantity": "disparity"})
    methods = {
        "sgbm": "sgbm",
        "sgbm-filled": "sgbm:fill=background",
        "bm": "bm",
        "mccnn": str(EXAMPLES / "mccnn.toml"),
        "nvtiny": str(EXAMPLES / "nvtiny.toml"),
    }
    stored = read_map(source / "000151_10_aanet_pred.png", "disparity", scale=256)
    return items, {"aanet": stored, **_estimated(methods, inputs, "disparity")}, "disparity"


def _film() -> tuple[Mapping[str, Any], dict[str, Map], str]:
    """Two frames of Sintel with the stored flow of PWC-Net."""
    source = DATA / "flow-sintel-demo"
    items = {
        "first_image": read_image(source / "pwc_frame_0010.png"),
        "second_image": read_image(source / "pwc_frame_0011.png"),
    }
    stored = read_map(source / "pwc_reference_frame_0010.flo", "flow")
    methods = {"dis": "dis", "farneback": "farneback"}
    return items, {"pwc-net": stored, **_estimated(methods, Inputs(items), "flow")}, "flow"


def _lytro() -> tuple[Mapping[str, Any], dict[str, Map], str]:
    """The middle view and its right neighbour, with the stored estimate of EPINET.

    The estimate has no border, and block matching gets the same pixels.
    """
    source, border = DATA / "lf-lytro-2067", LYTRO_BORDER_PX
    left, right = (read_image(source / f"2067_05_{view:02}.png") for view in (5, 6))
    stored = read_map(source / "2067.epinet.pfm", "disparity")
    inner = np.s_[border:-border, border:-border]
    items = {"left_image": left[inner], "right_image": right[inner]}
    still = np.zeros(stored.shape, np.float32)
    return items, {"epinet": stored, "no disparity": still}, "disparity"


def _estimated(methods: Mapping[str, str], inputs: Inputs, quantity: str) -> dict[str, Map]:
    return {
        label: find_method(text).estimate(inputs.fresh(), quantity).values
        for label, text in methods.items()
    }


def _predicted(
    name: str, items: Mapping[str, Any], estimates: Mapping[str, Map], quantity: str
) -> Iterator[Number]:
    """How well each map predicts the picture that it belongs to; missing pixels are left out."""
    metrics = [metric for metric in PREDICTED if metric.startswith("prediction")]
    for label, values in estimates.items():
        scores = dg.score(
            values, None, metrics, quantity=quantity, items=items, missing="skip", check=False
        )
        for metric in metrics:
            yield Number(f"{name}: {metric} of {label}", scores[f"{metric}@all"].value)
        known = np.isfinite(values) if values.ndim == 2 else np.isfinite(values).all(axis=2)
        yield Number(f"{name}: {PREDICTED[-1]} of {label}", 100.0 * float(known.mean()))


def write_page(*, check: bool = False) -> bool:
    """Brings the tables without a truth in docs/trials.md up to date; True where they are."""
    numbers = recorded_values("trials-others")
    parts = {f"predicted {name}": rows(numbers, name) for name in PICTURES}
    return bool(numbers) and update("trials.md", parts, "evidence", check)


def rows(numbers: Mapping[str, float], picture: str) -> str:
    """Methods by measures, of one picture."""
    first = f"{picture}: {PREDICTED[0]} of "
    labels = [name.removeprefix(first) for name in numbers if name.startswith(first)]
    head = ["method", *(f"`{m}`" for m in PREDICTED[:-1]), "pixels with an estimate, %"]
    return markdown(
        head,
        [
            [
                f"`{label}`",
                *(f"{numbers[f'{picture}: {m} of {label}']:.4f}" for m in PREDICTED[:-1]),
                f"{numbers[f'{picture}: {PREDICTED[-1]} of {label}']:.2f}",
            ]
            for label in labels
        ],
    )
