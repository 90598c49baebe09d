"""Quantities of other packages, from a file to a report; run by `test_outside.py`.

`python outside.py FOLDER`, where the modules of `PACKAGES` are installed as plug-ins.
"""

import json
import sys
from pathlib import Path

import numpy as np

import depthgauge as dg
from depthgauge.cli import main
from depthgauge.datasets.manifest_folder import write
from depthgauge.io import read_map, write_map
from depthgauge.types import Inputs, Sample, Truth

SIZE = (24, 32)
RNG = np.random.default_rng(5)


def said(*arguments):
    """Runs the command line in this process; it must end well."""
    sys.argv = ["depthgauge", *(str(argument) for argument in arguments)]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{sys.argv} ended with {end.code}") from end


def folder_of(root, name, truths):
    samples = [
        Sample(f"s{i}", Inputs({"left_image": np.full((*SIZE, 3), 9 * i, np.uint8)}), Truth(truth))
        for i, truth in enumerate(truths)
    ]
    write(root / f"{name}-data", samples, id=name, title=name, licence="CC0")
    return root / f"{name}-data"


def benchmark_of(root, name, blocks):
    path = root / f"{name}.toml"
    head = f'id = "{name.replace("_", "-")}"\nversion = 1\ndataset = "depthgauge"\n'
    path.write_text(f'{head}quantity = "{name}"\npool = "image"\n{blocks}')
    return path


def through(root, name, truths, blocks, method):
    """A run, its check and its report; the summary of the run."""
    data, benchmark = folder_of(root, name, truths), benchmark_of(root, name, blocks)
    out = root / f"{name}-run"
    run = dg.run(benchmark, data, [method], out, workers=0)
    label = run.entrants[0].label
    said("check", benchmark, out / "estimates" / label, "--data", data)
    said("report", out, "--html", root / f"{name}.html", "--quiet")
    assert (root / f"{name}.html").stat().st_size > 10_000
    again = dg.evaluate(benchmark, data, out / "estimates" / label)
    summary = {key: found.value for key, found in run.results[label, 0].summary.items()}
    assert summary == {key: found.value for key, found in again.summary.items()}
    return summary


def albedo(root):
    truth = RNG.uniform(0, 1, (*SIZE, 3)).astype(np.float32)
    truth[0, 0, 1] = np.nan
    estimate = truth + np.float32([0.1, 0.2, 0.3])
    for ending in ("npy", "npz", "pfm", "exr", "tiff"):
        path = root / f"albedo.{ending}"
        write_map(path, truth, quantity="albedo")
        np.testing.assert_array_equal(read_map(path, quantity="albedo"), truth)
    scores = dg.score(estimate, truth, quantity="albedo")
    assert abs(scores["mae@all"].value - 0.2) < 1e-6, scores["mae@all"]
    assert scores["mae@all"].count == SIZE[0] * SIZE[1] - 1
    assert scores["mae@all"].unit == ""
    write_map(root / "estimate.npy", estimate, quantity="albedo")
    files = ("--estimate", root / "estimate.npy", "--truth", root / "albedo.npy")
    said("score", *files, "--quantity", "albedo", "--json", root / "albedo.json")
    stored = json.loads((root / "albedo.json").read_text())
    assert abs(stored["summary"]["mae@all"] - 0.2) < 1e-6

    def off(inputs):
        return np.full((*SIZE, 3), 0.5, np.float32)

    found = through(root, "albedo", [{"albedo": truth}] * 3, '[[scores]]\nmetric = "mae"\n', off)
    expected = np.abs(truth - 0.5).mean(axis=-1)
    np.testing.assert_allclose(found["mae@all"], expected[np.isfinite(expected)].mean(), rtol=1e-5)


def rigid_flow(root):
    first = np.full(SIZE, 40.0, np.float32)
    second = first + np.float32(2)
    flow = np.full((*SIZE, 2), 10.0, np.float32)
    second[0] = np.nan  # not seen in the second frame, but known in the first
    truth = {"disparity": first, "disparity_2": second, "flow": flow}

    def method(inputs):
        wrong = first.copy()
        wrong[:6] += 20  # a quarter of the rows
        moved = flow.copy()
        moved[:12, :, 0] += 20  # half of them
        return {"disparity": wrong, "disparity_2": second.copy(), "flow": moved}

    scores = dg.score(method(None), truth, quantity="rigid_flow")
    values = {name: scores[name].value for name in list(scores)[:3]}
    assert values == {"d1@all": 25.0, "disparity_2/d1@all": 0.0, "flow/fl@all": 50.0}, values
    assert scores["d1@all"].count == SIZE[0] * SIZE[1]
    assert scores["disparity_2/d1@all"].count == (SIZE[0] - 1) * SIZE[1]
    blocks = (
        '[[scores]]\nmetric = "d1"\n[[scores]]\nmetric = "d1"\npart = "disparity_2"\n'
        '[[scores]]\nmetric = "fl"\npart = "flow"\n'
    )
    found = through(root, "rigid_flow", [truth] * 3, blocks, method)
    assert found == values, found
    page = (root / "rigid_flow.html").read_text()
    for title in ("Disparity 2", "Disparity 2: errors", "Flow", "Flow: errors"):
        assert f"<summary>{title}</summary>" in page, title
    assert "<summary>Disparity</summary>" not in page  # the main map has pictures of its own


def pane_disparity(root):
    layers = np.stack([np.full(SIZE, 30.0, np.float32), np.full(SIZE, 10.0, np.float32)])
    layers[1, :, :16] = np.nan  # half of the pixels have one layer only
    estimate = layers + np.float32(1)

    def method(inputs):
        return estimate

    ids = ["mae", "layers:2/mae", "layers:3/mae"]
    scores = dg.score({"layers": estimate}, {"layers": layers}, ids, quantity="pane_disparity")
    assert scores["mae@all"].count == SIZE[0] * SIZE[1]
    assert scores["layers:2/mae@all"].count == SIZE[0] * 16
    assert scores["layers:3/mae@all"].why == "empty"
    assert (scores["mae@all"].value, scores["layers:2/mae@all"].value) == (1.0, 1.0)
    blocks = '[[scores]]\nmetric = "mae"\n[[scores]]\nmetric = "mae"\npart = "layers:2"\n'
    found = through(root, "pane_disparity", [{"layers": layers}] * 3, blocks, method)
    assert found == {"mae@all": 1.0, "layers:2/mae@all": 1.0}, found
    page = (root / "pane_disparity.html").read_text()
    assert "Layer 2: 384 pixels" in page, "a slider, though it has no drawing of its own"


if __name__ == "__main__":
    FOLDER = Path(sys.argv[1])
    for quantity in (albedo, rigid_flow, pane_disparity):
        quantity(FOLDER)
    sys.stdout.write("all went through\n")
