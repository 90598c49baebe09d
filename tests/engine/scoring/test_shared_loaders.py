"""Samples that share a truth: told apart without reading it, and prepared once."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.benchmarks import make_protocol
from depthgauge.engine.scoring import judge as module
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Rules
from depthgauge.engine.scoring.shared_loaders import is_same
from depthgauge.types import Inputs, Sample, Truth

MAP = np.array([[1, 2], [3, 4]], np.float32)


def never() -> None:
    raise AssertionError("this was read")


def unreadable(_: Path) -> None:
    raise AssertionError("this was read")


def test_what_is_the_same():
    shared, path = Truth({"disparity": never}), Path("a.npy")
    assert is_same(shared, shared)
    assert is_same(None, None)
    assert not is_same(shared, None)
    calls = [Truth({"disparity": partial(unreadable, Path("a.npy"))}) for _ in range(2)]
    assert is_same(*calls)
    assert is_same(Truth({"path": path}), Truth({"path": Path("a.npy")}))
    assert is_same(Truth({"disparity": MAP}), Truth({"disparity": MAP}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": partial(unreadable, Path("a"))}, {"a": partial(unreadable, Path("b"))}),
        ({"a": partial(unreadable, Path("a"))}, {"a": partial(io.read_map, Path("a"))}),
        ({"a": partial(unreadable, Path("a"))}, {}),
        ({"a": partial(unreadable, x=1)}, {"a": partial(unreadable, x=1)}),
        ({"a": partial(unreadable, MAP)}, {"a": partial(unreadable, MAP)}),
        ({"a": MAP}, {"a": MAP.copy()}),
        ({"a": Path("a")}, {"a": Path("b")}),
    ],
)
def test_what_may_not_be_the_same(one, other):
    assert not is_same(Truth(one), Truth(other))


def protocol(region: str = "all"):
    body = {"id": "x", "version": 1, "dataset": "folder", "quantity": "disparity", "pool": "image"}
    scores = [{"metric": "mae", "region": region}]
    return make_protocol({**body, "scores": scores}, "here")


@pytest.fixture
def count(monkeypatch):
    """How often a truth was prepared."""
    made = []
    plain = module.prepare_truth

    def counting(*arguments, **named):
        made.append(1)
        return plain(*arguments, **named)

    monkeypatch.setattr(module, "prepare_truth", counting)
    return made


def pictures(tmp_path: Path, n: int = 3) -> list[Sample]:
    """Samples of one scene, each with its own picture."""
    io.write_map(tmp_path / "a.npy", np.tile(MAP, (4, 4)))
    for i in range(n):
        image = np.random.default_rng(i).integers(0, 256, (8, 8, 3), dtype=np.uint8)
        io.write_image(tmp_path / f"im{i}.png", image // (1 + 100 * i))
    return [
        Sample(
            f"a/im{i}",
            Inputs({"left_image": partial(io.read_image, tmp_path / f"im{i}.png")}),
            Truth({"disparity": partial(io.read_map, tmp_path / "a.npy")}),
        )
        for i in range(n)
    ]


def test_a_shared_truth_is_prepared_once(tmp_path, count):
    samples = pictures(tmp_path)
    judge = Judge(Rules.of(protocol(), samples))
    outcomes = [
        judge.score_map(s, lambda i=i: np.tile(MAP, (4, 4)) + i) for i, s in enumerate(samples)
    ]
    assert [o.scores["mae@all"].value for o in outcomes] == [0, 1, 2]
    assert len(count) == 1
    assert len({o.truth_hash for o in outcomes}) == 1


def test_not_where_a_region_looks_at_the_picture(tmp_path, count):
    samples = pictures(tmp_path)
    judge = Judge(Rules.of(protocol("textureless"), samples))
    outcomes = [judge.score_map(s, lambda: np.tile(MAP, (4, 4))) for s in samples]
    assert len(count) == 3
    assert len({o.truth_hash for o in outcomes}) == 3
    assert len({o.scores["mae@textureless"].count for o in outcomes}) > 1


def test_not_where_another_sample_has_more_inputs(tmp_path, count):
    first, second, _ = pictures(tmp_path)
    ranged = Inputs({**second.inputs.unread(), "disparity_range": (0, 1.5)})
    judge = Judge(Rules.of(protocol(), [first, second]))
    scores = [
        judge.score_map(s, lambda: np.tile(MAP, (4, 4))).scores["mae@all"].missing
        for s in (first, Sample(second.id, ranged, second.truth))
    ]
    assert scores == [0, 48]
    assert len(count) == 2
