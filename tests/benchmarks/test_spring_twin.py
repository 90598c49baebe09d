"""The twin against loops that follow the server's source; the server itself was not run."""

import math

import h5py
import numpy as np
import pytest

import depthgauge as dg
from depthgauge.io import write_image

SHAPE = (5, 6)
FRAMES = ("0001", "0002")


def put(path, key, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file[key] = values.astype(np.float32)


def picture(path, mask):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_image(path, np.where(mask, 255, 0).astype(np.uint8))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two frames with all maps, truths of twice the size with holes, and a submission."""
    root = tmp_path_factory.mktemp("spring")
    random = np.random.default_rng(3)
    large = tuple(2 * n for n in SHAPE)
    kept = {}
    for frame in FRAMES:
        for kind, view, key, channels in (
            ("disp1", "left", "disparity", 1),
            ("disp2", "FW_left", "disparity", 1),
            ("flow", "FW_left", "flow", 2),
        ):
            low = 0.5 if channels == 1 else -60
            truth = random.uniform(low, 70, (*large, channels))
            truth[random.random(large) < 0.03] = np.nan
            pixels = random.uniform(low, 70, (*SHAPE, channels))
            near = random.random(SHAPE) < 0.8
            pixels[near] = np.nan_to_num(truth[::2, ::2])[near]
            pixels += random.normal(0, 2, pixels.shape)
            ending = "dsp5" if channels == 1 else "flo5"
            name = f"{kind}_{view}/{kind}_{view}_{frame}.{ending}"
            squeeze = (lambda a: a[..., 0]) if channels == 1 else (lambda a: a)
            put(root / "train/0001" / name, key, squeeze(truth))
            put(root / "results/0001" / name, key, squeeze(pixels))
            kept[kind, frame] = truth, pixels
            maps = {f"detailmap_{kind}_{view}": SHAPE, f"matchmap_{kind}_{view}": SHAPE}
            for name, size in maps.items():
                mask = random.random(size) < 0.4
                picture(root / f"train/0001/maps/{name}/{name}_{frame}.png", mask)
                kept[name, frame] = mask
        for name in ("rigidmap_FW_left", "skymap_left"):
            mask = random.random(large) < 0.5
            picture(root / f"train/0001/maps/{name}/{name}_{frame}.png", mask)
            kept[name, frame] = mask
    return root, kept


def half(mask, y, x):
    return mask[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].sum() >= 2


def pixel_errors(kept, kind, frame, y, x):
    """Smallest error, outlier or not, and mean size of the four; None where one is unknown."""
    truth, estimate = kept[kind, frame]
    four = truth[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].reshape(4, -1).astype(np.float16)
    given = estimate[y, x].astype(np.float16)
    if np.isnan(four).any():
        return None
    if four.shape[1] == 2:
        errors = [math.hypot(*map(float, value - given)) for value in four]
        sizes = [math.hypot(*map(float, value)) for value in four]
        limit = 0.05 * max(sizes)
    else:
        errors = [abs(float(np.float32(v[0]) - np.float32(given[0]))) for v in four]
        sizes = [float(v[0]) for v in four]
        limit = float(0.05 * four.max())
    error = min(errors)
    return error, error > 3 and error > limit, sum(sizes) / 4


def sets_of(kept, kind, frame, y, x, size):
    view = "left" if kind == "disp1" else "FW_left"
    found = {"total"}
    found.add("highdetail" if kept[f"detailmap_{kind}_{view}", frame][y, x] else "lowdetail")
    found.add("unmatched" if kept[f"matchmap_{kind}_{view}", frame][y, x] else "matched")
    found.add("sky" if half(kept["skymap_left", frame], y, x) else "notsky")
    if kind == "flow":
        found.add("nonrigid" if half(kept["rigidmap_FW_left", frame], y, x) else "rigid")
    found.add("s0_10" if size < 10 else "s10_40" if size < 40 else "s40")
    return found


def wauc(error):
    weights = [1 - (i - 1) / 100 for i in range(1, 101)]
    within = [w for i, w in enumerate(weights, start=1) if error <= i / 20]
    return 100 * sum(within) / sum(weights)


def reference(kept, kind, label):
    sums, counts = {}, {}
    for frame in FRAMES:
        for y in range(SHAPE[0]):
            for x in range(SHAPE[1]):
                found = pixel_errors(kept, kind, frame, y, x)
                if found is None:
                    continue
                error, bad, size = found
                columns = {f"1px_{label}": 100.0 * (error > 1), label: 100.0 * bad}
                if kind == "flow":
                    columns |= {"EPE_Fl": error, "WAUC_Fl": wauc(error)}
                else:
                    columns[f"Abs_{label}"] = error
                for pixels in sets_of(kept, kind, frame, y, x, size):
                    for name, value in columns.items():
                        key = f"{name}@{pixels}"
                        sums[key] = sums.get(key, 0.0) + value
                        counts[key] = counts.get(key, 0) + 1
    return {key: sums[key] / counts[key] for key in sums}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("spring-toolkit", {"disp1": "D1"}),
        ("spring-flow-toolkit", {"flow": "Fl"}),
        ("spring-scene-flow-toolkit", {"disp1": "D1", "disp2": "D2", "flow": "Fl"}),
    ],
)
def test_agrees_with_loops_over_pixels(name, kinds, made):
    root, kept = made
    result = dg.evaluate(name, root / "train", root / "results", check=False)
    assert set(result.summary) == set(result.protocol.score_ids)
    for kind, label in kinds.items():
        wanted = reference(kept, kind, label)
        assert len(wanted) >= 27
        for key, value in wanted.items():
            assert result.summary[key].value == pytest.approx(value, rel=2e-6, abs=1e-9), key


def test_scene_flow_is_wrong_where_any_map_is(made):
    root, kept = made
    result = dg.evaluate("spring-scene-flow-toolkit", root / "train", root / "results", check=False)
    wrong = beyond = pixels = fast = 0
    for frame in FRAMES:
        for y in range(SHAPE[0]):
            for x in range(SHAPE[1]):
                found = [pixel_errors(kept, k, frame, y, x) for k in ("disp1", "disp2", "flow")]
                known = [part for part in found if part is not None]
                # The server divides by complete pixels, but counts outliers of the others too.
                wrong += any(bad for _, bad, _ in known)
                beyond += any(error > 1 for error, _, _ in known)
                if len(known) == 3:
                    pixels += 1
                    fast += any(abs(size) > 40 for _, _, size in known)
    assert result.summary["SF@total"].value == pytest.approx(100 * wrong / pixels)
    assert result.summary["1px_SF@total"].value == pytest.approx(100 * beyond / pixels)
    assert sum(s["SF@s40"].count for s in result.samples.values()) == fast


def test_nan_and_another_size_are_refused(made, tmp_path):
    root, _ = made
    path = tmp_path / "0001/disp1_left/disp1_left_0001.dsp5"
    put(path, "disparity", np.full(SHAPE, np.nan))
    with pytest.raises(dg.errors.NothingScored, match="has NaN, which Spring's server refuses"):
        dg.evaluate("spring-toolkit", root / "train", tmp_path, only=["0001/left_0001"])
    put(path, "disparity", np.ones((10, 12)))
    with pytest.raises(dg.errors.NothingScored, match="it must be half as large"):
        dg.evaluate("spring-toolkit", root / "train", tmp_path, only=["0001/left_0001"])


def test_the_smallest_of_four_is_never_worse_than_one_truth(made):
    root, _ = made
    theirs = dg.evaluate("spring-flow-toolkit", root / "train", root / "results", check=False)
    ours = dg.evaluate("spring-flow", root / "train", root / "results", check=False)
    assert theirs.summary["EPE_Fl@total"].value < ours.summary["epe@all"].value
    scene = dg.evaluate("spring-scene-flow", root / "train", root / "results", check=False)
    assert scene.summary["sf@all"].value >= scene.summary["fl@all"].value
