"""Long lists, shortened."""

from depthgauge._shorten import few_of_each_kind, first_few


def test_few_of_each_kind_and_how_many_more():
    notes = [f"Stroke '{i}' was {i} px long." for i in range(48)]
    notes.insert(20, "The focal length is 3 px.")
    found = few_of_each_kind(notes)
    assert found[:8] == tuple(notes[:8])
    assert found[8:] == ("and 40 more of this kind.", "The focal length is 3 px.")
    assert few_of_each_kind(notes[:9]) == tuple(notes[:9])


def test_nothing_is_told_twice():
    assert few_of_each_kind(
        ["Stroke 'a': 3 %.", "Stroke 'a': 4 %.", "At (1, 2).", "At (1, 2).", "At (3, 2)."]
    ) == (
        "Stroke 'a': 3 %.",
        "At (1, 2).",
        "At (3, 2).",
    )
    assert few_of_each_kind([]) == ()


def test_the_first_few_names_and_how_many_more():
    assert first_few([], 2) == ""
    assert first_few(["a", "b"], 2) == "a, b"
    assert first_few(["a", "b", "c"], 2) == "a, b and 1 more"
    assert first_few(["a: 1", "b: 2", "c: 3"], 1, "; ") == "a: 1; and 2 more"
