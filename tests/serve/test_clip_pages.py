"""Clips on pages: some frames of inputs, truth and estimates, which readers step through."""

import io
import re
import zipfile

import numpy as np
import pytest
from PIL import Image
from tests.serve.exhibiting import draw_all, score_and_publish
from tests.serve.tiny import npy, sha256

from depthgauge.benchmarks import make_protocol
from depthgauge.datasets import manifest_folder
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Rules
from depthgauge.io.text import parse_toml
from depthgauge.serve.exhibits import queue
from depthgauge.serve.exhibits.clips import MOST_FRAMES, keep_scene_clip, shown_frames
from depthgauge.serve.exhibits.files import Folder
from depthgauge.serve.submissions import intake
from depthgauge.serve.submissions.registry import add_benchmark
from depthgauge.types import Frames, Inputs, Sample, Truth
from depthgauge.types.samples import frame_name

LENGTH, SIZE = 21, (24, 32)
TOML = """
id = "clips"
version = 1
title = "Clips"
dataset = "depthgauge"
quantity = "view"
missing = "bad"
pool = "image"
[[scores]]
metric = "mae"
"""


def view(index, shift=0.0):
    """Grey that gets lighter from frame to frame."""
    return np.full((*SIZE, 3), 0.1 + 0.03 * index + shift, np.float32)


def picture(index):
    return np.rint(255 * view(index)).astype(np.uint8)


def walk():
    images = Frames([lambda i=i: picture(i) for i in range(LENGTH)])
    truth = Frames([lambda i=i: view(i) for i in range(LENGTH)])
    return Sample("walk", Inputs({"left_image": images}), Truth({"view": truth}))


@pytest.fixture
def clips(site, database, tmp_path):
    samples = [
        walk(),
        Sample("still", Inputs({"left_image": picture(0)}), Truth({"view": view(0)})),
    ]
    manifest_folder.write(tmp_path / "data", samples, id="clips", title="Clips", licence="CC0-1.0")
    (tmp_path / "clips.toml").write_text(TOML)
    return add_benchmark(site, database, str(tmp_path / "clips.toml"), tmp_path / "data")


def archive(shift, frames=LENGTH):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("still/view.npy", npy(view(0, shift)))
        for index in range(frames):
            made.writestr(f"walk/{frame_name(index)}/view.npy", npy(view(index, shift)))
    return file.getvalue()


def send(site, database, user, method, content):
    upload = intake.begin_upload(site, database, user, "clips", len(content), sha256(content))
    with database.begin() as session:
        row = intake.find_upload(session, user, upload)
    intake.append(site, row, 0, content)
    return intake.submit(site, database, user, upload, intake.Entry(method))


def test_frames_are_spread_over_a_clip():
    assert shown_frames(1) == [0]
    for length in range(2, 200):
        found = shown_frames(length)
        assert len(set(found)) == len(found) == min(length, MOST_FRAMES)
        assert (found[0], found[-1]) == (0, length - 1)
        assert max(np.diff(found)) - min(np.diff(found)) <= 1


def test_a_clip_is_kept_without_its_truth_where_that_is_hidden(tmp_path):
    protocol = make_protocol(parse_toml(TOML), "test")
    sample = walk()
    judge = Judge(Rules.of(protocol, [sample]), with_hashes=False)
    for given, kinds in ((judge, ["left_image", "truth"]), (None, ["left_image"])):
        found = keep_scene_clip(protocol, sample, given, Folder(tmp_path, "0", 1e6))
        assert [each["frame"] for each in found] == shown_frames(LENGTH)
        assert all([one["kind"] for one in each["pictures"]] == kinds for each in found)
        assert (tmp_path / found[-1]["pictures"][0]["file"]).is_file()


@pytest.mark.long
def test_readers_step_through_the_frames_of_a_clip(site, database, clips, add_user, client):
    ann = add_user(admin=True)
    ids = []
    for method, shift in (("lighter", 0.05), ("darker", -0.05)):
        sent = send(site, database, ann, method, archive(shift))
        ids.append(score_and_publish(site, database, sent, ann))
    indices, read = draw_all(site, database)
    scenes = queue.of_benchmark("clips")
    still, walk = indices[scenes]["samples"]
    assert still["clip"] == []
    wanted = shown_frames(LENGTH)
    assert [each["frame"] for each in walk["clip"]] == wanted
    assert [[one["kind"] for one in each["pictures"]] for each in walk["clip"]] == [
        ["left_image", "truth"]
    ] * len(wanted)
    for subject, kind, shift in (
        (scenes, "truth", 0),
        (queue.of_submission(ids[0]), "estimate", 0.05),
        (queue.of_submission(ids[1]), "estimate", -0.05),
    ):
        for each in indices[subject]["samples"][1]["clip"]:
            file = next(one["file"] for one in each["pictures"] if one["kind"] == kind)
            grey = np.asarray(Image.open(io.BytesIO(read(subject, file))).convert("L"))
            expected = 255 * (0.1 + 0.03 * each["frame"] + shift)
            assert abs(float(grey.mean()) - expected) < 3, (kind, each["frame"])

    sample = client.get("/benchmarks/clips/samples/walk").text
    assert f"{len(wanted)} of its frames" in sample
    assert "The clip" not in client.get("/benchmarks/clips/samples/still").text
    compare = client.get(
        f"/benchmarks/clips/compare?method={ids[0]}&method={ids[1]}&sample=walk"
    ).text
    method = client.get(f"/benchmarks/clips/methods/{ids[0]}?sample=walk").text
    for page, count in ((sample, 2), (compare, 3), (method, 1)):
        stops = re.findall(r'type="radio" name="clip" value="(\d+)"', page)
        assert stops == [str(number) for number in wanted]
        frames = [one for one in re.findall(r'<img[^>]*src="([^"]*/frame-[^"]*)"', page)]
        assert len(frames) == count * len(wanted)
        assert all(client.get(one).status_code == 200 for one in frames)
    last = compare.partition('name="clip" value="20"')[2]
    captions = re.findall(r"<figcaption>(\w+)</figcaption>", last)
    assert captions[:3] == ["truth", "lighter", "darker"]
