"""Step tags end to end on a drawn session: correspondences, checks, bad input, export."""

import shutil

import cv2
import numpy as np
import pytest
from tests.capture.tags.drawn import NOTES, POSES, exact_truth

from depthgauge import io
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.tags import capture_tags, export_tags, read_points
from depthgauge.capture.tags.stillness import compare_pictures
from depthgauge.capture.tags.truth import compare_with_truth
from depthgauge.datasets import layeredflow
from depthgauge.errors import BadData, UnknownName
from depthgauge.report.capture.tags_page import draw_objects, write_tags_page
from depthgauge.sessions import open_session
from depthgauge.sessions.tags import (
    TagSessionTruth,
    read_annotations,
    tag_bitmap,
    write_annotations,
)


@pytest.fixture
def copied(drawn, done, tmp_path):
    """A copy that may be damaged; calibration and rectification are done."""
    shutil.copytree(drawn.folder, tmp_path / "session")
    return open_session(tmp_path / "session")


def run(session, **options):
    return capture_tags(session, session.folder / "work", board_pairs=POSES, **options)


def object_folder(session, name="jar"):
    return session.folder / "objects" / name


def test_correspondences_are_exact(done):
    (jar,) = done.objects
    assert not done.failed
    assert jar.truth["all"]["correspondences"] > 150
    for kind in ("flow", "stereo"):
        assert jar.truth[kind]["median_px"] < 0.1
        assert jar.truth[kind]["p95_px"] < 0.3
    # 0.05 px of disparity at 1.1 m and 7 cm are 2 mm; the calibration of 10 small boards adds some.
    assert jar.truth["position"]["median_mm"] < 5


def test_what_is_said_about_an_object(done):
    (jar,) = done.objects
    figures = jar.step.figures
    assert figures["tags"] == 13
    assert figures["correspondences"]["flow left"] == 44
    assert figures["points"]["flow"]["transparent"] == 24
    assert figures["rows"]["excluded"] == 0
    assert figures["rows"]["mean_px"] < 0.1
    assert {one["verdict"] for one in figures["still"].values()} == {"still"}
    assert min(one["details"] for one in figures["still"].values()) > 200
    (said,) = jar.step.warnings
    assert said == "jar: annotated tags were not found: 29, 30", "the card hides them"


def test_done_objects_are_not_done_again(drawn, done):
    (jar,) = run(drawn).objects
    assert not jar.step.fresh
    assert run(drawn, names=["jar"]).objects[0].step.key == jar.step.key
    with pytest.raises(UnknownName, match="no object 'jarr'"):
        run(drawn, names=["jarr"])


def test_glass_is_counted_apart(drawn, done):
    points = read_points(done.objects[0].step.folder)
    truth = exact_truth()
    views = [(time, camera) for time in (1, 2) for camera in (0, 1)]
    for tag in truth.tags:
        if tag.identity >= 300:
            tag.glass.update(dict.fromkeys(views, 2))
            tag.corners_px[1, 0][:] += (3.0, 4.0)  # 5 px beside what was found
    found = compare_with_truth(points, truth, read_pair(done.work, "LR"))
    assert found["behind_glass"]["correspondences"] == 48
    assert found["behind_glass"]["largest_px"] == pytest.approx(5.0, abs=0.8)
    assert found["in_front_of_glass"]["largest_px"] < 0.5
    assert found["tags"]["behind_glass"] == {"shown": 12, "not_found": 0, "excluded": 0, "kept": 12}
    fewer = TagSessionTruth(truth.cameras, [tag for tag in truth.tags if tag.identity != 300])
    found = compare_with_truth(points, fewer, read_pair(done.work, "LR"))
    assert found["unknown_identities"] == [300]


def test_bad_objects_are_named_and_the_others_go_on(copied):
    jar = object_folder(copied)
    for name in ("empty", "missing", "small", "single", "torn", "twice"):
        shutil.copytree(jar, object_folder(copied, name))
    for time in (1, 2):
        for camera in (0, 1):
            plain = object_folder(copied, "empty") / f"{0 if time == 1 else 3}_{camera}.png"
            shutil.copy(plain, object_folder(copied, "empty") / f"{time}_{camera}.png")
            if (time, camera) != (1, 0):
                shutil.copy(plain, object_folder(copied, "single") / f"{time}_{camera}.png")
    (object_folder(copied, "missing") / "3_1.png").unlink()
    (object_folder(copied, "missing") / "2_0.png").unlink()
    io.write_image(object_folder(copied, "small") / "0_0.png", np.zeros((30, 40, 3), np.uint8))
    shutil.copy(jar / "0_0.png", object_folder(copied, "twice") / "0_0.ppm")
    (object_folder(copied, "torn") / "annotations.toml").write_text("schema = 1\n[tags.x]\n")
    found = run(copied)
    assert [one.name for one in found.objects] == ["jar"]
    words = {
        "empty": "no tag of the family tag36h11 was found",
        "missing": "the photographs 2_0, 3_1 are missing",
        "single": "none by both cameras or at both times",
        "small": "the image is 40x30 but the camera was calibrated at 400x300",
        "torn": "an identity is a whole number",
        "twice": "another file shows the same view, 0_0; keep one of them",
    }
    assert set(found.failed) == set(words)
    for name, text in words.items():
        assert text in found.failed[name]
        assert str(object_folder(copied, name)) in found.failed[name]
        assert "\n" not in found.failed[name]


def test_objects_that_were_done_before_stay_on_the_page(copied):
    shutil.copytree(object_folder(copied), object_folder(copied, "bowl"))
    assert not any("LC" in text for text in run(copied).warnings)  # nobody misses camera C here
    found = run(copied, names=["jar"])
    assert [one.name for one in found.objects] == ["jar"]
    assert [one.name for one in found.earlier] == ["bowl"]
    draw_objects(found)
    page = write_tags_page(found, "session").read_text(encoding="utf-8")
    assert "2 objects with" in page
    shutil.rmtree(found.work / "tags" / "bowl")
    assert run(copied, names=["jar"]).earlier == []


def test_an_identity_twice_is_left_out(copied):
    path = object_folder(copied) / "1_0.png"
    image = io.read_image(path)
    image[20:70, 20:70] = np.kron(tag_bitmap(23), np.ones((5, 5), np.uint8))[..., None]
    io.write_image(path, image)
    (jar,) = run(copied).objects
    points = read_points(jar.step.folder)
    assert points.repeated == {23: [(1, 0)]}
    assert 23 not in {tag.identity for tag in points.tags}
    assert any("identities occur twice in a photograph" in text for text in jar.step.warnings)


def test_a_template_is_written_for_tags_without_annotation(copied):
    path = object_folder(copied) / "annotations.toml"
    path.unlink()
    (jar,) = run(copied).objects
    assert any("there is no annotations.toml" in text for text in jar.step.warnings)
    assert set(jar.step.figures["correspondences"].values()) == {0}
    template = read_annotations(jar.step.folder / "annotations.toml")
    assert set(template) == {tag.identity for tag in read_points(jar.step.folder).tags}
    assert not any(note.filled_in for note in template.values())
    failed = export_tags(copied.folder / "work", ["jar"], copied.folder / "out").failed
    assert "no corner is annotated" in failed["jar"]
    write_annotations(path, {20: NOTES[20], 300: NOTES[300]})
    (jar,) = run(copied).objects
    assert jar.step.fresh
    assert jar.step.figures["correspondences"]["flow left"] == 8
    assert any("tags without material and layer are left out" in t for t in jar.step.warnings)
    assert any("usually 20 to 500: flow left 8" in text for text in jar.step.warnings)
    template = read_annotations(jar.step.folder / "annotations.toml")
    assert template[20] == NOTES[20]
    assert not template[21].filled_in


def test_too_few_boards_are_refused(drawn, tmp_path):
    with pytest.raises(
        BadData, match=r"10 pairs of photographs .* 40 are needed.*--board-pairs 10"
    ):
        capture_tags(drawn, tmp_path / "work")


def test_what_moved_while_tags_were_put_on_is_noticed(copied):
    path = object_folder(copied) / "0_1.png"
    image = io.read_image(path)
    image[200:, :120] = np.roll(image[200:, :120], 3, axis=1)
    io.write_image(path, image)
    (jar,) = run(copied).objects
    still = {name: one["verdict"] for name, one in jar.step.figures["still"].items()}
    assert still.pop("before right") == "moved"
    assert set(still.values()) == {"still"}
    assert any("something moved" in text and "before right" in text for text in jar.step.warnings)


def test_stillness_by_hand():
    rng = np.random.default_rng(3)
    noise = cv2.GaussianBlur(rng.uniform(0, 255, (120, 160)), (0, 0), 1.5)
    plain = np.clip(4 * (noise - 128) + 128, 0, 255).astype(np.uint8)
    moved = np.roll(plain, 2, axis=0)
    found = compare_pictures(plain, moved, [], limit_px=1.0)
    assert found.verdict == "moved"
    np.testing.assert_allclose(np.median(found.moved, axis=0), [0, 2], atol=0.05)
    assert compare_pictures(plain, moved, [], limit_px=3.0).verdict == "still"
    everywhere = np.array([[160.0, 0.0], [0.0, 0.0], [0.0, 120.0], [160.0, 120.0]])
    assert compare_pictures(plain, moved, [everywhere], limit_px=1).verdict == "cannot be told"
    flat = np.full((120, 160), 90, np.uint8)
    assert compare_pictures(flat, flat, [], limit_px=1.0).figures()["median_px"] is None


def test_the_export_is_read_back(drawn, done, tmp_path):
    made = export_tags(drawn.folder / "work", ["jar"], tmp_path)
    assert (made.scenes, made.failed) == (("jar",), {})
    points = read_points(done.objects[0].step.folder)
    left, right = layeredflow.samples(tmp_path, "val", pairs="flow", reduce=1)
    assert (left.id, right.id) == ("jar_0", "jar_1")
    flow = left.truth["layered_flow"]
    assert flow.shape == (4, 300, 400, 2)
    assert np.isfinite(flow[..., 0]).sum(axis=(1, 2)).tolist() == [12, 32, 0, 0]
    pair = points.pairs("flow left")[0]
    column, row = np.floor(pair.first + 0.5).astype(int)
    np.testing.assert_allclose(flow[1, row, column], pair.second - pair.first, atol=1e-4)
    before, _ = layeredflow.samples(tmp_path, "val", pairs="stereo", reduce=1)
    depth = before.truth["layered_depth"]
    known = np.isfinite(depth)
    assert known.sum() == 48
    np.testing.assert_allclose(depth[1][known[1]], 1.1, atol=0.06)
    (motion,) = layeredflow.samples(tmp_path, "val", pairs="scene_flow", reduce=1)
    assert np.isfinite(motion.truth["layered_scene_flow"]).any()
    again = export_tags(drawn.folder / "work", ["jar"], tmp_path)
    assert "holds a scene already" in again.failed["jar"]
    assert export_tags(drawn.folder / "work", ["jar"], tmp_path, overwrite=True).scenes == ("jar",)


def test_a_test_split_has_no_truth(drawn, done, tmp_path):
    export_tags(drawn.folder / "work", ["jar"], tmp_path, split="test")
    assert not (tmp_path / "test" / "jar" / "gt.pickle").exists()
    assert (tmp_path / "calib" / "jar.json").is_file()
    sample = next(iter(layeredflow.samples(tmp_path, "test")))
    assert sample.truth is None


def test_the_truth_of_a_test_split_goes_to_a_folder_of_its_own(drawn, done, tmp_path):
    out, kept = tmp_path / "out", tmp_path / "kept"
    export_tags(drawn.folder / "work", ["jar"], out, split="test", with_truth=kept)
    assert not (out / "test" / "jar" / "gt.pickle").exists()
    hidden, public = (next(iter(layeredflow.samples(root, "test"))) for root in (kept, out))
    assert hidden.truth is not None
    assert public.truth is None
    more = {"split": "test", "with_truth": kept}
    failed = export_tags(drawn.folder / "work", ["jar"], tmp_path / "new", **more).failed
    assert "kept/test/jar: holds a scene already" in failed["jar"]
    assert not (tmp_path / "new").exists()
