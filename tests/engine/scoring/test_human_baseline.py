"""Human performance: the mean of what people score, each on the pictures that they annotated."""

import json
import math

import numpy as np
import pytest

from depthgauge.datasets import oasis
from depthgauge.engine.scoring.evaluate import evaluate
from depthgauge.engine.scoring.human_baseline import human_performance
from depthgauge.errors import BadData, Misuse, NothingScored
from depthgauge.types import Camera, Estimate, Inputs, Sample, Truth

H, W = 20, 30


def facing(degrees):
    """Normals that lean so far from the viewer."""
    angle = math.radians(degrees)
    normal = np.float32([math.sin(angle), 0, -math.cos(angle)])
    return np.array(np.broadcast_to(normal, (H, W, 3)))


@pytest.fixture
def data(tmp_path):
    def sample(name):
        labels = np.ones((H, W), np.int32)
        truth = {"normals": facing(0), "smooth_labels": labels, "roi_mask": labels > 0}
        truth["camera"] = Camera((40.0, 40.0), (W / 2, H / 2), (W, H))
        return Sample(name, Inputs({"left_image": np.zeros((H, W, 3), np.uint8)}), Truth(truth))

    oasis.write(tmp_path / "data", [sample(name) for name in ("one", "two", "three")])
    return tmp_path / "data"


def person(folder, leans):
    for name, degrees in leans.items():
        oasis.write_estimate(folder, name, Estimate(facing(degrees), "normals"))
    return folder


def test_the_mean_over_people_of_their_own_pictures(data, tmp_path):
    anna = person(tmp_path / "humans" / "anna", {"one": 10, "two": 20, "three": 30})
    ben = person(tmp_path / "humans" / "ben", {"one": 5, "three": 7})
    steps = []
    found = human_performance(
        "oasis-normals", data, [anna, ben], progress=lambda *step: steps.append(step)
    )
    score = found.scores["mean"]
    assert score.values == pytest.approx({"anna": 20, "ben": 6}, abs=1e-3)
    assert score.mean == pytest.approx(13, abs=1e-3)
    assert score.standard_error == pytest.approx(7, abs=1e-3)
    assert found.samples == {"anna": 3, "ben": 2}
    assert steps == [("anna", 1, 2), ("ben", 2, 2)]
    alone = evaluate("oasis-normals", data, anna)
    assert {n: s.values["anna"] for n, s in found.scores.items()} == {
        n: s.value for n, s in alone.summary.items()
    }


def test_a_folder_of_people_stands_for_them(data, tmp_path):
    for n in range(3):
        person(tmp_path / "humans" / str(n), {"one": 10 * n})
    whole = human_performance("oasis-normals", data, [tmp_path / "humans"])
    assert list(whole.samples) == ["0", "1", "2"]
    assert whole.scores["mean"].mean == pytest.approx(10, abs=1e-3)


def test_one_person_has_no_error_and_json_is_strict(data, tmp_path):
    found = human_performance("oasis-normals", data, [person(tmp_path / "a", {"one": 10})])
    assert math.isnan(found.scores["mean"].standard_error)
    body = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert body["summary"]["mean"]["standard_error"] is None
    assert body["people"] == {"a": 1}
    assert body["protocol_hash"] == found.protocol.hash


def test_folders_of_one_name_are_told_apart(data, tmp_path):
    folders = [person(tmp_path / n / "normals-of", {"one": 10}) for n in ("a", "b")]
    found = human_performance("oasis-normals", data, folders)
    assert list(found.samples) == ["a/normals-of", "b/normals-of"]


def test_wrong_folders(data, tmp_path):
    anna = person(tmp_path / "anna", {"one": 10})
    with pytest.raises(Misuse, match="at least one"):
        human_performance("oasis-normals", data, [])
    with pytest.raises(Misuse, match="twice"):
        human_performance("oasis-normals", data, [anna, anna])
    with pytest.raises(BadData, match="no such folder"):
        human_performance("oasis-normals", data, [tmp_path / "nobody"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingScored, match="no estimate of normals"):
        human_performance("oasis-normals", data, [anna, tmp_path / "empty"])
