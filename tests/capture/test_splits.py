from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depthgauge.capture.splits import (
    SceneCounts,
    assign_splits,
    count_scene,
    default_sizes,
    distances_between,
)
from depthgauge.errors import BadData, Misuse
from depthgauge.report.capture.distributions import draw


def scenes(count, seed=0):
    chance = np.random.default_rng(seed)
    made = []
    for n in range(count):
        materials = (1e5 * chance.dirichlet([3, 1, 0.4, 0.3])).astype(np.int64)
        values = chance.normal(chance.uniform(20, 90), 8, 4000).clip(0, 127)
        disparities = np.bincount(values.astype(np.int64), minlength=128)
        made.append(SceneCounts(f"scene {n:02d}", materials, disparities))
    return made


def reference_distance(one, two):
    """From the definition, one histogram at a time."""

    def shares(group, name):
        total = np.sum([getattr(s, name) for s in group], axis=0)
        return total / total.sum()

    materials = [shares(group, "materials") for group in (one, two)]
    rising = [np.cumsum(shares(group, "disparities")) for group in (one, two)]
    return {
        "materials": 0.5 * np.abs(materials[0] - materials[1]).sum(),
        "disparities": np.abs(rising[0] - rising[1]).max(),
    }


def test_counts_by_hand():
    disparity = np.array([[0.5, 1.2, 1.9], [7.0, np.nan, 0.0]], np.float32)
    materials = np.array([[0, 1, 1], [3, 3, 3]])
    found = count_scene("a", disparity, materials)
    assert found.materials.tolist() == [1, 2, 0, 1]
    assert found.disparities.tolist() == [1, 2, 0, 0, 0, 0, 0, 1]
    assert count_scene("a", disparity).materials.tolist() == [0, 0, 0, 0]
    with pytest.raises(BadData, match=r"materials must be 0\.\.3, found 9"):
        count_scene("a", disparity, materials * 3)


def test_boosters_sizes():
    assert default_sizes(85) == {"train": 38, "test-stereo": 26, "test-mono": 21}
    with pytest.raises(Misuse, match="3 splits need at least as many scenes, found 2"):
        default_sizes(2)


@given(st.integers(3, 400))
def test_sizes_add_up(count):
    sizes = default_sizes(count)
    assert sum(sizes.values()) == count
    assert min(sizes.values()) >= 1
    for split, share in (("train", 38), ("test-stereo", 26), ("test-mono", 21)):
        assert abs(sizes[split] - count * share / 85) <= 1


def test_splits_are_far_more_alike_than_chance():
    given_scenes = scenes(30)
    found = assign_splits(given_scenes)
    assert {split: len(names) for split, names in found.scenes.items()} == default_sizes(30)
    by_name = {scene.name: scene for scene in given_scenes}
    groups = [[by_name[name] for name in names] for names in found.scenes.values()]
    assert sorted(scene.name for group in groups for scene in group) == sorted(by_name)
    largest = {
        kind: max(reference_distance(a, b)[kind] for a, b in combinations(groups, 2))
        for kind in ("materials", "disparities")
    }
    assert found.distances == pytest.approx(largest)
    chance = np.random.default_rng(1)
    sizes = np.cumsum([0, *default_sizes(30).values()])
    drawn = []
    for _ in range(40):
        mixed = [given_scenes[n] for n in chance.permutation(30)]
        parts = [mixed[a:b] for a, b in pairwise(sizes)]
        drawn.append(max(max(reference_distance(a, b).values()) for a, b in combinations(parts, 2)))
    assert max(largest.values()) < 0.5 * min(drawn)


@settings(max_examples=5)
@given(st.permutations(range(9)))
def test_the_order_of_scenes_does_not_matter(order):
    given_scenes = scenes(9, seed=4)
    expected = assign_splits(given_scenes, seed=3)
    assert assign_splits([given_scenes[n] for n in order], seed=3) == expected


def test_a_small_case_is_solved_best():
    """All ways to share six scenes out 3, 2, 1 are tried."""
    given_scenes = scenes(6, seed=2)
    sizes = {"train": 3, "test-stereo": 2, "test-mono": 1}
    found = assign_splits(given_scenes, sizes)
    best = np.inf
    for first in combinations(range(6), 3):
        rest = [n for n in range(6) if n not in first]
        for second in combinations(rest, 2):
            third = [n for n in rest if n not in second]
            parts = [[given_scenes[n] for n in part] for part in (first, second, third)]
            worst = max(max(reference_distance(a, b).values()) for a, b in combinations(parts, 2))
            best = min(best, worst)
    assert max(found.distances.values()) == pytest.approx(best, rel=0.05)


def test_distances_are_between_0_and_1():
    one, two = scenes(2)
    assert distances_between([one], [one]) == {"materials": 0.0, "disparities": 0.0}
    apart = distances_between([one], [two])
    assert apart == pytest.approx(reference_distance([one], [two]))
    near = SceneCounts("near", np.array([0, 0, 0, 5]), np.array([0, 0, 0, 7]))
    far = SceneCounts("far", np.array([5, 0, 0, 0]), np.array([7]))
    assert distances_between([near], [far]) == {"materials": 1.0, "disparities": 1.0}


def test_bad_sizes_and_names_are_refused():
    three = scenes(3)
    with pytest.raises(Misuse, match="add up to the 3 scenes, found a 1, b 1"):
        assign_splits(three, {"a": 1, "b": 1})
    with pytest.raises(Misuse, match="two scenes have the name 'scene 00'"):
        assign_splits([three[0], *three])


def test_one_file_tells_all():
    found = assign_splits(scenes(5), {"train": 3, "test": 2}, seed=9).to_json()
    assert found["seed"] == 9
    assert len(found["scenes"]["train"]) == 3
    assert set(found["largest_distance"]) == {"materials", "disparities"}


def test_the_picture_of_a_single_split(tmp_path):
    assert draw({"train": scenes(2)}, tmp_path / "one.png").stat().st_size > 10_000
