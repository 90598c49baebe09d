"""A whole session: what is in it, that it is exact, that it can be stopped and continued."""

import itertools
import json
import shutil

import cv2
import numpy as np
import pytest

from depthgauge import io
from depthgauge.errors import BadData, CannotWrite, Misuse
from depthgauge.geometry.projection import inverse_pose, project, slopes_at, transform
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.io._locks import only_one
from depthgauge.sessions import CAMERAS, open_session, read_simulated
from depthgauge.synth.sets.capture_session import SCENES, CaptureOptions, write_capture_session
from depthgauge.synth.sets.capture_session._board import board_poses
from depthgauge.synth.sets.capture_session._sensor import linear

TINY = CaptureOptions(
    width_px=160, patterns=2, poses=2, projectors=2, pattern_side=1, passive=False, seed=3
)


@pytest.fixture(scope="module")
def session(capture_session):
    return open_session(capture_session)


@pytest.fixture(scope="module")
def truth(session):
    return read_simulated(session.truth_folder)


@pytest.fixture(scope="module")
def rays(truth):
    return RayScene(truth.vertices, truth.triangles)


def seen_points(truth, rays, name, pixels):
    """Points of the world at pixels, by a way of their own: numpy and Embree only."""
    camera = truth.cameras[name]
    slopes = slopes_at(np.asarray(pixels, np.float64), camera)
    ways = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1)
    ways = ways @ camera.world_from_camera[:3, :3].T
    hits = rays.cast(camera.world_from_camera[:3, 3], ways)
    return camera.world_from_camera[:3, 3] + hits.distance[:, None] * ways, hits


def images_of(points, camera):
    return project(transform(points, inverse_pose(camera.world_from_camera)), camera)


def test_a_session_has_all_that_a_real_one_has(session, truth):
    assert session.simulated
    assert list(truth.cameras) == list(CAMERAS)
    assert len(truth.projectors) == 6
    for name in CAMERAS:
        size = truth.cameras[name].size_px
        boards, passive = session.board_images(name), session.passive_images(name)
        patterns = session.pattern_images(name)
        assert len(boards) == 15
        assert list(passive) == ["im0", "im1"]
        assert len(patterns) == (0 if name == "C" else 6)
        for path in (*boards.values(), *passive.values(), *patterns.values()):
            picture = io.read_image(path)
            assert (picture.shape[1], picture.shape[0]) == size
            assert picture.dtype == np.uint8
            assert picture.std() > 5
    assert session.notes["complete"]
    assert not list(session.folder.rglob("*.part"))


def test_the_rig_is_like_the_real_one(truth):
    left, wide, right = (truth.cameras[name] for name in CAMERAS)
    place = {name: c.world_from_camera[:3, 3] for name, c in truth.cameras.items()}
    assert np.linalg.norm(place["R"] - place["L"]) == pytest.approx(0.08, abs=0.006)
    assert np.linalg.norm(place["C"] - place["L"]) == pytest.approx(0.04, abs=0.006)
    assert left.focal_px != right.focal_px
    assert wide.size_px[0] < left.size_px[0]
    field = {n: c.size_px[0] / c.focal_px[0] for n, c in truth.cameras.items()}
    assert field["C"] > 1.1 * field["L"]
    for camera in truth.cameras.values():
        assert len(camera.distortion) == 5
        width = camera.size_px[0]
        straight = slopes_at(np.array([[0.0, 0.0]]), camera) * camera.focal_px + camera.centre_px
        assert 0.005 * width < np.linalg.norm(straight) < 0.1 * width
        turn = camera.world_from_camera[:3, :3].T @ left.world_from_camera[:3, :3]
        assert np.degrees(np.arccos((np.trace(turn) - 1) / 2)) < 3


def test_depths_are_those_of_a_table_in_a_room(truth, rays):
    width, height = truth.cameras["L"].size_px
    y, x = np.mgrid[0:height:4, 0:width:4]
    points, hits = seen_points(truth, rays, "L", np.stack([x.ravel(), y.ravel()], -1))
    assert (hits.triangle >= 0).all()
    depth = transform(points, inverse_pose(truth.cameras["L"].world_from_camera))[:, 2]
    assert depth.min() > 0.45
    assert depth.max() < 3.2
    # Disparities at 1168 px: 25 to 130.
    disparity = 0.8 * 1168 * 0.08 / depth
    assert np.percentile(disparity, 1) > 25
    assert np.percentile(disparity, 99) < 150


@pytest.mark.parametrize("name", CAMERAS)
def test_board_corners_are_where_the_exact_camera_sees_them(session, truth, name):
    board, camera = session.board, truth.cameras[name]
    seed = session.notes["parameters"]["seed"]
    poses = board_poses(board, truth.cameras, 15, seed)
    misses = []
    for path, pose in zip(session.board_images(name).values(), poses, strict=True):
        grey = io.read_image(path)[..., 1]
        size = (board.columns, board.rows)
        found, corners = cv2.findChessboardCornersSB(grey, size, flags=cv2.CALIB_CB_ACCURACY)
        assert found, path
        exact = images_of(transform(board.corners_m(), pose), camera)
        corners = corners.reshape(-1, 2)
        if np.linalg.norm(corners[0] - exact[0]) > np.linalg.norm(corners[0] - exact[-1]):
            corners = corners[::-1]
        misses.append(corners - exact)
    miss = np.concatenate(misses)
    # No shift of the whole picture; single corners of squares of 10 px have noise.
    assert np.abs(np.median(miss, axis=0)).max() < 0.02
    assert np.sqrt((miss**2).mean()) < (0.12 if name == "C" else 0.06)


def test_boards_reach_the_corners_of_the_image(session, truth):
    board = session.board
    poses = board_poses(board, truth.cameras, 15, session.notes["parameters"]["seed"])
    left = truth.cameras["L"]
    all_ = np.concatenate([images_of(transform(board.corners_m(), p), left) for p in poses])
    low, high = all_.min(axis=0) / left.size_px, all_.max(axis=0) / left.size_px
    # What is further left in L is not seen by R.
    assert (low < (0.2, 0.12)).all()
    assert (high > 0.88).all()
    angles = [np.degrees(np.arccos(abs((left.world_from_camera.T @ p)[2, 2]))) for p in poses]
    assert max(angles) > 20
    assert max(angles) < 60


def test_further_poses_fill_the_sides(session, truth):
    board = session.board
    poses = board_poses(board, truth.cameras, 19, session.notes["parameters"]["seed"])[15:]
    for side, name in ((0, "L"), (1, "R")):
        camera = truth.cameras[name]
        seen = [images_of(transform(board.corners_m(), p), camera) for p in poses]
        share = np.concatenate(seen)[:, 0] / camera.size_px[0]
        assert (share.min() < 0.12) if side == 0 else (share.max() > 0.88)


def test_labels_say_what_the_exact_ray_hits(session, truth, rays):
    width, height = truth.cameras["L"].size_px
    y, x = np.mgrid[0:height:3, 0:width:3]
    _, hits = seen_points(truth, rays, "L", np.stack([x.ravel(), y.ravel()], -1))
    for name, of in (("materials", truth.materials), ("surfaces", truth.surfaces)):
        stored = io.read_labels(session.label_file(name))
        assert stored.shape == (height, width)
        assert (stored[y.ravel(), x.ravel()] == of[hits.triangle]).mean() > 0.9999
    materials = io.read_labels(session.label_file("materials"))
    assert set(np.unique(materials)) == {0, 1, 2, 3}
    assert 0.02 < (materials >= 2).mean() < 0.6
    surfaces = io.read_labels(session.label_file("surfaces"))
    assert set(np.unique(surfaces)) == {0, 1, 2}
    assert (materials[surfaces > 0] > 0).all()


def lit_matches(session, truth, rays):
    """Pixels of L inside surfaces, and the positions in R that show the same points."""
    width, height = truth.cameras["L"].size_px
    y, x = np.mgrid[4 : height - 4 : 2, 4 : width - 4 : 2]
    pixels = np.stack([x.ravel(), y.ravel()], -1)
    points, hits = seen_points(truth, rays, "L", pixels)
    there = images_of(points, truth.cameras["R"])
    eye = truth.cameras["R"].world_from_camera[:3, 3]
    inside = ((there > 2) & (there < np.array([width, height]) - 3)).all(axis=1)
    good = inside & rays.sees(eye, points, 1e-3)
    for dx, dy in ((-2, 0), (2, 0), (0, -2), (0, 2)):
        _, near = seen_points(truth, rays, "L", pixels + np.array([dx, dy]))
        good &= truth.objects[near.triangle] == truth.objects[hits.triangle]
    return pixels[good], there[good]


def test_a_point_has_the_same_light_in_both_cameras(session, truth, rays):
    pixels, there = lit_matches(session, truth, rays)
    assert len(pixels) > 5000
    at = there.astype(np.float32)[None]
    agree = []
    for name in session.pattern_images("L"):
        left, right = (linear(io.read_image(session.pattern_images(c)[name])) for c in ("L", "R"))
        one = left[pixels[:, 1], pixels[:, 0]]
        other = cv2.remap(right, at[..., 0], at[..., 1], cv2.INTER_LINEAR)[0] / 0.97
        middle = one.mean(axis=1) > 0.05
        agree.append(np.abs(one - other)[middle] / (one + other)[middle].clip(0.05))
        # Somewhere else the light is another.
        shifted = cv2.remap(right, at[..., 0] + 6, at[..., 1], cv2.INTER_LINEAR)[0] / 0.97
        wrong = np.abs(one - shifted)[middle] / (one + shifted)[middle].clip(0.05)
        assert np.median(wrong) > 3 * np.median(agree[-1])
    assert np.median(np.concatenate(agree)) < 0.05


def test_patterns_are_well_exposed_and_differ(session):
    pictures = [io.read_image(p) for p in session.pattern_images("L").values()]
    for picture in pictures:
        light = linear(picture)
        assert (light.max(axis=2) > 0.98).mean() < 0.06
        assert np.median(light) > 0.03
    first, second = (linear(p).ravel() for p in pictures[:2])
    fine = [p.reshape(pictures[0].shape) for p in (first, second)]
    fine = [(p - cv2.GaussianBlur(p, (0, 0), 8)).ravel() for p in fine]
    # The scene's own texture is in both; the patterns are not.
    assert abs(np.corrcoef(*fine)[0, 1]) < 0.5


def test_passive_images_show_the_geometry_of_the_truth(session, truth, rays):
    """Edges of light lie where edges of depth or material are: the lens was applied rightly."""
    materials = io.read_labels(session.label_file("materials"))
    edge = cv2.morphologyEx(materials.astype(np.uint8), cv2.MORPH_GRADIENT, np.ones((3, 3))) > 0
    grey = linear(io.read_image(session.passive_images("L")["im0"])).mean(axis=2)
    steep = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    inner = (slice(8, -8), slice(8, -8))

    def on_edges(dx, dy):
        moved = np.roll(steep, (dy, dx), axis=(0, 1))
        return float(moved[inner][edge[inner]].mean())

    right = on_edges(0, 0)
    for dx, dy in ((-4, 0), (4, 0), (0, -4), (0, 4)):
        assert right > on_edges(dx, dy)
    assert right > 1.5 * steep[inner].mean()


def test_illuminations_differ(session):
    first, second = (io.read_image(session.passive_images("L")[k]) for k in ("im0", "im1"))
    assert np.abs(first.astype(int) - second).mean() > 4
    for picture in (first, second):
        assert (linear(picture).max(axis=2) > 0.98).mean() < 0.1
        assert 0.05 < linear(picture).mean() < 0.7


# --- making, stopping, continuing ---------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny") / "session"
    write_capture_session(folder, options=TINY)
    return folder


def contents(folder):
    files = sorted(p for p in folder.rglob("*.png"))
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def test_what_is_missing_is_made_again_to_the_byte(tiny, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(tiny, copy)
    (copy / "pattern" / "R" / "001.png").unlink()
    (copy / "calibration" / "C" / "00.png").unlink()
    shutil.rmtree(copy / "labels")
    kept = copy / "pattern" / "L" / "000.png"
    before = kept.stat().st_mtime_ns
    write_capture_session(copy, options=TINY)
    assert contents(copy) == contents(tiny)
    assert kept.stat().st_mtime_ns == before


def test_the_rig_photographs_the_kitchen_of_the_library(tiny):
    """The session's hidden truth is the library's kitchen, and its labels what rays find there."""
    from depthgauge.synth.library.rooms import kitchen
    from depthgauge.synth.render.embree import trace, visible_surfaces

    traced = trace(kitchen(TINY.seed))
    truth = read_simulated(open_session(tiny).truth_folder)
    assert np.array_equal(truth.vertices, traced.mesh.vertices)
    assert np.array_equal(truth.triangles, traced.mesh.triangles)
    seen = visible_surfaces(traced, truth.cameras["L"])
    for name, values in (("materials", traced.categories), ("surfaces", traced.surfaces)):
        written = io.read_image(tiny / "labels" / f"{name}.png")
        assert np.array_equal(written.reshape(seen.depth.shape), values[seen.triangles])


def test_a_killed_session_goes_on(tiny, tmp_path, monkeypatch):
    from depthgauge.synth.sets.capture_session import _painted

    monkeypatch.setattr(_painted, "_BATCH", 160 * 30)  # several bands
    seen = []

    def stop(what, done, whole):
        seen.append(what)
        if what.startswith("patterns in L") and done >= 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_capture_session(tmp_path / "s", options=TINY, progress=stop)
    assert (tmp_path / "s" / ".parts" / "L.raw").is_file()
    done = json.loads((tmp_path / "s" / ".parts" / "L.json").read_text())["bands"]
    assert done > 0
    counted = []
    original = _painted.photographed

    def counting(lighting, camera, side, bands):
        counted.append(len(bands))
        return original(lighting, camera, side, bands)

    monkeypatch.setattr(_painted, "photographed", counting)
    write_capture_session(tmp_path / "s", options=TINY)
    assert counted[0] == counted[1] - done
    assert contents(tmp_path / "s") == contents(tiny)
    assert not list((tmp_path / "s" / ".parts").iterdir())


def test_progress_reaches_the_end(tmp_path):
    steps = []
    write_capture_session(tmp_path / "s", options=TINY, progress=lambda *step: steps.append(step))
    assert steps[-1][1:] == (10, 10)
    assert all(a[1] <= b[1] for a, b in itertools.pairwise(steps))


def test_another_session_is_not_touched_unless_told(tiny, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(tiny, copy)
    other = CaptureOptions(
        width_px=160, patterns=1, poses=2, projectors=2, pattern_side=1, passive=False, seed=4
    )
    with pytest.raises(CannotWrite, match=r"other parameters: patterns 2 \(asked for 1\).*seed 3"):
        write_capture_session(copy, options=other)
    assert contents(copy) == contents(tiny)
    write_capture_session(copy, options=other, overwrite=True)
    assert len(open_session(copy).pattern_images("L")) == 1


def test_foreign_folders_are_refused(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "holiday.jpg").write_bytes(b"x")
    for overwrite in (False, True):
        with pytest.raises(CannotWrite, match="other files"):
            write_capture_session(tmp_path / "a", options=TINY, overwrite=overwrite)
    (tmp_path / "b").mkdir()
    real = {"schema": 1, "board": {"inner_corners": [9, 6], "square_m": 0.03}}
    (tmp_path / "b" / "session.json").write_text(json.dumps(real))
    for overwrite in (False, True):
        with pytest.raises(CannotWrite, match="not made by this command"):
            write_capture_session(tmp_path / "b", options=TINY, overwrite=overwrite)
    assert (tmp_path / "b" / "session.json").is_file()
    (tmp_path / "c").write_text("")
    with pytest.raises(CannotWrite, match="cannot be created"):
        write_capture_session(tmp_path / "c", options=TINY)


def test_two_at_once_are_refused(tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    with only_one(folder / ".lock", ""), pytest.raises(BadData, match="another process"):
        write_capture_session(folder, options=TINY)


@pytest.mark.parametrize(
    ("name", "value"),
    [("width_px", 10), ("patterns", 0), ("projectors", 7), ("seed", -1), ("samples", 0)],
)
def test_bad_options_are_refused(tmp_path, name, value):
    with pytest.raises(Misuse, match=name):
        write_capture_session(tmp_path / "s", **{name: value})
    assert not (tmp_path / "s").exists()


def test_an_unknown_room_is_refused(tmp_path):
    with pytest.raises(Misuse, match="'attic' but must be 'bathroom', 'desk' or 'kitchen'"):
        write_capture_session(tmp_path / "s", scene="attic")
    assert SCENES == ("bathroom", "desk", "kitchen")
