"""The language of regions: what binds how, what is refused, and that it means sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import BadScoreId
from depthgauge.regions import compute_regions, parse
from depthgauge.regions.expressions import Atom, Complement, Operation, number_text

A, B, C, D = (Atom(name) for name in "abcd")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("~a & b", Operation("&", (Complement(A), B))),
        ("a - b & c", Operation("-", (A, Operation("&", (B, C))))),
        ("a & b - c", Operation("-", (Operation("&", (A, B)), C))),
        ("a | b - c", Operation("|", (A, Operation("-", (B, C))))),
        ("a - b | c", Operation("|", (Operation("-", (A, B)), C))),
        ("a | b & c", Operation("|", (A, Operation("&", (B, C))))),
        ("a - b - c", Operation("-", (A, B, C))),
        ("a - (b - c)", Operation("-", (A, Operation("-", (B, C))))),
        ("(a | b) & c", Operation("&", (Operation("|", (A, B)), C))),
        ("a-b", Operation("-", (A, B))),
        ("~~a", Complement(Complement(A))),
        ("~(a | b)", Complement(Operation("|", (A, B)))),
        ("material_2|material_3", Operation("|", (Atom("material_2"), Atom("material_3")))),
        ("textureless:3, 4", Atom("textureless", ("3", "4"))),
        ("border:10.0-a", Operation("-", (Atom("border", ("10",)), A))),
        ("x:-2.5,word,1e-3", Atom("x", ("-2.5", "word", "0.001"))),
    ],
)
def test_what_binds_how(text, tree):
    assert parse(text) == tree
    assert parse(str(tree)) == tree


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("  a&b|c ", "a & b | c"),
        ("((a))", "a"),
        ("a & (b & c)", "a & b & c"),
        ("(a | b) | (c | d)", "a | b | c | d"),
        ("(a - b) - c", "a - b - c"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a|b)-c", "(a | b) - c"),
        ("~(~a)", "~~a"),
    ],
)
def test_text_is_canonical(text, canonical):
    assert str(parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "at", "expected", "found"),
    [
        ("", 1, "a region's name", "the end"),
        ("a &", 4, "a region's name", "the end"),
        ("a b", 3, "an operator", "'b'"),
        ("a $ b", 3, "an operator", "'[$]'"),
        ("(a | b", 7, "or '[)]'", "the end"),
        ("a)", 2, "the end", "'[)]'"),
        ("a:", 3, "a parameter", "the end"),
        ("a:1,", 5, "a parameter", "the end"),
        ("a:-b", 4, "a parameter", "'b'"),
        ("2a", 1, "a region's name", "'2'"),
        ("a | | b", 5, "a region's name", "'[|]'"),
        ("~" * 60 + "a", 51, "at most 50 nested", "'~'"),
        ("(" * 5000, 51, "at most 50 nested", "'[(]'"),
    ],
)
def test_errors_say_where_and_what_was_expected(text, at, expected, found):
    with pytest.raises(BadScoreId, match=f"position {at}: expected .*{expected}.*, found {found}"):
        parse(text)


def test_long_chains_need_no_recursion():
    text = " | ".join(f"n{i}" for i in range(5000))
    assert len(parse(text).names()) == 5000
    assert str(parse(text)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_all_their_digits(value):
    assert float(number_text(value)) == value


def build(sign, parts):
    """A tree in the parser's own form, by way of its text."""
    return parse(f" {sign} ".join(f"({part})" for part in parts))


TREES = st.recursive(
    st.sampled_from(["p", "q", "r", "s"]).map(Atom),
    lambda inner: st.one_of(
        inner.map(Complement),
        st.builds(build, st.sampled_from("&|-"), st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=8,
)


@given(TREES)
def test_text_and_tree_round_trip(tree):
    assert parse(str(tree)) == tree
    assert tree.names() == {atom.name for atom in tree.atoms()}


def as_set(tree, sets, universe):
    """What an expression means, by Python's own sets."""
    if isinstance(tree, Atom):
        return sets[tree.name] & universe
    if isinstance(tree, Complement):
        return universe - as_set(tree.part, sets, universe)
    first, *rest = (as_set(part, sets, universe) for part in tree.parts)
    for other in rest:
        first = {"&": first & other, "|": first | other, "-": first - other}[tree.sign]
    return first


@given(TREES, st.integers(0, 2**32 - 1))
def test_expressions_mean_sets(tree, seed):
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random((4, 8)) < 0.2, np.nan, 1).astype(np.float32)
    masks = {f"{name}_mask": rng.random(truth.shape) < 0.5 for name in "pqrs"}
    found = compute_regions({"x": str(tree)}, truth, masks, quantity="depth").masks["x"]
    sets = {name[0]: set(np.flatnonzero(mask)) for name, mask in masks.items()}
    expected = as_set(tree, sets, set(np.flatnonzero(np.isfinite(truth))))
    assert set(np.flatnonzero(found)) == expected
