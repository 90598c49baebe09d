"""A small dataset on disk, and protocols for it."""

from __future__ import annotations

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import make_protocol
from depthgauge.io import write_image


def protocol(**changes):
    body = {
        "id": "trial",
        "version": 1,
        "dataset": "folder",
        "quantity": "disparity",
        "pool": "image",
        "scores": [
            {"metric": "badpix", "threshold": [1, 3]},
            {"metric": "mae"},
            {"metric": "rms"},
            {"metric": "quantile", "percent": 90},
            {"metric": "density"},
        ],
    }
    return make_protocol({**body, **changes}, "trial")


@pytest.fixture
def trial():
    return protocol


class Folders:
    """Truth and estimates of some samples, of different sizes."""

    def __init__(self, root):
        self.data, self.estimates = root / "data", root / "estimates"
        rng = np.random.default_rng(5)
        self.truth, self.estimate = {}, {}
        for name, size in {"a": (20, 30), "b": (12, 18), "c": (40, 24)}.items():
            truth = rng.uniform(2, 40, size).astype(np.float32)
            estimate = truth + rng.normal(0, 1.5, size).astype(np.float32)
            truth[rng.random(size) < 0.1] = np.nan
            estimate[rng.random(size) < 0.1] = np.nan
            self.truth[name], self.estimate[name] = truth, estimate
            self.write_truth(name, truth)
            self.write(name, estimate)

    def write_truth(self, name, truth):
        (self.data / "truth").mkdir(parents=True, exist_ok=True)
        dg.write_map(self.data / "truth" / f"{name}.pfm", truth)

    def write_mask(self, kind, name, mask):
        folder = self.data / "masks" / kind
        folder.mkdir(parents=True, exist_ok=True)
        write_image(folder / f"{name}.png", np.where(mask, 255, 0).astype(np.uint8))

    def write(self, name, estimate):
        self.estimates.mkdir(parents=True, exist_ok=True)
        dg.write_map(self.estimates / f"{name}.pfm", estimate)

    def evaluate(self, made, **options):
        return dg.evaluate(made, self.data, self.estimates, **options)


@pytest.fixture
def folders(tmp_path):
    return Folders(tmp_path)


class Pairs:
    """Ten small stereo pairs with known shift, and methods as files."""

    def __init__(self, root):
        self.root, self.data = root, root / "pairs"
        rng = np.random.default_rng(11)
        for n in range(10):
            wide = rng.integers(0, 255, (24, 48 + n), dtype=np.uint8)
            for side, image in (
                ("left", wide[:, 4:44]),
                ("right", wide[:, 4 + n % 4 : 44 + n % 4]),
            ):
                (self.data / side).mkdir(parents=True, exist_ok=True)
                write_image(self.data / side / f"s{n}.png", np.ascontiguousarray(image))
            (self.data / "truth").mkdir(exist_ok=True)
            truth = np.full((24, 40), 3.0 + n, np.float32)
            truth[rng.random(truth.shape) < 0.1] = np.nan
            dg.write_map(self.data / "truth" / f"s{n}.pfm", truth)

    def method(self, name, body, head=""):
        """A method file whose `estimate(inputs)` has that body; h, w and `np` are there."""
        path = self.root / f"{name}.py"
        lines = "\n    ".join(body.strip().splitlines())
        path.write_text(
            f"import numpy as np\n{head}\n\ndef estimate(inputs):\n"
            f"    h, w = inputs['left_image'].shape[:2]\n    {lines}\n"
        )
        return str(path)

    def noisy(self, name="noisy", scale=1.0):
        """A method that is wrong in the same way every time."""
        return self.method(
            name,
            "rng = np.random.default_rng(sum(map(ord, inputs['sample'])) + inputs['seed'])\n"
            f"return 3.0 + int(inputs['sample'][1:]) + {scale} * rng.normal(size=(h, w))",
        )


@pytest.fixture
def pairs(tmp_path):
    return Pairs(tmp_path)
