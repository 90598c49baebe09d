"""Long lists of notes."""

from depthgauge.annotate.reconstruct.notes import few


def test_few_of_each_kind_and_how_many_more():
    notes = [f"Stroke '{i}' was {i} px long." for i in range(48)]
    notes.insert(20, "The focal length is 3 px.")
    found = few(notes)
    assert found[:8] == tuple(notes[:8])
    assert found[8:] == ("and 40 more of this kind.", "The focal length is 3 px.")
    assert few(notes[:9]) == tuple(notes[:9])


def test_nothing_is_told_twice():
    assert few(
        ["Stroke 'a': 3 %.", "Stroke 'a': 4 %.", "At (1, 2).", "At (1, 2).", "At (3, 2)."]
    ) == (
        "Stroke 'a': 3 %.",
        "At (1, 2).",
        "At (3, 2).",
    )
    assert few([]) == ()
