"""Annotation records: append-only, exact, and plain about what is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depthgauge.annotate.records._strict_model import MOST_POINTS, is_time
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Origin,
    Picture,
    Relation,
    Stroke,
    SurfaceMark,
)
from depthgauge.annotate.records.files import (
    Header,
    Record,
    annotation_from_lines,
    append_line,
    append_record,
    history,
    lines_from_annotation,
    read_records,
    repair_records,
    start_records,
    write_records,
)
from depthgauge.errors import BadData, BadFile, CannotWrite, Misuse
from depthgauge.io._locks import only_one
from depthgauge.io.json_lines import MOST_LINE_BYTES

HEADER = Header(
    Picture("street", 640, 480, "ab" * 32),
    Focal(612.5, "exif"),
    ((10.0, 20.0), (300.0, 200.0)),
    points_seed=7,
    origin=Origin("ann", "crowd", "2026-01-31T09:30:00+00:00", 2.0),
)

numbers = st.floats(allow_nan=False, allow_infinity=False)
pixels = st.floats(-1e6, 1e6)
points = st.tuples(pixels, pixels)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
times = st.sampled_from(["", "2026-01-31T09:30:00Z", "2026-01-31T09:30:00.25+05:30"])


def named(things):
    return st.dictionaries(words, things, max_size=4)


annotations = st.builds(
    Annotation,
    picture=st.builds(
        Picture,
        words,
        st.integers(1, 4000),
        st.integers(1, 4000),
        st.sampled_from(["", "0123456789abcdef" * 4]),
    ),
    focal=st.builds(Focal, st.floats(1, 1e7), st.sampled_from(["exif", "given", "assumed"])),
    must_contain_px=st.lists(points, max_size=2).map(tuple),
    region_px=st.lists(points, max_size=6).map(tuple),
    strokes=named(
        st.builds(
            Stroke,
            st.sampled_from(["occlusion", "fold"]),
            st.lists(points, max_size=6).map(tuple),
            st.sampled_from(["left", "right", None]),
            st.booleans(),
        )
    ),
    surfaces=named(st.builds(SurfaceMark, points, st.sampled_from(["planar", "curved"]))),
    normals=named(st.builds(NormalMark, points, st.tuples(numbers, numbers, numbers))),
    relations=named(
        st.builds(Relation, words, words, st.sampled_from(["parallel", "orthogonal", "neither"]))
    ),
    origin=st.builds(Origin, words | st.just(""), words | st.just(""), times, st.floats(0, 1e9)),
    finished=st.booleans(),
)


@settings(max_examples=100)
@given(annotations)
def test_export_then_import_is_the_identity(annotation):
    lines = lines_from_annotation(annotation)
    again = annotation_from_lines(lines)
    assert again == annotation
    # Order too: it decides which side owns a fold.
    for kind in ("strokes", "surfaces", "normals", "relations"):
        assert list(getattr(again, kind)) == list(getattr(annotation, kind))
    assert lines_from_annotation(again) == lines
    # Every float to the last bit, the sign of zero included.
    assert repr(again.strokes) == repr(dict(annotation.strokes))


@given(annotations)
def test_files_hold_the_same_as_lines(tmp_path_factory, annotation):
    path = tmp_path_factory.mktemp("records") / "a.jsonl"
    write_records(path, annotation)
    assert read_records(path) == annotation
    write_records(path, annotation)  # once more changes nothing
    assert history(path).notes == ()


def refused(read) -> str:
    """The sentence of a `BadFile`, empty where there is none; anything else is a crash."""
    try:
        read()
    except BadFile as error:
        return str(error)
    return ""


def started(folder: Path) -> Path:
    path = folder / "street.jsonl"
    start_records(path, HEADER)
    return path


def test_events_are_played_in_order_and_all_kept(tmp_path):
    path = started(tmp_path)
    line = Stroke("occlusion", ((0.0, 1.0), (5.0, 6.0)), "left", True)
    shorter = Stroke("occlusion", ((0.0, 1.0), (2.0, 2.0)), "left")
    events = [
        Record("region", value=((0.0, 0.0), (9.0, 0.0), (9.0, 9.0)), seconds=1.5),
        Record("stroke", "s1", line, "2026-01-31T09:31:00Z", "ann", "crowd", 4.0),
        Record("stroke", "s2", line),
        Record("stroke", "s1", shorter),
        Record("surface", "p", SurfaceMark((3.0, 3.0), "planar")),
        Record("surface", "q", SurfaceMark((7.0, 7.0), "planar")),
        Record("normal", "n", NormalMark((3.0, 3.0), (0.0, 0.0, -1.0))),
        Record("relation", "r", Relation("p", "q", "orthogonal")),
        Record("remove", "s2", "stroke"),
        Record("focal", value=Focal(700.0)),
        Record("finish"),
        Record("reopen"),
        Record("finish", seconds=0.25),
    ]
    for event in events:
        append_record(path, event)
    found = history(path)
    assert found.records == tuple(events)
    assert found.header == HEADER
    annotation = read_records(path)
    assert annotation.strokes == {"s1": shorter}
    assert annotation.focal == Focal(700.0)
    assert annotation.finished
    assert annotation.must_contain_px == HEADER.must_contain_px
    assert annotation.origin.seconds == pytest.approx(2.0 + 1.5 + 4.0 + 0.25)
    assert (annotation.origin.who, annotation.origin.source) == ("ann", "crowd")
    assert path.read_text().count("\n") == len(events) + 1


def test_who_and_when_come_from_the_first_record_that_tells(tmp_path):
    path = tmp_path / "a.jsonl"
    start_records(path, Header(Picture("a", 3, 3), Focal(5.0)))
    append_record(path, Record("finish", at="2026-02-01T00:00:00Z", who="bob", source="agency"))
    origin = read_records(path).origin
    assert origin == Origin("bob", "agency", "2026-02-01T00:00:00Z", 0.0)


def test_the_region_can_be_taken_back(tmp_path):
    path = started(tmp_path)
    append_record(path, Record("region", value=((0.0, 0.0), (9.0, 0.0), (9.0, 9.0))))
    append_record(path, Record("region", value=()))
    assert read_records(path).region_px == ()


def test_what_was_removed_twice_is_a_note(tmp_path):
    path = started(tmp_path)
    append_record(path, Record("remove", "s9", "stroke"))
    assert read_records(path).strokes == {}
    assert "stroke 's9' was removed but did not exist" in history(path).notes[0]


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_last_line_that_was_not_finished_is_reported_and_skipped(tmp_path, cut):
    path = started(tmp_path)
    append_record(path, Record("stroke", "s1", Stroke("fold", ((0.0, 0.0), (1.0, 1.0)))))
    append_record(path, Record("stroke", "s2", Stroke("fold", ((0.0, 0.0), (2.0, 2.0)))))
    whole = path.read_bytes()
    path.write_bytes(whole[: -1 - cut])
    found = history(path)
    assert list(found.annotation.strokes) == ["s1"]
    assert "is incomplete" in found.notes[0]
    # The next record starts a line of its own, and the half one is kept aside.
    append_record(path, Record("finish"))
    again = history(path)
    assert again.notes == ()
    assert again.annotation.finished
    assert list(again.annotation.strokes) == ["s1"]
    half = whole.splitlines()[-1][:-cut]
    assert (tmp_path / "street.jsonl.damaged").read_bytes() == half + b"\n"


def test_a_last_line_that_lacks_only_its_end_counts(tmp_path):
    path = started(tmp_path)
    append_record(path, Record("finish"))
    path.write_bytes(path.read_bytes()[:-1])
    assert read_records(path).finished
    append_record(path, Record("reopen"))
    assert not read_records(path).finished
    assert not (tmp_path / "street.jsonl.damaged").exists()


def test_cut_anywhere_a_file_gives_its_whole_lines_or_one_sentence(tmp_path):
    path = started(tmp_path)
    for i in range(3):
        append_record(path, Record("surface", f"p{i}", SurfaceMark((1.0, 1.0), "planar")))
    whole = path.read_bytes()
    header, *lines = whole.splitlines()
    ends = [len(header) + sum(len(line) + 1 for line in lines[: k + 1]) for k in range(3)]
    for size in range(0, len(whole) + 1, 3):
        path.write_bytes(whole[:size])
        if size < len(header):
            assert str(path) in refused(lambda: read_records(path))
        else:
            assert len(read_records(path).surfaces) == sum(size >= end for end in ends)


STROKE = '{"event":"stroke","id":"a","kind":"fold","points_px":[[0,0],[1,1]]}'


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nonsense", "not a JSON record: it does not begin with {"),
        ('{"event":"finish"', "not a JSON record: it ends early"),
        ('{"event" "finish"}', "from character 10 on, at '\"finish\"}', it cannot be understood"),
        (STROKE.replace("[0,0]", "[0,-1e300]"), "the point (0, -1e+300), which is nowhere near"),
        (STROKE.replace("[0,0]", "[1000001,0]"), "coordinates are at most 1e+06 px"),
        ('{"event":"surface","id":"a","at_px":[1e7,0],"shape":"planar"}', "is nowhere near"),
        ('{"event":"region","points_px":[[0,1e7]]}', "is nowhere near"),
        ('{"event":"focal","focal_px":0.5}', "'focal_px' is 0.5, expected a focal length of 1 to"),
        ('{"event":"focal","focal_px":2e7}', "'focal_px' is 2e+07"),
        ("[1, 2]", "expected a JSON object, found a list"),
        ("3", "found a number"),
        ('{"event":"explode"}', "the event 'explode' is not known"),
        ('{"id":"a"}', "lacks the field 'event'"),
        ('{"event":3}', "'event' is a number, expected a text"),
        (STROKE.replace('"a"', '""'), "'id' is empty"),
        (STROKE.replace('"id":"a",', ""), "lacks the field 'id'"),
        (STROKE.replace('"a"', "7"), "'id' is a number"),
        (STROKE.replace("[0,0]", "[0,NaN]"), "NaN is not a number"),
        (STROKE.replace("[0,0]", "[0,Infinity]"), "Infinity is not a number"),
        (STROKE.replace("[0,0]", "[0,1e400]"), "too large"),
        (STROKE.replace("[0,0]", "[0,1" + "0" * 400 + "]"), "too large"),
        (STROKE.replace("[0,0]", "[0,1" + "0" * 5000 + "]"), "it holds a number of 5001 digits."),
        (STROKE.replace("[0,0]", "[0,true]"), "holds true or false, expected a number"),
        (STROKE.replace("[0,0]", "[0,null]"), "holds null"),
        (STROKE.replace("[0,0]", "[0]"), "a list of 1, expected 2 numbers"),
        (STROKE.replace("[0,0]", '"here"'), "holds a text, expected 2 numbers"),
        (STROKE.replace("[[0,0],[1,1]]", "{}"), "is an object, expected a list"),
        (STROKE.replace("fold", "crease"), "expected one of occlusion, fold"),
        (STROKE.replace('"event"', '"colour":"red","event"'), "a field 'colour' that schema 1"),
        (STROKE.replace('"kind"', '"id":"b","kind"'), "the field 'id' twice"),
        (STROKE[:-1] + ',"at":"yesterday"}', "expected an ISO 8601 time"),
        (STROKE[:-1] + ',"at":"2026-01-31T09:30:00"}', "with its zone"),
        (STROKE[:-1] + ',"seconds":-1}', "'seconds' is -1"),
        (STROKE[:-1] + ',"smooth":1}', "'smooth' is a number, expected true or false"),
        (STROKE[:-1] + ',"who":"\\ud800"}', "half a character"),
        (STROKE[:-1] + ',"\\ud800":1}', "a field name holds half a character"),
        (STROKE[:-1] + ',"schema":2}', "a field 'schema' that schema 1 lacks"),
        (STROKE[:-1] + ',"closer":null}', "'closer' is null, expected one of left, right"),
        (STROKE[:-1] + ',"who":"' + "x" * 1000 + '"}', "has 1000 letters"),
        ("[" * 100_000, "nested too deeply"),
        ('{"event":"remove","id":"a","what":"region"}', "expected one of stroke"),
        (STROKE.replace("[0,0]", "[0,0]" + ",[0,0]" * MOST_POINTS), "points, but at most"),
        (STROKE[:-1] + " " * MOST_LINE_BYTES + "}", "bytes, a record has at most"),
        (json.dumps({"format": "depthgauge-annotation"}), "lacks the field 'event'"),
    ],
)
def test_a_damaged_line_is_one_sentence_that_names_it(tmp_path, line, says):
    path = started(tmp_path)
    with path.open("a") as file:
        file.write(f"{line}\n{STROKE}\n")
    with pytest.raises(BadFile) as error:
        read_records(path)
    assert f"{path}: line 2" in str(error.value)
    assert says in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


def test_repair_costs_the_damaged_lines_and_no_other(tmp_path):
    path = started(tmp_path)
    second = STROKE.replace('"id":"', '"id":"x')
    body = path.read_bytes()
    with path.open("ab") as file:
        file.write(f"{STROKE}\n".encode() + b"\xff\xfe broken\n" + f"{second}\n".encode() + b'{"ev')
    with pytest.raises(BadFile, match=r"line 3.*annotate repair"):
        read_records(path)
    found = repair_records(path)
    assert found.kept == 3
    assert [number for number, _ in found.damaged] == [3, 5]
    assert "UTF-8" in found.damaged[0][1]
    assert path.read_bytes() == body + f"{STROKE}\n{second}\n".encode()
    aside = path.with_name(f"{path.name}.damaged")
    assert aside.read_bytes() == b'\xff\xfe broken\n{"ev\n'
    assert len(read_records(path).strokes) == 2
    again = repair_records(path)
    assert (again.kept, again.damaged) == (3, ())
    assert aside.read_bytes() == b'\xff\xfe broken\n{"ev\n'


def test_without_a_header_nothing_can_be_repaired(tmp_path):
    path = tmp_path / "street.jsonl"
    path.write_text(f"{STROKE}\n")
    with pytest.raises(BadFile, match="is not a header"):
        repair_records(path)
    path.write_text("")
    with pytest.raises(BadFile, match="holds no annotation records"):
        repair_records(path)
    assert not list(tmp_path.glob("*.damaged"))


def header_with(**changes):
    data = json.loads(lines_from_annotation(Annotation(HEADER.picture, HEADER.focal))[0])
    data.update(changes)
    return json.dumps({key: value for key, value in data.items() if value is not ...})


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("", "holds no annotation records"),
        (STROKE, "is not a header"),
        (header_with(schema=2), "has schema 2, but this version reads schema 1"),
        (header_with(schema=True), "schema True"),
        (header_with(schema=...), "lacks the field 'schema'"),
        (header_with(picture=3), "'picture' is a number, expected an object"),
        (header_with(picture={"id": "a", "width_px": 0, "height_px": 5}), "'width_px' is 0"),
        (header_with(picture={"id": "a", "width_px": 2.5, "height_px": 5}), "'width_px' is 2.5"),
        (header_with(picture={"id": "a", "width_px": 10**30, "height_px": 5}), "a huge number"),
        (header_with(picture={"id": "a", "width_px": 60000, "height_px": 60000}), "is 60000x6"),
        (header_with(picture={"id": "a", "width_px": 8193, "height_px": 8192}), "smaller copy"),
        (header_with(must_contain_px=[[1e300, 0]]), "is nowhere near a picture"),
        (header_with(focal={"focal_px": -3}), "'focal_px' is -3, expected a focal length"),
        (
            header_with(picture={"id": "a", "width_px": 6, "height_px": 6, "sha256": "zz"}),
            "64 hex digits",
        ),
        (header_with(focal={"focal_px": "wide"}), "'focal_px' holds a text"),
        (header_with(more=1), "a field 'more'"),
    ],
)
def test_a_bad_header_is_one_sentence(tmp_path, header, says):
    path = tmp_path / "a.jsonl"
    path.write_text(f"{header}\n")
    with pytest.raises(BadFile, match=says) as error:
        read_records(path)
    assert str(path) in str(error.value)


def test_a_byte_order_mark_is_passed_over(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(header_with(), encoding="utf-8-sig")  # and no end of the line
    assert read_records(path).picture == HEADER.picture
    append_record(path, Record("finish"))
    assert read_records(path).finished
    assert not list(tmp_path.glob("*.damaged"))


def test_the_largest_picture_and_places_are_read():
    picture = replace(HEADER.picture, width_px=8192, height_px=8192)
    made = Annotation(picture, Focal(1e7), region_px=((1e6, -1e6), (0, 0), (3, 3)))
    assert annotation_from_lines(lines_from_annotation(made)) == made


def test_other_bytes_are_refused(tmp_path):
    path = started(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"event":"finish","who":"\xff"}\n')
    with pytest.raises(BadFile, match="line 2: is not UTF-8"):
        read_records(path)
    with pytest.raises(BadFile, match="no such file"):
        read_records(tmp_path / "none.jsonl")


@settings(max_examples=100)
@given(st.data())
def test_damaged_files_never_crash(tmp_path_factory, data):
    """Bytes of a real file are changed, cut out or doubled: one sentence, or an annotation."""
    path = tmp_path_factory.mktemp("fuzz") / "a.jsonl"
    annotation = Annotation(
        HEADER.picture,
        HEADER.focal,
        region_px=((0.0, 0.0), (9.0, 0.0), (9.0, 9.0)),
        strokes={"s": Stroke("fold", ((1.5, 2.5), (3.0, 4.0)))},
        normals={"n": NormalMark((1.0, 1.0), (0.0, 0.0, -1.0))},
    )
    whole = bytearray("\n".join(lines_from_annotation(annotation)).encode() + b"\n")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        until = data.draw(st.integers(at, min(len(whole), at + 40)))
        whole[at:until] = data.draw(st.binary(max_size=8) | st.just(b'"id":')) * 2
        whole = whole or bytearray(b" ")
    path.write_bytes(whole)
    assert "\n" not in refused(lambda: read_records(path))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@settings(max_examples=100)
@given(
    st.sampled_from(["region", "stroke", "surface", "normal", "relation", "focal", "remove"]),
    st.dictionaries(
        st.sampled_from(
            [
                *("id", "points_px", "kind", "closer", "smooth", "at_px", "shape", "normal"),
                *("first", "second", "focal_px", "source", "what", "at", "who", "by", "seconds"),
            ]
        ),
        json_values,
    ),
)
def test_fields_of_any_kind_are_read_or_refused(event, fields):
    header = header_with()
    lines = [header, json.dumps({**fields, "event": event})]
    assert "\n" not in refused(lambda: annotation_from_lines(lines))


@pytest.mark.parametrize(
    "record",
    [
        Record("stroke", "", Stroke("fold", ((0.0, 0.0), (1.0, 1.0)))),
        Record("stroke", "s", Stroke("fold", ((0.0, float("nan")), (1.0, 1.0)))),
        Record("normal", "s", Stroke("fold", ((0.0, 0.0), (1.0, 1.0)))),
        Record("finish", at="noon"),
        Record("finish", who="\ud800"),
        Record("explode"),  # type: ignore[arg-type]
        Record("stroke", "s"),
    ],
)
def test_nothing_unreadable_is_ever_appended(tmp_path, record):
    path = started(tmp_path)
    before = path.read_bytes()
    with pytest.raises(Misuse, match="cannot be recorded"):
        append_record(path, record)
    assert path.read_bytes() == before


def test_records_are_never_replaced(tmp_path):
    path = started(tmp_path)
    with pytest.raises(CannotWrite, match="never replaced"):
        write_records(path, Annotation(Picture("other", 3, 3), Focal(1.0)))
    start_records(path, HEADER)
    assert history(path).header == HEADER


def test_a_record_needs_a_header(tmp_path):
    with pytest.raises(BadFile, match="no such file"):
        append_record(tmp_path / "a.jsonl", Record("finish"))
    (tmp_path / "b.jsonl").touch()
    with pytest.raises(BadFile, match="begin it with a header"):
        append_record(tmp_path / "b.jsonl", Record("finish"))


def test_lines_are_one_line(tmp_path):
    with pytest.raises(Misuse, match="one line"):
        append_line(tmp_path / "a.jsonl", "{}\n{}")
    append_line(tmp_path / "a.jsonl", "{}")
    assert (tmp_path / "a.jsonl").read_text() == "{}\n"


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(CannotWrite):
        append_line(tmp_path / "none" / "a.jsonl", "{}")


def test_whoever_waits_too_long_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("depthgauge.io.json_lines._PATIENCE_S", 0.05)
    path = started(tmp_path)
    with only_one(path, "busy"), pytest.raises(BadData, match="another process is writing"):
        append_record(path, Record("finish"))
    append_record(path, Record("finish"))
    assert read_records(path).finished


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = started(tmp_path)
    before = path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, body: write(handle, body[:5]))
    with pytest.raises(CannotWrite, match="disk is full"):
        append_record(path, Record("finish"))
    assert path.read_bytes() == before


def test_many_writers_lose_nothing(tmp_path):
    """Four threads here and two processes append at once."""
    path = started(tmp_path)
    program = (
        "import sys; from pathlib import Path\n"
        "from depthgauge.annotate.records.files import Record, append_record\n"
        "from depthgauge.annotate.records.annotation import SurfaceMark\n"
        "for i in range(20):\n"
        "    mark = SurfaceMark((1.0, float(i)), 'planar')\n"
        "    append_record(Path(sys.argv[1]), Record('surface', f'{sys.argv[2]}-{i}', mark))\n"
    )
    others = [subprocess.Popen([sys.executable, "-c", program, path, f"p{k}"]) for k in range(2)]

    def write(name):
        for i in range(20):
            mark = SurfaceMark((1.0, float(i)), "planar")
            append_record(path, Record("surface", f"{name}-{i}", mark))

    threads = [threading.Thread(target=write, args=(f"t{k}",)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [other.wait() for other in others] == [0, 0]
    found = history(path)
    assert found.notes == ()
    assert len(found.annotation.surfaces) == 6 * 20


@given(st.text(max_size=30))
def test_times_are_told_apart(text):
    assert is_time(text) in (True, False)


def test_pydantic_is_loaded_only_to_read_or_write_lines():
    code = "import depthgauge.annotate.records, depthgauge.annotate.reconstruct, sys; "
    code += "assert 'pydantic' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_page_on_records_names_every_field_of_every_event():
    from depthgauge.annotate.records._lines import _EVENTS, EventModel

    page = (Path(__file__).parents[3] / "docs" / "annotation-records.md").read_text()
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    fields = {name: row[2] for row in rows for name in re.findall("`(\\w+)`", row[1])}
    for name, model in _EVENTS.items():
        own = set(model.model_fields) - set(EventModel.model_fields)
        assert own == set(re.findall("`(\\w+)`", re.sub(r"\(.*?\)", "", fields[name]))), name
