"""Relative normals: exact, nearest, and honest about what contradicts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from depthgauge.annotate.reconstruct.relations import consistent_normals, faces_away
from depthgauge.annotate.records.annotation import Relation


def unit(*values):
    vector = np.array(values, float)
    return tuple((vector / np.linalg.norm(vector)).tolist())


def facing(rng, spread=0.9):
    return unit(rng.uniform(-spread, spread), rng.uniform(-spread, spread), -1.0)


def change(before, after):
    """What is made least: the sum of squared differences of unit vectors."""
    return sum(np.sum((np.array(before[n]) - np.array(after[n])) ** 2) for n in before)


def residual(normals, relations):
    worst = 0.0
    for r in relations:
        a, b = np.array(normals[r.first]), np.array(normals[r.second])
        if r.kind == "parallel":
            worst = max(worst, float(np.linalg.norm(np.cross(a, b))))
        elif r.kind == "orthogonal":
            worst = max(worst, abs(float(a @ b)))
    return worst


def orthogonal(*pairs):
    return [Relation(a, b, "orthogonal") for a, b in pairs]


def parallel(*pairs):
    return [Relation(a, b, "parallel") for a, b in pairs]


def test_two_orthogonal_planes_share_the_turn():
    """80 degrees between them: each turns by 5, in their common plane."""
    angle = np.radians(40)
    given_ = {"a": (np.sin(angle), 0.0, -np.cos(angle)), "b": (-np.sin(angle), 0.0, -np.cos(angle))}
    turned = consistent_normals(given_, orthogonal(("a", "b"))).normals
    half = np.sqrt(0.5)
    assert turned["a"] == pytest.approx((half, 0.0, -half), abs=1e-12)
    assert turned["b"] == pytest.approx((-half, 0.0, -half), abs=1e-12)


def test_parallel_planes_meet_in_their_mean_direction():
    normals = {"a": unit(1, 0, -2), "b": unit(0, 1, -2), "c": unit(-1, 0, -2)}
    turned = consistent_normals(normals, parallel(("a", "b"), ("b", "c"))).normals
    mean = unit(*np.sum([normals[n] for n in "abc"], axis=0))
    assert turned["a"] == turned["b"] == turned["c"]
    assert turned["a"] == pytest.approx(mean, abs=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_three_orthogonal_planes_are_the_procrustes_solution(seed):
    rng = np.random.default_rng(seed)
    # Near a real corner of a room, so that nothing has to turn away.
    corner = np.array([unit(1, 0.2, -1), unit(-1, 0.1, -1), unit(0, -1, -0.5)])
    rows = corner + 0.15 * rng.standard_normal((3, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    left, _, right = np.linalg.svd(rows)
    expected = left @ right
    assert (expected[:, 2] < 0).all()
    normals = {name: tuple(row) for name, row in zip("abc", rows.tolist(), strict=True)}
    turned = consistent_normals(normals, orthogonal(("a", "b"), ("b", "c"), ("a", "c"))).normals
    np.testing.assert_allclose([turned[n] for n in "abc"], expected, atol=1e-10)


def brute_force(normals, relations, rays=None):
    """Penalised minimisation from many places; independent of the solver."""
    names = list(normals)
    target = np.array([normals[n] for n in names])

    def unpacked(x):
        q = x.reshape(-1, 3)
        return q / np.linalg.norm(q, axis=1, keepdims=True)

    def dots(x):
        q = unpacked(x)
        return np.array([q[names.index(r.first)] @ q[names.index(r.second)] for r in relations])

    def seen(x):
        q = unpacked(x)
        return np.array([-q[names.index(n)] @ np.array(ray) for n, ray in (rays or {}).items()])

    limits = [{"type": "eq", "fun": dots}]
    if rays:
        limits.append({"type": "ineq", "fun": seen})
    best = np.inf
    for seed in range(5):
        rng = np.random.default_rng(seed)
        start = (target + 0.5 * rng.standard_normal(target.shape)).ravel()
        found = minimize(
            lambda x: np.sum((unpacked(x) - target) ** 2),
            start,
            method="SLSQP",
            constraints=limits,
            options={"maxiter": 300, "ftol": 1e-14},
        )
        if np.abs(dots(found.x)).max() < 1e-6 and seen(found.x).min(initial=0.0) > -1e-6:
            best = min(best, found.fun)
    return best


WEBS = {
    "pair": [("a", "b")],
    "chain": [("a", "b"), ("b", "c")],
    "corner": [("a", "b"), ("b", "c"), ("a", "c")],
    "ring": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")],
    "star": [("a", "b"), ("a", "c"), ("a", "d")],
    "ring of five": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")],
}


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")
@pytest.mark.parametrize("web", WEBS)
def test_no_nearer_set_is_found_by_brute_force(web):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        names = sorted(set(itertools.chain(*WEBS[web])))
        # Away from the viewer: no normal is held edge-on, which brute force does not know.
        normals = {n: tuple(-x for x in facing(rng, 2.0)) for n in names}
        relations = orthogonal(*WEBS[web])
        turned = consistent_normals(normals, relations)
        assert residual(turned.normals, relations) < 1e-12
        assert change(normals, turned.normals) <= brute_force(normals, relations) + 1e-6


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")
@pytest.mark.parametrize("seed", [127, 182, 316])
def test_nor_is_one_in_which_all_that_was_seen_still_is(seed):
    """Of these webs several would turn away; not all of them have to be held edge-on."""
    rng = np.random.default_rng(seed)
    rays = {n: unit(*rng.uniform(-0.7, 0.7, 2), 1.0) for n in "abc"}
    normals = {}
    for name, ray in rays.items():
        while not -0.5 < np.dot(normals.get(name, ray), ray) < 0:
            normals[name] = unit(*rng.normal(size=3))
    relations = orthogonal(("a", "b"), ("b", "c"))
    turned = consistent_normals(normals, relations, rays).normals
    assert residual(turned, relations) < 1e-12
    assert not any(faces_away(turned[n], rays[n]) for n in rays)
    assert change(normals, turned) <= brute_force(normals, relations, rays) + 1e-6


def test_walls_of_a_corridor_are_parallel_with_opposite_normals():
    normals = {"left": unit(1, 0, -0.2), "right": unit(-1, 0, -0.1), "floor": unit(0, -1, -0.3)}
    relations = [*parallel(("left", "right")), *orthogonal(("left", "floor"), ("right", "floor"))]
    found = consistent_normals(normals, relations)
    assert residual(found.normals, relations) < 1e-12
    assert found.normals["left"] == pytest.approx((1, 0, 0), abs=1e-12)
    assert found.normals["right"] == pytest.approx((-1, 0, 0), abs=1e-12)
    assert "edge-on" in found.notes[0]
    assert "'left'" in found.notes[0]


def in_the_plane(degrees):
    """Of a horizontal plane: 0 is to the right, 90 away from the viewer."""
    angle = np.radians(degrees)
    return (float(np.cos(angle)), 0.0, float(np.sin(angle)))


def angle_of(vector):
    return float(np.degrees(np.arctan2(vector[2], vector[0]))) % 360


YAWED = {"left": in_the_plane(-20), "right": in_the_plane(183)}
"""A corridor turned by 20 degrees: the left wall is exact, the right one 23 degrees off."""


def test_walls_of_a_turned_corridor_share_what_they_are_off():
    """The right wall is seen at its mark though its z becomes positive: 11.5 degrees each."""
    rays = {"left": (-0.5, 0.0, 1.0), "right": (0.6, 0.0, 1.0)}
    found = consistent_normals(YAWED, parallel(("left", "right")), rays)
    assert angle_of(found.normals["left"]) == pytest.approx(360 - 8.5, abs=1e-9)
    assert angle_of(found.normals["right"]) == pytest.approx(180 - 8.5, abs=1e-9)
    assert found.normals["right"][2] > 0.1
    assert found.notes == ()


def test_a_wall_turns_no_further_than_edge_on_along_its_ray():
    rays = {"left": (-0.5, 0.0, 1.0), "right": (0.1, 0.0, 1.0)}
    found = consistent_normals(YAWED, parallel(("left", "right")), rays)
    assert found.normals["right"] == pytest.approx(unit(-1, 0, 0.1), abs=1e-12)
    assert residual(found.normals, parallel(("left", "right"))) < 1e-12
    (note,) = found.notes
    assert "so 'right' are edge-on" in note


def test_without_rays_the_sign_of_z_is_what_counts():
    found = consistent_normals(YAWED, parallel(("left", "right")))
    assert found.normals["right"] == pytest.approx((-1, 0, 0), abs=1e-12)
    assert "'left', 'right' are edge-on" in found.notes[0]
    strange = {"left": (float("nan"), 0.0, 0.0), "right": (0.0, 0.0, 0.0)}
    assert consistent_normals(YAWED, parallel(("left", "right")), strange) == found


def test_a_floor_below_a_pitched_camera_may_lean_away():
    """By 0.14 + 0.02 rad less than a right angle between them: each turns by half of that."""
    normals = {"floor": unit(0, -1, -0.02), "wall": (0.0, -np.sin(0.14), -np.cos(0.14))}
    rays = {"floor": (0.0, 0.3, 1.0), "wall": (0.0, -0.1, 1.0)}
    found = consistent_normals(normals, orthogonal(("floor", "wall")), rays)
    half = (0.14 + np.arctan(0.02)) / 2
    assert found.notes == ()
    assert found.normals["wall"] == pytest.approx((0, -np.sin(0.14 - half), -np.cos(0.14 - half)))
    assert found.normals["floor"][2] == pytest.approx(np.sin(half - np.arctan(0.02)))


def test_only_what_must_be_is_held_edge_on():
    """Two of three parallel walls would face away; the one that is worse holds for both."""
    normals = {"a": in_the_plane(230), "b": in_the_plane(182), "c": in_the_plane(181)}
    rays = {"a": (0.0, 0.0, 1.0), "b": (0.1, 0.0, 1.0), "c": (0.3, 0.0, 1.0)}
    other = {"d": in_the_plane(150), "e": in_the_plane(150), "f": in_the_plane(150)}
    far = dict.fromkeys(other, (2.0, 0.0, 1.0))
    relations = parallel(("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"))
    found = consistent_normals({**normals, **other}, relations, {**rays, **far})
    # The mean is at 167 degrees; a is edge-on at 180, and nothing else has to be.
    assert angle_of(found.normals["b"]) == pytest.approx(180, abs=1e-9)
    assert "so 'a' are edge-on" in found.notes[0]


@pytest.mark.parametrize(
    ("relations", "named"),
    [
        ([*parallel(("a", "b"), ("b", "c")), *orthogonal(("a", "c"))], "abc"),
        ([*parallel(("a", "b")), *orthogonal(("a", "b"))], "ab"),
        (orthogonal(*itertools.combinations("abcd", 2)), "abcd"),
        # A hub orthogonal to a ring of five: the ring would have to fit in one plane.
        (orthogonal(*(("f", n) for n in "abcde"), *WEBS["ring of five"]), "abcdef"),
    ],
    ids=["parallel chain", "both", "four axes", "odd wheel"],
)
def test_a_contradiction_is_reported_with_its_planes(relations, named):
    rng = np.random.default_rng(3)
    normals = {n: facing(rng) for n in "abcdefgh"}
    # Further, harmless relations are not part of the explanation.
    harmless = [*parallel(("g", "h")), Relation("a", "h", "neither")]
    found = consistent_normals(normals, [*harmless, *relations])
    (note,) = [n for n in found.notes if "cannot all hold" in n]
    assert {n for n in "abcdefgh" if f"'{n}'" in note} == set(named)
    assert note.count("parallel") + note.count("orthogonal") == len(relations)
    # The latest goes, all others hold.
    assert residual(found.normals, [*harmless, *relations[:-1]]) < 1e-12


def test_a_large_web_is_exact_too():
    rng = np.random.default_rng(0)
    normals = {f"p{i}": facing(rng) for i in range(12)}
    relations = orthogonal(*((f"p{i}", f"p{rng.integers(i)}") for i in range(1, 12)))
    found = consistent_normals(normals, relations)
    assert residual(found.normals, relations) < 1e-12
    assert not [note for note in found.notes if "edge-on" not in note]


def test_hundreds_of_planes_are_not_searched_for_ever():
    rng = np.random.default_rng(0)
    normals = {f"p{i}": facing(rng) for i in range(300)}
    kinds = ("parallel", "orthogonal", "neither")
    relations = [
        Relation(f"p{rng.integers(300)}", f"p{rng.integers(300)}", kinds[rng.integers(3)])
        for _ in range(60)
    ]
    found = consistent_normals(normals, relations)
    assert list(found.normals) == list(normals)
    assert all(normal[2] <= 0 for normal in found.normals.values())


def test_one_contradiction_does_not_hide_another():
    rng = np.random.default_rng(4)
    normals = {n: facing(rng) for n in "abcd"}
    relations = [
        *parallel(("a", "b")),
        *orthogonal(("a", "b")),
        *parallel(("c", "d")),
        *orthogonal(("c", "d"), ("a", "c")),
    ]
    found = consistent_normals(normals, relations)
    assert sum("cannot all hold" in note for note in found.notes) == 2
    assert residual(found.normals, [relations[0], relations[2], relations[4]]) < 1e-12


def test_neither_that_follows_otherwise_is_reported():
    normals = {"a": unit(0, 0, -1), "b": unit(0.1, 0, -1), "c": unit(0, 0.1, -1)}
    relations = [*parallel(("a", "b"), ("b", "c")), Relation("a", "c", "neither")]
    (note,) = consistent_normals(normals, relations).notes
    assert note.startswith("'a' neither 'c'")


@pytest.mark.parametrize(
    "bad", [(0.0, 0.0, 0.0), (np.nan, 0.0, -1.0), (np.inf, 0.0, -1.0)], ids=["zero", "nan", "inf"]
)
def test_what_is_no_direction_stays_and_is_named(bad):
    found = consistent_normals({"a": bad, "b": (0.0, 0.0, -2.0)}, orthogonal(("a", "b")))
    assert found.normals["a"] is bad
    assert found.normals["b"] == (0.0, 0.0, -1.0)
    assert "'a' has no usable normal" in found.notes[0]


def test_unknown_planes_and_planes_with_themselves_are_named():
    relations = [*orthogonal(("a", "x"), ("a", "a")), *parallel(("a", "a"))]
    found = consistent_normals({"a": (0.0, 0.0, -1.0)}, relations)
    assert found.normals == {"a": (0.0, 0.0, -1.0)}
    assert ["'x' has no normal" in found.notes[0], "itself" in found.notes[1]] == [True, True]
    assert len(found.notes) == 2


def test_extreme_lengths_do_no_harm():
    normals = {"a": (1e300, 0.0, -1e300), "b": (-1e-300, 0.0, -1e-300)}
    found = consistent_normals(normals, orthogonal(("a", "b")))
    assert found.normals["a"] == pytest.approx(unit(1, 0, -1))
    assert residual(found.normals, orthogonal(("a", "b"))) < 1e-12


def test_nothing_gives_nothing():
    assert consistent_normals({}, []).normals == {}


directions = st.tuples(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5), st.floats(-1.0, -0.05)).map(
    lambda v: unit(*v)
)


@st.composite
def webs(draw):
    normals = dict(zip("abcde", draw(st.lists(directions, min_size=2, max_size=5)), strict=False))
    pairs = draw(
        st.lists(
            st.tuples(
                st.sampled_from(sorted(normals)),
                st.sampled_from(sorted(normals)),
                st.sampled_from(["parallel", "orthogonal", "neither"]),
            ),
            max_size=8,
        )
    )
    return normals, [Relation(*pair) for pair in pairs]


@given(webs())
def test_what_is_kept_holds_and_nothing_faces_away(web):
    normals, relations = web
    found = consistent_normals(normals, relations)
    assert list(found.normals) == list(normals)
    for vector in found.normals.values():
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-14)
        assert vector[2] <= 1e-15  # edge-on, but for rounding
    dropped = [note for note in found.notes if "edge-on" not in note]
    if not dropped:
        assert residual(found.normals, relations) < 1e-12
    # What holds already is not touched.
    if not dropped:
        again = consistent_normals(found.normals, relations).normals
        for name in normals:
            np.testing.assert_allclose(again[name], found.normals[name], atol=1e-7)


@given(st.lists(directions, min_size=3, max_size=3))
def test_turning_the_inputs_turns_the_normals(rows):
    """About the viewing axis, so that facing the viewer stays what it is."""
    normals = dict(zip("abc", rows, strict=True))
    relations = orthogonal(("a", "b"))
    c, s = np.cos(0.7), np.sin(0.7)
    spin = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    spun = {n: tuple((spin @ np.array(v)).tolist()) for n, v in normals.items()}
    one = consistent_normals(normals, relations).normals
    two = consistent_normals(spun, relations).normals
    if change(normals, one) < 1.0:  # nearly equal normals have many nearest sets
        dot = abs(np.array(normals["a"]) @ np.array(normals["b"]))
        # In one plane with the viewing axis, a set and its mirror image are equally near.
        beside = abs(np.cross(normals["a"], normals["b"])[2])
        if dot < 0.9 and beside > 1e-3:
            for name in normals:
                np.testing.assert_allclose(two[name], spin @ np.array(one[name]), atol=1e-6)


@given(webs(), st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=5, max_size=5))
def test_along_its_ray_nothing_turns_away(web, slopes):
    normals, relations = web
    rays = {name: (x, y, 1.0) for name, (x, y) in zip("abcde", slopes, strict=True)}
    found = consistent_normals(normals, relations, rays)
    for name, given_ in normals.items():
        if not faces_away(given_, unit(*rays[name])):
            assert not faces_away(found.normals[name], unit(*rays[name]))
    if not [note for note in found.notes if "edge-on" not in note]:
        assert residual(found.normals, relations) < 1e-12
