"""The light-field numbers as one writes them with SciPy and scikit-image: map by map."""

from __future__ import annotations

import configparser
import math
from collections.abc import Iterator
from pathlib import Path

import imageio.v3 as imageio
import numpy as np
from scipy.ndimage import zoom
from scipy.signal import convolve2d
from skimage.filters import scharr_h, scharr_v

AT_HIGH = ("backgammon", "dots", "stripes")


def plain_scores(scene: Path, submission: Path) -> dict[str, float]:
    """All numbers of one scene; warnings about NaN do not matter here."""
    name = scene.name
    estimate = read_pfm(submission / "disp_maps" / f"{name}.pfm")
    with np.errstate(all="ignore"):
        low = read_pfm(scene / "gt_disp_lowres.pfm")
        found = {} if name in AT_HIGH else dict(general(estimate, low, 15))
        found |= dict(surfaces(scene, estimate, low))
        if name != "pyramids":
            high = read_pfm(scene / "gt_disp_highres.pfm")
            enlarged = zoom(estimate, 10, order=0)
            found |= dict(general(enlarged, high, 150)) if name in AT_HIGH else {}
            found |= dict(regions(scene, enlarged, high))
    seconds = float((submission / "runtimes" / f"{name}.txt").read_text().split()[0])
    return found | {"runtime": seconds, "runtime_log": math.log10(seconds)}


def read_pfm(path: Path) -> np.ndarray:
    with path.open("rb") as file:
        file.readline()
        width, height = (int(n) for n in file.readline().split())
        file.readline()
        return np.flipud(np.fromfile(file, "<f4").reshape(height, width))


def within(shape: tuple[int, ...], border: int) -> np.ndarray:
    inside = np.zeros(shape, bool)
    inside[border:-border, border:-border] = True
    return inside


def general(d: np.ndarray, g: np.ndarray, border: int) -> Iterator[tuple[str, float]]:
    inside = within(g.shape, border)
    valid = inside & np.isfinite(d) & np.isfinite(g)
    yield "mse_100", 100 * np.mean(np.square(g - d)[valid])
    for t, name in ((0.01, "badpix_0010"), (0.03, "badpix_0030"), (0.07, "badpix_0070")):
        yield name, share(np.abs(d - g) > t, inside)
    errors = np.sort((np.abs(d - g) * 100)[valid])
    yield "q_25_100", errors[int(errors.size * 0.25)]


def share(hit: np.ndarray, inside: np.ndarray) -> float:
    return 100 * np.sum(hit & inside) / np.sum(inside)


def regions(scene: Path, d: np.ndarray, g: np.ndarray) -> Iterator[tuple[str, float]]:
    inside = within(g.shape, 150)

    def mask(name: str) -> np.ndarray:
        return (labels(scene, name) != 0) & inside

    bad = np.abs(d - g) > 0.07
    if scene.name == "backgammon":
        front, back = g[:, 140:141], g[:, -11:-10]
        fat, thin = mask("foreground_fattening"), mask("foreground_thinning")
        yield "backgammon_fattening_0070", share(d > 0.5 * (front + g), fat)
        yield "backgammon_thinning_0070", share(d < 0.5 * (back + g), thin)
    elif scene.name == "dots":
        used = mask("background") & np.isfinite(d) & np.isfinite(g)
        yield "background_mse_100", 100 * np.mean(np.square(g - d)[used])
        yield "missed_dots_50_0400", missed_dots(scene, np.abs(g - d) > 0.4)
    elif scene.name == "stripes":
        yield "low_texture_0070", share(bad, mask("low_texture"))
        yield "dark_stripes_0070", share(bad, mask("high_contrast"))
        yield "bright_stripes_0070", share(bad, mask("low_contrast"))
    else:
        yield "discontinuities_0070", share(bad, mask("discontinuities"))
        yield "fine_fattening_0150", share(g - d < -0.15, mask("fine_surrounding"))
        yield "fine_thinning_0150", share(g - d > 0.15, mask("fine"))


def labels(scene: Path, name: str, size: str = "highres") -> np.ndarray:
    return imageio.imread(scene / f"mask_{name}_{size}.png")


def missed_dots(scene: Path, bad: np.ndarray) -> float:
    boxes, dots = labels(scene, "boxes"), labels(scene, "dots_by_size")
    box_labels = [box for box in np.unique(boxes) if box > 0]
    sizes = len([dot for dot in np.unique(dots) if 0 < dot < 9])
    missed = 0
    for box in box_labels:
        for dot in range(1, sizes + 1):
            inside = (boxes == box) & (dots == dot)
            missed += not (inside.any() and share(bad, inside) < 50)
    return 100 * missed / (len(box_labels) * sizes)


def surfaces(scene: Path, d: np.ndarray, g: np.ndarray) -> Iterator[tuple[str, float]]:
    if scene.name == "pyramids":
        objects = [labels(scene, n, "lowres") for n in ("sphere_in", "sphere_out", "pyramids")]
        bumps = bumpiness(d, g)
        yield "bumpiness_slanted_100_0050", over(bumps, np.any(objects, axis=0))
        yield "bumpiness_parallel_100_0050", over(bumps, labels(scene, "plane", "lowres") != 0)
    elif scene.name not in AT_HIGH:
        bumps, angles = bumpiness(d, g), angular_error(scene, d, g)
        for mask, name in (("planes", "planes"), ("smooth_surfaces", "contin_surfaces")):
            inside = labels(scene, mask, "lowres") != 0
            yield f"bumpiness_{name}_100_0050", over(bumps, inside)
            inside &= within(g.shape, 15) & np.isfinite(d) & np.isfinite(angles)
            yield f"mae_{name}", np.median(angles[inside])


def bumpiness(d: np.ndarray, g: np.ndarray) -> np.ndarray:
    error = (d - g).astype(np.float64)
    dx, dy = scharr_v(error), scharr_h(error)
    second = (scharr_v(dx), scharr_h(dx), scharr_h(dy), scharr_v(dy))
    return np.clip(np.sqrt(sum(np.square(part) for part in second)), 0, 0.05)


def over(bumps: np.ndarray, inside: np.ndarray) -> float:
    return 100 * np.mean(bumps[inside & within(bumps.shape, 15) & np.isfinite(bumps)])


def angular_error(scene: Path, d: np.ndarray, g: np.ndarray) -> np.ndarray:
    config = configparser.ConfigParser()
    config.read(scene / "parameters.cfg")
    camera = {**config["intrinsics"], **config["extrinsics"]}
    cosine = np.sum(normals(d, camera) * normals(g, camera), axis=2)
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def normals(disparity: np.ndarray, camera: dict[str, str]) -> np.ndarray:
    focal, sensor = float(camera["focal_length_mm"]), float(camera["sensor_size_mm"])
    q = float(camera["baseline_mm"]) * focal * disparity.shape[0]
    z = 1.0 / ((1000.0 * sensor) * disparity / q + 1.0 / float(camera["focus_distance_m"]))
    n = disparity.shape[0]
    across, down = np.meshgrid(range(n), range(n))
    x = (across / (n - 1.0) * 0.5) * sensor * z / focal
    y = (down / (n - 1.0) * 0.5) * sensor * z / focal
    kernel = np.array([[3.0, 10, 3], [0, 0, 0], [-3, -10, -3]]) / 64

    def derivative(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return convolve2d(values, weights, mode="same", boundary="wrap")

    xx, yx, zx = (derivative(values, kernel) for values in (x, y, z))
    xy, yy, zy = (derivative(values, kernel.T) for values in (x, y, z))
    made = np.dstack([zx * xy - xx * zy, -(yx * zy - zx * yy), -(xx * yy - yx * xy)])
    return made / np.linalg.norm(made, axis=2, keepdims=True)
