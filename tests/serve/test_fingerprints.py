"""Near-duplicates: copies in disguise are found, other methods are not, and only admins see it."""

import numpy as np
import pytest
from tests.serve import tiny as made

from depthgauge.serve.storage.models import Similarity
from depthgauge.serve.submissions import worker
from depthgauge.serve.submissions.fingerprints import (
    LEAST_CORRELATION,
    MOST_DIFFERENCE,
    _at_places,
    similarity,
)

RANDOM = np.random.default_rng(5)
SCENE = np.where(np.mgrid[:120, :160][1] > 70, 30, 10) + 0.02 * np.mgrid[:120, :160][0]
"""Two planes; what every good method agrees about."""


def errors(sigma=0.2):
    """The errors of a method: neighbours have similar ones."""
    rough = RANDOM.normal(0, 1, (120, 160))
    smooth = (rough + np.roll(rough, 1, 0) + np.roll(rough, 1, 1) + np.roll(rough, 2, 1)) / 2
    return sigma * smooth


def mark(values):
    places = np.random.default_rng(1).random((2000, 2))
    return _at_places(np.asarray(values, np.float32), places)


def is_same(one, other):
    agreement, distance = similarity(mark(one), mark(other))
    return agreement >= LEAST_CORRELATION or distance <= MOST_DIFFERENCE


METHOD = SCENE + errors()


@pytest.mark.parametrize(
    "copy",
    [
        METHOD,
        1.02 * METHOD + 0.3,
        METHOD + RANDOM.normal(0, 0.05, SCENE.shape),
        np.round(METHOD * 8) / 8,
        np.where(RANDOM.random(SCENE.shape) < 0.05, np.nan, METHOD),
    ],
    ids=["same", "scaled", "noise", "rounded", "holes"],
)
def test_copies_are_found(copy):
    assert is_same(METHOD, copy)
    assert is_same(copy, METHOD)


def test_other_methods_are_not():
    assert not is_same(METHOD, SCENE + errors())
    assert not is_same(METHOD, SCENE)  # not even the truth
    assert not is_same(METHOD, np.full(SCENE.shape, np.nan))
    assert not is_same(METHOD, METHOD[:2, :2])
    assert similarity(mark(SCENE * 0), mark(SCENE * 0 + 1)) == (0.0, 0.0)  # nothing but a shift


def test_teams_are_compared_with_each_other(site, database, tiny, add_user, send):
    ann, eve = add_user(), add_user("eve@example.org")
    bob = add_user("bob@example.org", team_id=ann.team_id)
    noise = {name: RANDOM.normal(0, 0.3, made.SIZE).astype(np.float32) for name in made.NAMES}
    maps = {name: truth + noise[name] for name, truth in made.truths().items()}
    first = send(ann, made.archive(maps))
    send(bob, made.archive({name: m + np.float32(0.1) for name, m in maps.items()}))
    copy = {
        name: m + RANDOM.normal(0, 0.02, m.shape).astype(np.float32) for name, m in maps.items()
    }
    second = send(eve, made.archive(copy))
    for _ in range(3):
        assert worker.work_once(site, database)
    with database.begin() as session:
        found = [{one.first_id, one.second_id} for one in session.query(Similarity)]
    assert {first.id, second.id} in found
    assert len(found) == 2  # eve's and each of the other team's, not ann's and bob's
    assert len(list((site.workers / "fingerprints" / "tiny").iterdir())) == 3


def test_what_cannot_be_compared_is_scored(site, database, tiny, add_user, send, read, monkeypatch):
    def fail(*_args):
        raise ValueError("odd")

    monkeypatch.setattr(worker, "fingerprint", fail)
    sent = send(add_user())
    worker.work_once(site, database)
    assert read(sent)[0].state == "scored"
    assert "odd" in (site.workers / "logs" / f"{sent.id}.txt").read_text()
