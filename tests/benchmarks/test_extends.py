"""Benchmarks that extend others, and benchmarks on another split."""

import pytest

from depthgauge.benchmarks import BENCHMARKS, find_benchmark, load_protocol, lock
from depthgauge.errors import BadFile, BadProtocol, UnknownName

BASE = """
id = "base"
version = 3
title = "The base"
about = "What it measures."
dataset = "folder"
quantity = "disparity"
pool = "image"
truth_scale = 0.5

[regions]
hard = "glass | metal"

[[scores]]
metric = "mae"
region = ["all", "hard"]
"""


@pytest.fixture
def files(tmp_path):
    """Writes benchmark files and reads the last of them."""

    def written(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.toml").write_text(text)
        return load_protocol(tmp_path / f"{name}.toml")

    return written


def test_a_child_takes_over_what_it_does_not_say(files):
    base = files(base=BASE)
    child = files(child='extends = "base"\nid = "child"\nversion = 1\ntruth_scale = 0.25\n')
    assert (child.id, child.version, child.truth_scale) == ("child", 1, 0.25)
    assert child.title == ""
    assert child.about == base.about
    assert child.score_ids == base.score_ids
    same = files(child='extends = "base"\nid = "base"\nversion = 3\n')
    assert same.hash == base.hash
    assert child.hash != base.hash
    assert "extends" not in child.model_dump()


def test_a_key_replaces_the_whole_key(files):
    files(base=BASE)
    child = files(
        child='extends = "base"\nid = "child"\nversion = 1\n[regions]\neasy = "wood"\n'
        '[[scores]]\nmetric = "rms"\nregion = "easy"\n'
    )
    assert child.regions == {"easy": "wood"}
    assert child.score_ids == ("rms@easy",)


def test_children_of_children_and_registered_bases(files):
    files(base=BASE, middle='extends = "base"\nid = "middle"\nversion = 1\nmissing = "skip"\n')
    last = files(last='extends = "middle"\nid = "last"\nversion = 1\npool = "pixel"\n')
    assert (last.missing, last.pool, last.truth_scale) == ("skip", "pixel", 0.5)
    own = files(own='extends = "middlebury"\nid = "own"\nversion = 1\nsplit = "test"\n')
    assert own.score_ids == BENCHMARKS["middlebury"].score_ids


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ('"bsae"', "extends: there is no benchmark 'bsae'"),
        ('"midlebury"', "Did you mean 'middlebury'"),
        ('"../base"', r"there is no benchmark '\.\./base'"),
        ("3", "extends: is 3 but must be the id of a benchmark"),
        ('"child"', "leads back to itself: child > child"),
        ('"middle"', "leads back to itself: child > middle > child"),
    ],
)
def test_bases_that_are_none(files, name, words):
    with pytest.raises(BadProtocol, match=words):
        files(
            middle='extends = "child"\nid = "middle"\nversion = 1\n',
            child=f'extends = {name}\nid = "child"\nversion = 1\n',
        )


def test_mistakes_of_both_are_reported(files):
    with pytest.raises(BadProtocol) as caught:
        files(base=BASE.replace('"mae"', '"mea"'), child='extends = "base"\npol = "image"\n')
    found = {problem.where for problem in caught.value.problems}
    assert found == {"id", "version", "pol", "scores[0].metric"}
    with pytest.raises(BadFile, match=r"base\.toml: is not TOML"):
        files(base="id = ", child='extends = "base"\nid = "child"\nversion = 1\n')


def test_a_base_that_changes_needs_new_versions_of_its_children():
    locked = lock.read_lock()
    for name in ("booster-balanced", "booster-balanced-half", "booster-mono-metric"):
        assert locked[name]["1"] == BENCHMARKS[name].hash


def test_another_split_is_another_protocol(tmp_path):
    plain, train = find_benchmark("booster-balanced"), find_benchmark("booster-balanced@train")
    assert (plain.split, train.split, train.id) == ("test-stereo", "train", plain.id)
    assert plain.hash != train.hash
    path = tmp_path / "a@b" / "mine.toml"
    path.parent.mkdir()
    path.write_text('extends = "booster-mono"\nid = "mine"\nversion = 1\n')
    assert find_benchmark(path).split == "test-mono"
    assert find_benchmark(f"{path}@train").split == "train"


def test_splits_that_are_none():
    with pytest.raises(UnknownName, match=r"no booster split 'trian'.*Did you mean 'train'"):
        find_benchmark("booster-balanced@trian")
    with pytest.raises(UnknownName, match="boster-balanced"):
        find_benchmark("boster-balanced@train")
    with pytest.raises(UnknownName, match="no booster-unbalanced split 'test-mono'"):
        find_benchmark("booster-unbalanced@test-mono")
