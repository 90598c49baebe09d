"""Items and chunks: what is written is what is read, and all tasks are handed out once."""

import json
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.engine.running.chunks import Chunks
from depthgauge.engine.running.task import task_id
from depthgauge.engine.scoring.rules import Outcome
from depthgauge.engine.store.item import Item, read_item, write_item
from depthgauge.engine.store.record import THRESHOLDS, Curve, Timing
from depthgauge.errors import BadFile, Misuse
from depthgauge.types import Score, State

numbers = st.floats(width=64)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@st.composite
def scores(draw):
    count, missing = draw(st.integers(0, 10**12)), draw(st.integers(0, 10**12))
    sums = np.array(draw(st.lists(numbers, max_size=3)), np.float64)
    values = draw(st.none() | st.lists(st.floats(0, 1e6, width=32), max_size=5))
    held = None if values is None else np.array(sorted(values), np.float32)
    state = draw(st.none() | st.just(State(count, missing, sums, held)))
    found = {"kind": "scale", "scale": draw(numbers), "shift": draw(numbers), "reason": None}
    alignment = draw(st.none() | st.just(found))
    total = draw(st.none() | numbers)
    return Score(draw(numbers), count, missing, total, draw(texts), state, alignment)


@st.composite
def items(draw):
    key = draw(texts), draw(st.integers(0, 99)), draw(texts)
    within = np.sort(draw(st.lists(st.integers(0, 10**9), min_size=34, max_size=34)))
    curve = draw(st.none() | st.just(Curve(within.astype(np.int64), 3, 4)))
    outcome = Outcome(
        scores=draw(st.dictionaries(texts, scores(), max_size=3)),
        failed=draw(texts),
        left_out=tuple(draw(st.lists(texts, max_size=2))),
        skipped=draw(st.booleans()),
        curve=curve,
        truth_hash=draw(texts),
    )
    timing = Timing(*key, *(draw(numbers) for _ in range(4)), draw(texts))
    return Item(key[0], draw(texts), key[1], key[2], outcome, timing, draw(texts), draw(texts))


def same(a, b):
    """NaN equals NaN here, and arrays are compared by their values."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float):
        return a == b or (a != a and b != b)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if hasattr(a, "__dataclass_fields__"):
        names = a.__dataclass_fields__
        return type(a) is type(b) and all(same(getattr(a, n), getattr(b, n)) for n in names)
    return a == b


@given(items())
def test_an_item_is_read_as_it_was_written(tmp_path_factory, item):
    path = tmp_path_factory.mktemp("item") / "item.json"
    write_item(path, item)
    json.loads(path.read_text(), parse_constant=pytest.fail)  # strict: no NaN, no Infinity
    assert same(read_item(path), item)


def test_a_run_keeps_nothing_that_a_gpu_summed(tmp_path):
    found = Outcome(scores={"mae@all": Score(1.0, 4, 0, unit="px", device="cuda")})
    timing = Timing("net", 0, "desk", 1.0, 1.0, 1.0, 1.0)
    with pytest.raises(Misuse, match=r"desk: mae@all was summed on cuda.*dg\.run"):
        write_item(tmp_path / "x.json", Item("net", "", 0, "desk", found, timing))
    assert not list(tmp_path.iterdir())


def test_a_damaged_item_is_one_sentence(tmp_path):
    path = tmp_path / "x.json"
    for text in ("{", "[]", '{"schema": 1}', '{"schema": 99}'):
        path.write_text(text)
        with pytest.raises(BadFile, match=r"x\.json"):
            read_item(path)
    with pytest.raises(BadFile, match="cannot be read"):
        read_item(tmp_path / "nothing.json")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"value":1.0', '"value":0.5'),
        ('"count":4', '"count":"abc"'),
        ('"time_s":1.0', f'"time_s":{"9" * 400}'),
        ('"scores":{', '"scores":[{'),
        ('"failed":""', f'"failed":{"[" * 100_000}'),
    ],
)
@pytest.mark.parametrize("with_checksum", [True, False])
def test_a_changed_item_is_never_believed(tmp_path, old, new, with_checksum):
    path = tmp_path / "x.json"
    found = Outcome(scores={"mae@all": Score(1.0, 4, 0, total=4.0, unit="px")})
    write_item(
        path, Item("net", "", 0, "desk", found, Timing("net", 0, "desk", 1.0, 1.0, 1.0, 1.0))
    )
    assert read_item(path).outcome.scores["mae@all"].value == 1.0
    text = path.read_text()
    assert old in text
    changed = text.replace(old, new)
    if not with_checksum:  # as earlier versions wrote it
        changed = "{" + changed.partition('",')[2]
    path.write_text(changed)
    if not with_checksum and old.startswith('"value"'):  # which nothing can notice
        assert read_item(path).outcome.scores["mae@all"].value == 0.5
        return
    with pytest.raises(BadFile, match=r"x\.json: (is damaged|was changed)"):
        read_item(path)


def test_thresholds_ascend():
    assert list(THRESHOLDS) == sorted(set(THRESHOLDS))


def test_the_id_of_a_task_says_all_that_it_is():
    first = task_id("hash", "label", "options", 0, "sample")
    others = [
        task_id("other", "label", "options", 0, "sample"),
        task_id("hash", "other", "options", 0, "sample"),
        task_id("hash", "label", "other", 0, "sample"),
        task_id("hash", "label", "options", 1, "sample"),
        task_id("hash", "label", "options", 0, "other"),
    ]
    assert len({first, *others}) == 6
    assert first == task_id("hash", "label", "options", 0, "sample")


@given(st.integers(1, 300), st.integers(1, 9), st.floats(0, 10))
def test_every_task_is_handed_out_once_in_order(n, workers, seconds):
    chunks = Chunks(range(n), workers)
    seen, sizes = [], []
    while chunk := chunks.take():
        seen += chunk
        sizes.append(len(chunk))
        for _ in chunk:
            chunks.took(seconds)
    assert seen == list(range(n))
    assert sizes[0] == 1
    if seconds >= 2:
        assert max(sizes) == 1


def test_quick_tasks_come_in_larger_chunks_that_shrink_at_the_end():
    chunks = Chunks(range(10_000), 4)
    first = chunks.take()
    chunks.took(0.01)
    assert len(first) == 1
    assert len(chunks.take()) == 200
    sizes = []
    while chunk := chunks.take():
        sizes.append(len(chunk))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1


def test_chunks_from_many_threads():
    chunks, seen = Chunks(range(2000), 8), []

    def work():
        while chunk := chunks.take():
            seen.extend(chunk)
            chunks.took(0.001)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(2000))
