"""Photographs as they come from memory cards become sessions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from depthgauge import io
from depthgauge.capture.importing import find_sources, import_photographs
from depthgauge.capture.photographs.brackets import pattern_files
from depthgauge.errors import BadData, CannotWrite, Misuse
from depthgauge.io.photographs.developed import stored_pixels
from depthgauge.sessions import Board, open_session

SHAPE = (24, 36)


def scene(number: int, camera: str, shape=SHAPE) -> np.ndarray:
    """A picture that says which shot and camera it is, also after JPEG."""
    pixels = np.zeros((*shape, 3), np.uint8)
    pixels[..., 0], pixels[..., 1] = 10 * number + 20, {"L": 50, "C": 120, "R": 200}[camera]
    pixels[: shape[0] // 2, : shape[1] // 2, 2] = 180
    return pixels


def shot_of(path: Path) -> int:
    pixels = io.read_image(path)
    top = 255 if pixels.dtype == np.uint8 else 1
    return round((255 / top * float(pixels[..., 0].mean()) - 20) / 10)


def save(path: Path, pixels, taken_s=None, orientation=1, exposure=None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(pixels)
    notes = image.getexif()
    notes[0x0112] = orientation
    if exposure is not None:
        notes.get_ifd(0x8769)[0x829A] = IFDRational(1, exposure)
    if taken_s is not None:
        whole, part = divmod(taken_s, 1)
        when = datetime.fromtimestamp(1.7e9 + whole, UTC)
        notes.get_ifd(0x8769)[0x9003] = when.strftime("%Y:%m:%d %H:%M:%S")
        notes.get_ifd(0x8769)[0x9291] = f"{round(part * 100):02d}"
    image.save(path, exif=notes, **({"quality": 95} if path.suffix == ".jpg" else {}))


@pytest.fixture
def cards(tmp_path) -> dict[str, Path]:
    """Two cameras with numbers and clocks of their own; R missed shot 2, L was tried once more."""
    times = [0.0, 7.3, 19.0, 22.5, 40.1, 47.0]
    for number, time in enumerate(times):
        save(tmp_path / "card1" / f"DSC_{number + 8}.jpg", scene(number, "L"), time)
        if number != 2:
            save(tmp_path / "card2" / f"IMG{number + 1:04d}.jpg", scene(number, "R"), time + 3605.2)
    save(tmp_path / "card1" / "DSC_99.jpg", scene(9, "L"), 300.0)
    return {"L": tmp_path / "card1", "R": tmp_path / "card2"}


def shots(folder: Path, kind: str) -> dict[str, tuple[int, ...]]:
    session = open_session(folder)
    images = {"calibration": session.board_images, "pattern": session.pattern_images}
    found = images.get(kind, session.passive_images)
    return {name: tuple(shot_of(found(c)[name]) for c in "LR") for name in found("L")}


def test_photographs_are_paired_by_time(cards, tmp_path):
    made = import_photographs(cards, tmp_path / "s", "calibration")
    assert made.pairing.how == "time"
    assert made.pairing.offsets_s["R"] == pytest.approx(3605.2, abs=0.02)
    assert [p.path.name for p in made.pairing.alone] == ["DSC_10.jpg", "DSC_99.jpg"]
    assert shots(tmp_path / "s", "calibration") == {
        f"{n:03d}": (k, k) for n, k in enumerate([0, 1, 3, 4, 5])
    }
    assert any("clock of R is +3605.2" in text for text in made.warnings)
    record = json.loads((tmp_path / "s" / "sources.json").read_text())
    assert record["calibration"]["shots"]["002"]["R"]["file"].endswith("IMG0004.jpg")
    assert open_session(tmp_path / "s").board is None, "it is found later"


def test_photographs_are_paired_by_order_and_by_name(tmp_path):
    for camera in "LR":
        for number in range(11):
            io.write_image(
                _made(tmp_path / camera / f"{camera.lower()}{number}.png"), scene(number, camera)
            )
    folders = {camera: tmp_path / camera for camera in "LR"}
    by_order = import_photographs(folders, tmp_path / "s", "passive")
    assert by_order.pairing.how == "order"
    assert shots(tmp_path / "s", "passive") == {f"im{k}": (k, k) for k in range(11)}
    (tmp_path / "R" / "r4.png").unlink()
    with pytest.raises(BadData, match=r"cannot be paired \(L has 11, R has 10\): .*no time in"):
        import_photographs(folders, tmp_path / "t", "passive")
    made = import_photographs(
        {"*": _mixed(folders, tmp_path / "mixed")},
        tmp_path / "t",
        "passive",
        names="{camera}_{shot}",
    )
    assert made.pairing.how == "name"
    assert [p.path.stem for p in made.pairing.alone] == ["L_4"]
    assert list(shots(tmp_path / "t", "passive").values()) == [(k, k) for k in range(11) if k != 4]


def _made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _mixed(folders, out: Path) -> Path:
    for camera, folder in folders.items():
        for path in folder.iterdir():
            target = _made(out / f"{camera}_{path.stem[1:]}.png")
            target.write_bytes(path.read_bytes())
    return out


def test_names_that_contradict_the_times_are_said(cards, tmp_path):
    """The same numbers, but one camera started three shots earlier."""
    for path in sorted(cards["R"].iterdir()):
        number = int(path.stem[3:]) + 10
        path.rename(path.with_name(f"DSC_{number}.jpg"))
    made = import_photographs(cards, tmp_path / "s", "pattern", pair="name")
    assert made.pairing.how == "name"
    assert any("were not taken at once" in text for text in made.warnings)
    automatic = import_photographs(cards, tmp_path / "t", "pattern")
    assert automatic.pairing.how == "time"


def test_sixteen_bits_raw_and_heic_arrive(tmp_path):
    pillow_heif = pytest.importorskip("pillow_heif")
    pytest.importorskip("rawpy")
    codes = np.linspace(0, 65535, 24 * 36 * 3).reshape(24, 36, 3).astype(np.uint16)
    for camera in "LR":
        folder = tmp_path / camera
        folder.mkdir()
        tifffile.imwrite(folder / "a1.tif", codes, photometric="rgb")
        write_dng(folder / "a2.dng")
        deep = pillow_heif.from_bytes("RGB;16", (36, 24), codes.tobytes())
        deep.save(folder / "a3.heic", quality=-1, bit_depth=12)
    made = import_photographs({c: tmp_path / c for c in "LR"}, tmp_path / "s", "pattern")
    assert (made.pairing.how, len(made.names), made.unreadable) == ("name", 3, {})
    session = open_session(tmp_path / "s")
    files = session.pattern_images("L")
    assert [path.suffix for path in files.values()] == [".tif", ".png", ".png"]
    assert all(io.is_deep(path) for path in files.values())
    assert np.array_equal(np.rint(io.read_image(files["000"]) * 65535.0), codes)
    developed = io.read_image(files["001"])
    assert np.array_equal(np.rint(developed * 65535.0), stored_pixels(tmp_path / "L" / "a2.dng"))
    assert len(np.unique(developed)) > 256, "more than 8 bits can tell"
    off = np.abs(io.read_image(files["002"]).astype(np.float64) * 65535 - codes)
    assert np.median(off) < 300, "HEIC loses a little"


def write_dng(path: Path, orientation: int = 1) -> np.ndarray:
    """The smallest RAW photograph: a grey ramp of 14 bits behind a Bayer filter."""
    y, x = np.mgrid[:48, :64]
    raw = (200 + 200 * x + 40 * y).astype(np.uint16)
    unit = [n for v in np.eye(3).ravel() for n in (int(v) * 10000, 10000)]
    tags = [
        (50706, 1, 4, (1, 4, 0, 0), True),
        (50708, 2, 0, "Small Camera", True),
        (33421, 3, 2, (2, 2), True),
        (33422, 1, 4, (0, 1, 1, 2), True),
        (50714, 3, 1, 0, True),
        (50717, 4, 1, 16383, True),
        (50721, 10, 9, tuple(unit), True),
        (50728, 5, 3, (1, 1, 1, 1, 1, 1), True),
        (50778, 3, 1, 21, True),
        (274, 3, 1, orientation, True),
    ]
    tifffile.imwrite(path, raw, photometric=32803, extratags=tags, metadata=None)
    return raw


def test_raw_photographs_follow_the_light_and_keep_their_sides(tmp_path):
    pytest.importorskip("rawpy")
    raw = write_dng(tmp_path / "a.dng", orientation=6)
    pixels = stored_pixels(tmp_path / "a.dng").astype(np.float64) / 65535
    assert pixels.shape == (48, 64, 3), "turned only when it is stored"
    light = np.where(pixels <= 0.04045, pixels / 12.92, ((pixels + 0.055) / 1.055) ** 2.4)
    # Grey light behind a neutral camera: the ramp itself, up to one factor.
    middle = light[8:-8, 8:-8, 1].ravel()
    ramp = raw[8:-8, 8:-8].ravel() / 16383
    factor = (middle @ ramp) / (ramp @ ramp)
    assert np.abs(middle - factor * ramp).max() < 0.01


@pytest.mark.parametrize("bits", [10, 12, 14])
def test_values_of_fewer_bits_fill_all_sixteen(tmp_path, bits):
    top = 2**bits - 1
    codes = np.linspace(0, top, 24 * 36).reshape(24, 36).round().astype(np.uint16)
    for camera in "LR":
        (tmp_path / camera).mkdir()
        tifffile.imwrite(tmp_path / camera / "a.tif", codes)
    folders = {camera: tmp_path / camera for camera in "LR"}
    made = import_photographs(folders, tmp_path / "s", "pattern")
    assert any(f"hold {bits}" in text for text in made.warnings)
    found = io.read_image(open_session(tmp_path / "s").pattern_images("L")["000"])
    assert np.allclose(found, codes / top, atol=1e-5)
    import_photographs(folders, tmp_path / "t", "pattern", bits=16)
    kept = io.read_image(open_session(tmp_path / "t").pattern_images("L")["000"])
    assert np.allclose(kept, codes / 65535, atol=1e-6)
    tifffile.imwrite(tmp_path / "L" / "a.tif", np.minimum(codes, top - 5))
    dim = import_photographs(folders, tmp_path / "v", "pattern")
    assert any(f"if its files hold {bits} bits, say --bits {bits}" in text for text in dim.warnings)
    with pytest.raises(Misuse, match="more than 9 bits"):
        import_photographs(folders, tmp_path / "u", "pattern", bits=9)


@pytest.mark.parametrize("usual", [1, 3, 6])
def test_one_orientation_for_each_camera(tmp_path, usual):
    """A camera that looks down may note any orientation; on a rig it has only one."""
    for camera in "LR":
        for number in range(4):
            odd = camera == "R" and number == 2
            path = tmp_path / camera / f"{number}.jpg"
            save(path, scene(number, camera), None, 8 if odd else usual)
    folders = {camera: tmp_path / camera for camera in "LR"}
    made = import_photographs(folders, tmp_path / "s", "pattern", pair="order")
    assert sum("another orientation" in text for text in made.warnings) == 1
    for camera in "LR":
        images = [
            io.read_image(p) for p in open_session(tmp_path / "s").pattern_images(camera).values()
        ]
        assert len({image.shape for image in images}) == 1
        bright = [tuple(np.argwhere(image[..., 2] > 100).mean(axis=0).round()) for image in images]
        assert len(set(bright)) == 1, "the bright quarter is in one place"
    stored = import_photographs(
        folders, tmp_path / "t", "pattern", pair="order", orientation="stored"
    )
    assert not any("orientation" in text for text in stored.warnings)
    for path in open_session(tmp_path / "t").pattern_images("R").values():
        assert io.read_image(path).shape[:2] == SHAPE


def test_a_later_import_keeps_the_orientation(tmp_path):
    for kind, orientation in (("a", 6), ("b", 1)):
        for camera in "LR":
            save(tmp_path / kind / camera / "0.jpg", scene(0, camera), None, orientation)
    session = tmp_path / "s"
    import_photographs({c: tmp_path / "a" / c for c in "LR"}, session, "calibration")
    made = import_photographs({c: tmp_path / "b" / c for c in "LR"}, session, "pattern")
    assert any("another orientation than 6" in text for text in made.warnings)
    shapes = [
        io.read_image(path).shape
        for images in (open_session(session).board_images, open_session(session).pattern_images)
        for path in images("L").values()
    ]
    assert shapes[0] == shapes[1]


def test_damaged_photographs_are_named_and_left_out(cards, tmp_path):
    (cards["L"] / "DSC_8.jpg").write_bytes(b"\xff\xd8\xff\xe0 damaged")
    made = import_photographs(cards, tmp_path / "s", "passive")
    assert list(made.unreadable) == [str(cards["L"] / "DSC_8.jpg")]
    assert len(made.names) == 4
    assert any("DSC_8.jpg" in text and "left out" in text for text in made.warnings)


def test_nothing_is_lost(cards, tmp_path):
    session = tmp_path / "s"
    import_photographs(cards, session, "passive", board=Board(7, 5, 0.02))
    before = {p: p.read_bytes() for p in session.rglob("*") if p.is_file()}
    with pytest.raises(CannotWrite, match="--overwrite"):
        import_photographs(cards, session, "passive")
    assert {p: p.read_bytes() for p in session.rglob("*") if p.is_file()} == before
    import_photographs(cards, session, "passive", pair="time", overwrite=True)
    import_photographs(cards, session, "pattern")
    assert open_session(session).board == Board(7, 5, 0.02)
    assert set(json.loads((session / "sources.json").read_text())) >= {"passive", "pattern"}
    with pytest.raises(Misuse, match="another board"):
        import_photographs(cards, session, "calibration", board=Board(9, 6, 0.02))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"pair": "name"}, "no two cameras have a photograph of the same name"),
        ({"pair": "order"}, "different numbers of photographs"),
        ({"names": "{shot}", "pair": "time"}, "leave one out"),
        ({"names": "{camera}"}, "has {shot} once"),
        ({"clock_offsets": "R:x"}, "clock offsets are like"),
        ({"clock_offsets": "L:3"}, "cameras other than the first"),
        ({"pair": "time", "clock_offsets": "R:10"}, "within 0.5 s of one of L"),
    ],
)
def test_mistakes_are_one_sentence(cards, tmp_path, options, text):
    with pytest.raises((BadData, Misuse), match=text):
        import_photographs(cards, tmp_path / "s", "passive", **options)
    assert not (tmp_path / "s").exists()


def test_folders_say_cameras_and_kinds(tmp_path):
    for kind in ("calibration", "pattern"):
        for camera in ("left", "right"):
            (tmp_path / "all" / kind / camera).mkdir(parents=True)
    found = find_sources([str(tmp_path / "all")], None)
    assert {kind: set(of) for kind, of in found.items()} == {
        "calibration": {"L", "R"},
        "pattern": {"L", "R"},
    }
    assert set(find_sources([str(tmp_path / "all")], "pattern")) == {"pattern"}
    one = tmp_path / "all" / "pattern"
    assert find_sources([f"L={one / 'left'}", str(one / "right")], "passive") == {
        "passive": {"L": one / "left", "R": one / "right"}
    }
    with pytest.raises(Misuse, match="say what the photographs show"):
        find_sources([str(one / "left")], None)
    with pytest.raises(BadData, match="no such folder"):
        find_sources(["L=/nowhere"], "passive")
    with pytest.raises(Misuse, match="two folders"):
        find_sources([str(one / "left"), f"L={one}"], "passive")


def test_brackets_are_named_by_their_exposures(tmp_path):
    """Two patterns of three exposures each; exposure times are ratios in EXIF."""
    for camera in "LR":
        for number in range(6):
            exposure = (250, 60, 15)[number % 3]
            save(tmp_path / camera / f"{number}.jpg", scene(number, camera), None, 1, exposure)
    folders = {camera: tmp_path / camera for camera in "LR"}
    made = import_photographs(folders, tmp_path / "s", "pattern", brackets=3)
    assert made.names[:4] == ("000@0.004", "000@0.016667", "000@0.066667", "001@0.004")
    found = pattern_files(open_session(tmp_path / "s"), "L")
    assert list(found) == ["000", "001"]
    assert found["001"].exposures == pytest.approx((1.0, 250 / 60, 250 / 15), rel=1e-4)
    assert [shot_of(path) for path in found["001"].paths] == [3, 4, 5]
    with pytest.raises(BadData, match="6 shots cannot be brackets of 4"):
        import_photographs(folders, tmp_path / "t", "pattern", brackets=4)
    with pytest.raises(BadData, match="two shots of pattern 000 have the same exposure"):
        import_photographs(folders, tmp_path / "t", "pattern", brackets=6)
    with pytest.raises(Misuse, match="only patterns"):
        import_photographs(folders, tmp_path / "t", "passive", brackets=3)
    save(tmp_path / "R" / "1.jpg", scene(1, "R"), None, 1, 30)
    with pytest.raises(BadData, match="different exposures of this shot"):
        import_photographs(folders, tmp_path / "t", "pattern", brackets=3)
    save(tmp_path / "R" / "1.jpg", scene(1, "R"))
    with pytest.raises(BadData, match="no exposure time"):
        import_photographs(folders, tmp_path / "t", "pattern", brackets=3)
