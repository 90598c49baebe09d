"""Exposure: what is said about it, and brackets merged into one picture."""

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.photographs.brackets import (
    linear_light,
    merged,
    pattern_files,
    srgb_codes,
)
from depthgauge.capture.photographs.exposure import (
    Exposure,
    exposure_figures,
    exposure_of,
    exposure_warnings,
)
from depthgauge.errors import BadData, BadFile
from depthgauge.sessions import Board, Session


def photographed(light: np.ndarray, exposure: float, bits: int = 8, noise: float = 0.0):
    """Codes of a camera that saturates at light 1 / exposure."""
    rng = np.random.default_rng(round(10 * exposure))
    taken = light * exposure + rng.normal(0, 1, light.shape) * noise
    codes = srgb_codes(np.clip(taken, 0, 1).astype(np.float32))
    if bits == 8:
        return np.rint(codes * 255).astype(np.uint8)
    return np.rint(codes * 65535).astype(np.float32) / np.float32(65535)


def test_a_merged_bracket_is_the_light():
    light = np.repeat(np.geomspace(0.0004, 0.99, 400)[None, :, None], 3, axis=2)
    exposures = (1.0, 4.0, 16.0)
    images = [photographed(light, e, bits=16) for e in exposures]
    found = linear_light(merged(images, exposures))
    assert np.abs(found / light - 1).max() < 2e-3


def test_a_bracket_has_less_noise_than_each_of_its_photographs():
    light = np.full((60, 60, 3), 0.02)
    exposures = (1.0, 4.0, 16.0)
    images = [photographed(light, e, noise=0.01) for e in exposures]
    deviations = [
        (linear_light(image.astype(np.float32) / 255) / e).std()
        for image, e in zip(images, exposures, strict=True)
    ]
    spread = linear_light(merged(images, exposures)).std()
    assert spread < min(deviations)
    assert spread == pytest.approx(0.01 / np.sqrt(1 + 16 + 256), rel=0.05)


def test_what_saturates_everywhere_stays_saturated():
    light = np.full((4, 4, 3), 5.0)
    images = [photographed(light, e) for e in (1.0, 4.0)]
    assert merged(images, (1.0, 4.0)).min() == pytest.approx(1.0)
    red = merged([np.full((2, 2, 3), (255, 90, 80), np.uint8)] * 2, (1.0, 4.0))
    assert np.allclose(red * 255, (255, 90, 80), atol=1e-3)
    bright = merged([photographed(np.full((4, 4, 3), 0.95), e) for e in (1.0, 4.0)], (1.0, 4.0))
    assert np.allclose(linear_light(bright), 0.95, atol=0.01)


def pattern(folder, camera, name, value, shape=(6, 8, 3)):
    path = folder / "pattern" / camera / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    io.write_image(path, np.full(shape, value, np.uint8))


def test_brackets_are_found_by_their_names(tmp_path):
    for camera in "LR":
        for name in ("2@0.5", "2@8", "2@2", "10@0.5"):
            pattern(tmp_path, camera, name, 40)
    found = pattern_files(Session(tmp_path, "s", Board()), "L")
    assert list(found) == ["2", "10"]
    assert found["2"].exposures == (1.0, 4.0, 16.0)
    assert [p.stem for p in found["2"].paths] == ["2@0.5", "2@2", "2@8"]
    assert found["10"].exposures == (1.0,)
    assert found["2"].deep
    assert found["2"].read().dtype == np.float32


def test_single_photographs_are_read_as_they_are(tmp_path):
    pattern(tmp_path, "L", "3", 90)
    file = pattern_files(Session(tmp_path, "s", Board()), "L")["3"]
    assert (file.exposures, file.deep) == ((), False)
    assert file.read().dtype == np.uint8


def test_mixed_names_and_sizes_are_errors(tmp_path):
    session = Session(tmp_path, "s", Board())
    pattern(tmp_path, "L", "2@1", 40)
    pattern(tmp_path, "L", "2@2", 40, (6, 9, 3))
    with pytest.raises(BadFile, match="must have one size, found 8x6, 9x6"):
        pattern_files(session, "L")["2"].read()
    pattern(tmp_path, "L", "2", 40)
    with pytest.raises(BadData, match="also has bracketed exposures"):
        pattern_files(session, "L")
    (tmp_path / "pattern/L/2.png").unlink()
    pattern(tmp_path, "L", "2@0", 40)
    with pytest.raises(BadData, match="must be a number above 0"):
        pattern_files(session, "L")


def test_shares_of_saturated_and_dark_pixels():
    image = np.full((10, 10, 3), 100, np.uint8)
    image[:2] = (255, 90, 80)  # one channel is enough
    image[9] = 3
    assert exposure_of(image) == Exposure(saturated=0.2, dark=0.1)
    deep = image.astype(np.float32) / 255
    assert exposure_of(deep) == Exposure(saturated=0.2, dark=0.1)


def test_badly_exposed_photographs_are_named():
    good, bright, dark = Exposure(0.01, 0.0), Exposure(0.2, 0.0), Exposure(0.0, 0.5)
    found = {"L": {"0": good, "1": bright, "2": good}, "R": {"0": good, "1": dark, "2": dark}}
    said = exposure_warnings(found)
    assert said == [
        "camera L: 20 % of the pixels are saturated in 1 of 3 patterns (1); expose shorter, or "
        "bracket the exposures.",
        "camera R: 50 % of the pixels are dark in 2 of 3 patterns (1, 2); expose longer, or "
        "bracket the exposures.",
    ]
    figures = exposure_figures(found)
    assert figures["L"]["saturated_most_share"] == 0.2
    assert figures["L"]["saturated_most_in"] == "1"
    assert figures["R"]["dark_median_share"] == 0.5
    assert exposure_warnings({"L": {"0": good}}) == []
