"""The twin against plain loops over pixels; the program itself was not run."""

import itertools
import math

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.io import read_map, write_map

SHAPE = (7, 11)
IMAGES = ("000000_10", "000001_10", "000002_10")


def filled(values):
    """interpolateBackground, pixel by pixel; None is a hole."""
    rows = [list(row) for row in values]
    for row in rows:
        at = [i for i, v in enumerate(row) if v is not None]
        for left, right in itertools.pairwise(at):
            for i in range(left + 1, right):
                row[i] = tuple(min(a, b) for a, b in zip(row[left], row[right], strict=True))
        if at:
            row[: at[0]] = [row[at[0]]] * at[0]
            row[at[-1] + 1 :] = [row[at[-1]]] * (len(row) - at[-1] - 1)
    for x in range(len(rows[0])):
        at = [y for y in range(len(rows)) if rows[y][x] is not None]
        for y in range(len(rows)):
            if at and y < at[0]:
                rows[y][x] = rows[at[0]][x]
            if at and y > at[-1]:
                rows[y][x] = rows[at[-1]][x]
    return rows


def reference(truth, estimate, empty):
    """All numbers of one image and one set of pixels, by loops."""
    channels = truth.reshape(*truth.shape[:2], -1), estimate.reshape(*estimate.shape[:2], -1)
    pixels = [
        [None if math.isnan(v[0]) else tuple(map(float, v)) for v in row] for row in channels[1]
    ]
    full = filled(pixels)
    errors = []
    for y in range(SHAPE[0]):
        for x in range(SHAPE[1]):
            true = channels[0][y, x]
            if math.isnan(true[0]):
                continue
            value = full[y][x] or (empty,) * len(true)
            error = math.dist(value, tuple(map(float, true)))
            errors.append((error, pixels[y][x] is not None))
    found = {}
    for tag, used in (("", errors), ("_est", [e for e in errors if e[1]])):
        n = len(used)
        for t in range(1, 6):
            found[f"Out_{t}{tag}"] = (sum(e > t for e, _ in used), n)
        found[f"Avg{tag}"] = (sum(e for e, _ in used), n)
    found["density"] = (sum(given for _, given in errors), len(errors))
    return found


def make(root, kind, seed):
    """Truth and a submission with holes, empty rows and columns; codes are odd, so no ties."""
    random = np.random.default_rng(seed)
    channels = 1 if kind == "disparity" else 2
    prefix = "disp" if kind == "disparity" else "flow"
    sets = ["noc", "occ", *(["refl_noc", "refl_occ"] if kind == "disparity" else [])]
    for name in IMAGES:
        truth = random.integers(8, 1600, (*SHAPE, channels)) / 32
        estimate = truth + random.integers(-200, 200, truth.shape) / 32 + 1 / 64
        estimate = np.maximum(estimate, 1 / 64)
        holes = random.random(SHAPE) < 0.4
        holes[:2], holes[4], holes[:, 5] = True, True, True
        estimate[holes] = np.nan
        for pixels in sets:
            known = random.random(SHAPE) < (0.7 if pixels in ("noc", "occ") else 0.2)
            values = np.where(known[..., None], truth, np.nan)
            folder = root / "training" / f"{prefix}_{pixels}"
            folder.mkdir(parents=True, exist_ok=True)
            write_map(folder / f"{name}.png", np.squeeze(values, -1) if channels == 1 else values)
        (root / "submitted").mkdir(exist_ok=True)
        values = np.squeeze(estimate, -1) if channels == 1 else estimate
        write_map(root / "submitted" / f"{name}.png", values)
    return [(pixels, f"{prefix}_{pixels}") for pixels in sets]


@pytest.mark.parametrize(("kind", "tag"), [("disparity", ""), ("flow", "-flow")])
def test_agrees_with_loops_over_pixels(kind, tag, tmp_path):
    sets = make(tmp_path, kind, 5)
    result = dg.evaluate(
        f"kitti-2012{tag}-toolkit", tmp_path / "training", tmp_path / "submitted", check=False
    )
    for pixels, folder in sets:
        images = {}
        for name in IMAGES:
            truth = read_map(tmp_path / "training" / folder / f"{name}.png", kind)
            estimate = read_map(tmp_path / "submitted" / f"{name}.png", kind)
            empty = -1.0 if kind == "disparity" else 0.0
            images[name] = reference(truth, estimate, empty)
        for score_id, found in result.summary.items():
            column, _, region = score_id.partition("@")
            if region != pixels:
                continue
            parts = [images[name][column] for name in IMAGES]
            if pixels.startswith("refl"):
                wanted = sum(p for p, _ in parts) / sum(n for _, n in parts)
            else:
                wanted = sum(p / max(n, 1) for p, n in parts) / len(parts)
            assert found.value == pytest.approx(wanted, rel=1e-6), score_id
            single = result.samples[IMAGES[0]][score_id].value
            assert single == pytest.approx(parts[0][0] / max(parts[0][1], 1), rel=1e-6), score_id
    assert len(result.summary) == len(result.protocol.score_ids)


def test_reflective_regions_may_be_absent(tmp_path):
    make(tmp_path, "disparity", 6)
    for name in IMAGES:
        for folder in ("disp_refl_noc", "disp_refl_occ"):
            (tmp_path / "training" / folder / f"{name}.png").unlink()
    call = (tmp_path / "training", tmp_path / "submitted")
    result = dg.evaluate("kitti-2012-toolkit", *call, check=False)
    assert not any("refl" in name for name in result.summary)
    assert f"{IMAGES[0]}@refl_noc" in result.left_out
    ours = dg.evaluate("kitti-2012", *call, check=False).summary
    assert "badpix:3@reflective" not in ours
    assert ours["badpix:3@all"].value > 100 * result.summary["Out_3@occ"].value


def test_it_says_that_it_was_not_verified():
    from depthgauge.benchmarks.twins import TWINS
    from depthgauge.engine.catalogue import describe

    assert {n for n, twin in TWINS.items() if not twin.verified} >= {"kitti_2012", "spring"}
    assert TWINS["kitti_2015"].verified
    (found,) = [d for d in describe("kitti-2012-toolkit") if d.kind == "benchmark"]
    said = dict(found.facts)["numbers"]
    assert said == "from the documentation, not verified against the program"
    (found,) = [d for d in describe("eth3d-toolkit") if d.kind == "benchmark"]
    assert "agrees with numbers that the program printed" in dict(found.facts)["numbers"]
