"""A benchmark of two samples of 64x48, with its truth apart, and archives of estimates for it."""

import hashlib
import io
import zipfile

import numpy as np

from depthgauge.datasets import manifest_folder
from depthgauge.types import Camera, Inputs, Rig, Sample, Truth

SIZE = (48, 64)
NAMES = ("boxes", "fence")
LOW, HIGH = 0.0, 32.0
TOML = """
id = "tiny"
version = 1
title = "Tiny"
about = "Two samples."
dataset = "depthgauge"
quantity = "disparity"
missing = "bad"
pool = "image"
[hidden]
scores = ["mae@all", "badpix:1@all"]
least_density = 0.9
digits = 3
[[scores]]
metric = "mae"
[[scores]]
metric = "badpix"
threshold = [1, 2]
[[scores]]
metric = "density"
"""


def truths(seed=0):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    return {
        name: (8 + 0.1 * x + 0.05 * y + rng.normal(0, 0.5, SIZE)).astype(np.float32)
        for name in NAMES
    }


def write_data(folder, seed=0, by=0, maps=None):
    """Writes `public` and `hidden` and the benchmark's file below a folder."""
    image = np.zeros((*SIZE, 3), np.uint8)
    camera = Camera((60.0, 60.0), (31.5, 23.5), SIZE[::-1])
    rig = Rig({"left": camera, "right": camera}, baseline_m=0.1)
    inputs = {"left_image": image, "right_image": image, "disparity_range": (LOW, HIGH), "rig": rig}
    samples = [
        Sample(name, Inputs(inputs), Truth({"disparity": truth + np.float32(by)}), scene=name)
        for name, truth in (truths(seed) if maps is None else maps).items()
    ]
    about = {"id": "tiny", "title": "Tiny", "licence": "CC0-1.0"}
    manifest_folder.write(folder / "public", samples, with_truth=False, **about)
    manifest_folder.write(folder / "hidden", samples, **about)
    (folder / "tiny.toml").write_text(TOML)
    return folder


def estimates(error=0.5, seed=0):
    return {name: truth + np.float32(error) for name, truth in truths(seed).items()}


def npy(values):
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def archive(maps=None, more=()):
    """The bytes of a ZIP file with maps and more entries (a name or ZipInfo, bytes)."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, values in (estimates() if maps is None else maps).items():
            # With a date of its own, so that the same maps are the same archive.
            entry = zipfile.ZipInfo(f"{name}/disparity.npy")
            made.writestr(entry, npy(values), zipfile.ZIP_DEFLATED)
        for name, content in more:
            made.writestr(name, content)
    return file.getvalue()


def sha256(content):
    return hashlib.sha256(content).hexdigest()
