"""Scores by tags: means of the tagged samples, and regions that a run did not have."""

import math

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.analysis.tagged.strata import hardest, strata_table, tags_of
from depthgauge.datasets.tags import Tags
from depthgauge.errors import Misuse, UnknownName
from depthgauge.io import write_image


def test_values_are_means_over_the_samples_with_a_tag(build):
    run = build.from_values({"x": {"a": 1.0, "b": 3.0, "c": 8.0}, "y": {"a": 2, "b": 2, "c": 2}})
    tags = Tags("t", {"a": {"sky": ("rain",)}, "b": {"sky": ("rain", "fog")}})
    found = strata_table(run, tags)
    values = {s.tag: s.values["x"].value for s in found.strata}
    assert values == {"rain": 2, "fog": 3, "(none)": 8}
    assert found.all.values["x"].value == 4
    assert {s.tag: (s.samples, s.share) for s in found.strata}["rain"] == (2, pytest.approx(2 / 3))
    # Student's t with one degree of freedom: 12.706 times the deviation of the mean, 1.
    assert found.strata[1].values["x"].half == pytest.approx(12.7062, abs=1e-3)
    assert {label: s.tag for label, s in hardest(found)}["x"] == "(none)"
    assert found.to_json()["strata"][0]["tag"] == "fog"


def test_what_no_sample_has_is_refused(build):
    run = build.from_values({"x": {"a": 1.0}})
    with pytest.raises(Misuse, match=r"no tag belongs .* no sample is called b"):
        strata_table(run, Tags("t", {"b": {"sky": ("rain",)}}))
    with pytest.raises(UnknownName, match="no score 'rms@all'"):
        strata_table(run, Tags("t", {"a": {"sky": ("rain",)}}), "rms@all")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two methods on two samples, with pictures; one method is wrong where the picture is dark."""
    root = tmp_path_factory.mktemp("tagged")
    data, rng = root / "data", np.random.default_rng(1)
    for name in ("truth", "left", "masks/glass"):
        (data / name).mkdir(parents=True)
    for method in ("even", "uneven"):
        (root / method).mkdir()
    for name in ("a", "b"):
        truth = rng.uniform(5, 40, (20, 30)).astype(np.float32)
        glass = np.zeros(truth.shape, bool)
        glass[:, : 10 if name == "a" else 0] = True
        dg.write_map(data / "truth" / f"{name}.pfm", truth)
        write_image(data / "left" / f"{name}.png", rng.integers(0, 256, truth.shape, np.uint8))
        write_image(data / "masks/glass" / f"{name}.png", glass)
        dg.write_map(root / "even" / f"{name}.pfm", truth + 0.5)
        dg.write_map(root / "uneven" / f"{name}.pfm", truth + np.where(glass, 5, 0.1))
    (data / "tags.toml").write_text(
        '[samples.a]\nroom = "kitchen"\n[regions]\nwindow = "glass"\nmirror = "near:1000"\n'
        'moon = "glass &"\n'
    )
    done = dg.score_folders(
        data, {n: root / n for n in ("even", "uneven")}, "mae", out=root / "run"
    ).run
    return done, data


def test_regions_are_scored_from_stored_estimates(run):
    done, data = run
    tags = tags_of(done, [], data)
    found = strata_table(done, tags)
    by_tag = {s.tag: s for s in found.strata}
    assert by_tag["kitchen"].values["even"].value == pytest.approx(0.5, abs=1e-5)
    window = by_tag["window"]
    assert window.values["uneven"].value == pytest.approx(5, abs=1e-5)
    assert window.values["even"].value == pytest.approx(0.5, abs=1e-5)
    assert (window.kind, window.samples) == ("pixels", 1)
    assert window.share == pytest.approx(200 / 1200)
    notes = " ".join(found.notes)
    assert "no sample has pixels of 'mirror'" in notes
    assert "'moon' (glass &) cannot be computed" in notes
    assert all(math.isfinite(v.value) for v in window.values.values())


def test_a_region_that_does_not_exist_is_named(run):
    done, data = run
    with pytest.raises(UnknownName, match=r"no region 'crater'.*This data has glass"):
        strata_table(done, Tags("t", regions={"moon": "crater"}), data=data)


def test_hazards_need_no_file(run):
    done, data = run
    found = strata_table(done, tags_of(done, ["hazards"]), data=data)
    assert "no texture" in {s.tag for s in found.strata} or found.notes


def test_two_files_must_not_say_the_same(run, tmp_path):
    done, _ = run
    for name in ("x.csv", "y.csv"):
        (tmp_path / name).write_text("sample,room\na,kitchen\n")
    with pytest.raises(Misuse, match="'room' is in another file"):
        tags_of(done, [tmp_path / "x.csv", tmp_path / "y.csv"])
    (tmp_path / "y.csv").write_text("sample,light\na,dim\n")
    both = tags_of(done, [tmp_path / "x.csv", tmp_path / "y.csv"])
    assert both.kinds == ("room", "light")
