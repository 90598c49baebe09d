"""Annotations go to COCO and Label Studio and come back; broken files are refused in words."""

import copy
import json
import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.annotate.exchange.coco import from_coco, to_coco
from depthgauge.annotate.exchange.files import read_document, write_document
from depthgauge.annotate.exchange.label_studio import CONFIG, to_label_studio
from depthgauge.annotate.exchange.label_studio_reading import from_label_studio
from depthgauge.annotate.records import read_records, write_records
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
from depthgauge.annotate.simulate import NONE, simulate
from depthgauge.errors import BadFile, CannotWrite, DepthgaugeError, Misuse
from depthgauge.synth.sets.single_views import make_view

SHA = "ab" * 32
DRAWN = Annotation(
    Picture("beach", 200, 100, SHA),
    Focal(240.0, "exif"),
    must_contain_px=((20.0, 30.0), (150.0, 60.5)),
    region_px=((-0.5, -0.5), (199.5, -0.5), (100.25, 99.5)),
    strokes={
        "s1": Stroke("occlusion", ((10.0, 0.0), (10.0, 99.0)), "left"),
        "s2": Stroke(
            "occlusion", ((50.0, 50.0), (60.0, 50.0), (60.0, 60.0), (50.0, 50.0)), "right", True
        ),
        "s3": Stroke("fold", ((100.0, 5.0), (120.5, 6.25))),
        "s4": Stroke("occlusion", ((150.0, 5.0), (150.0, 50.0))),
    },
    surfaces={"a": SurfaceMark((5.0, 5.0), "planar"), "b": SurfaceMark((90.5, 44.25), "planar")},
    normals={"n": NormalMark((5.0, 5.0), (0.6, 0.0, -0.8))},
    relations={"relation-1": Relation("a", "b", "orthogonal")},
    origin=Origin("anna", "in-house", "2026-05-04T10:00:00+00:00", 61.5),
    finished=True,
)


def through_json(body):
    return json.loads(json.dumps(body, allow_nan=False))


# --- Label Studio ---------------------------------------------------------------------------------


def test_label_studio_holds_all_that_is_drawn():
    made = to_label_studio([DRAWN, replace(DRAWN, finished=False)])
    assert not made.left_out
    taken = from_label_studio(through_json(made.body), "somebody")
    assert taken.annotations == (DRAWN, replace(DRAWN, finished=False))
    assert not taken.left_out


def test_percent_are_counted_from_the_corner_of_the_first_pixel():
    """The centre of the first of 200 pixels is at 0.25 %, that of the last of 100 at 99.5 %."""
    one = replace(DRAWN, surfaces={"a": SurfaceMark((0, 99), "planar")}, relations={})
    (task,) = to_label_studio([one], lambda name: f"/data/{name}.png").body
    assert task["data"]["image"] == "/data/beach.png"
    (key,) = [r for r in task["annotations"][0]["result"] if r["from_name"] == "surface"]
    assert (key["value"]["x"], key["value"]["y"]) == (0.25, 99.5)
    assert (key["original_width"], key["original_height"], key["image_rotation"]) == (200, 100, 0)


def test_a_closed_line_is_closed_and_an_open_one_is_a_chain():
    results = to_label_studio([DRAWN]).body[0]["annotations"][0]["result"]
    lines = {r["id"]: r["value"] for r in results if r["type"] == "vectorlabels"}
    assert (lines["line:s2"]["closed"], len(lines["line:s2"]["vertices"])) == (True, 3)
    assert lines["line:s2"]["vectorlabels"] == ["smooth occlusion"]
    first, second = lines["line:s1"]["vertices"]
    assert (first["prevPointId"], second["prevPointId"]) == (None, first["id"])
    nearer = {r["id"]: r["value"]["choices"] for r in results if r.get("from_name") == "nearer"}
    assert nearer == {"line:s1": ["left"], "line:s2": ["right"]}


def test_every_name_in_tasks_is_in_the_interface():
    tree = ElementTree.fromstring(CONFIG)
    controls = {one.get("name") for one in tree.iter() if one.get("toName") == "image"}
    labels = {one.get("value") for one in tree.iter() if one.tag in ("Label", "Choice", "Relation")}
    for one in to_label_studio([DRAWN]).body[0]["annotations"][0]["result"]:
        assert one["type"] == "relation" or one["from_name"] in controls
        named = [*one.get("labels", ()), *one.get("value", {}).get("vectorlabels", ())]
        named += one.get("value", {}).get("keypointlabels", ())
        assert set(named) <= labels


def test_what_label_studio_itself_adds_is_understood():
    """An export has users, drafts, skipped tasks, other controls, and renames uploaded files."""
    (task,) = through_json(to_label_studio([DRAWN]).body)
    task["data"] = {"image": "/data/upload/7/1f2e3d4c-beach.png"}
    task["annotations"][0] |= {"completed_by": 12, "id": 99, "ground_truth": False}
    task["annotations"][0]["result"].insert(0, {"from_name": "remark", "type": "textarea"})
    # Relations may come first, and lines may be drawn without a prefix in their id.
    task["annotations"][0]["result"].sort(key=lambda r: r["type"] != "relation")
    task["annotations"].append({"was_cancelled": True, "result": []})
    task["predictions"] = [{"result": []}]
    taken = from_label_studio([task], "somebody")
    (one,) = taken.annotations
    assert (one.picture.id, one.origin.who, one.picture.sha256) == ("beach", "person-12", "")
    assert (one.strokes, one.relations) == (DRAWN.strokes, DRAWN.relations)
    assert dict(taken.left_out) == {"skipped answers": 1, "results of remark": 1}


@given(
    st.lists(
        st.tuples(st.integers(-5000, 205000), st.integers(-5000, 105000)), min_size=2, max_size=6
    )
)
def test_any_line_comes_back(points):
    line = tuple((x / 1000, y / 1000) for x, y in points)
    one = replace(DRAWN, strokes={"s": Stroke("fold", line)})
    (back,) = from_label_studio(through_json(to_label_studio([one]).body), "x").annotations
    assert back.strokes["s"].points_px == line


def test_a_simulated_person_comes_back():
    drawn = simulate(make_view("mixed", 3, (160, 120)), NONE)
    (back,) = from_label_studio(through_json(to_label_studio([drawn]).body), "x").annotations
    assert back.strokes.keys() == drawn.strokes.keys()
    for name, stroke in drawn.strokes.items():
        other = back.strokes[name]
        assert (other.kind, other.closer, other.smooth) == (
            stroke.kind,
            stroke.closer,
            stroke.smooth,
        )
        for point, expected in zip(other.points_px, stroke.points_px, strict=True):
            assert point == pytest.approx(expected, abs=1e-4)
    for name, mark in drawn.normals.items():
        assert back.normals[name].normal == pytest.approx(mark.normal, abs=1e-12)


def result(body, control):
    results = body[0]["annotations"][0]["result"]
    return next(r for r in results if r.get("from_name", r["type"]) == control)


def broken_tasks():
    """Changes of a good document, and what the sentence must say."""

    def change(control, **fields):
        return lambda body: result(body, control).update(fields)

    def value(control, **fields):
        return lambda body: result(body, control)["value"].update(fields)

    def vertex(**fields):
        return lambda body: result(body, "line")["value"]["vertices"][1].update(fields)

    nan = math.nan
    return {
        "no data": (lambda body: body[0].pop("data"), "task 1: has no 'data'"),
        "a text": (lambda body: body.append("x"), "task 2: expected an object"),
        "no result": (lambda body: body[0]["annotations"][0].pop("result"), "has no 'result'"),
        "turned": (change("line", image_rotation=90), "the photograph is turned"),
        "another size": (change("line", original_width=201), "another size"),
        "no size": (change("region", original_width=0), "1 to 100000 px"),
        "a NaN": (vertex(x=nan), "expected a number, found nan"),
        "a text for x": (vertex(x="5"), "expected a number, found '5'"),
        "a curve": (vertex(isBezier=True), "is a curve"),
        "a branch": (vertex(prevPointId="elsewhere"), "branches"),
        "one point": (
            lambda body: result(body, "line")["value"]["vertices"].pop(),
            "two points or more",
        ),
        "an odd label": (value("line", vectorlabels=["road"]), "not 'road'"),
        "two labels": (value("surface", keypointlabels=["planar", "curved"]), "expected one of"),
        "a flat region": (value("region", points=[[1, 1], [2, 2]]), "three corners"),
        "many points": (value("region", points=[[1, 1]] * 20_001), "20000 are possible"),
        "no direction": (value("direction", text=["0 0"]), "three numbers"),
        "no length": (value("direction", text=["0 0 0"]), "is no direction"),
        "a negative focal length": (value("focal_px", number=-3), "positive"),
        "a long focal length": (value("focal_px", number=1e300), "1e\\+07 px"),
    }


@pytest.mark.parametrize("name", broken_tasks())
def test_broken_tasks_are_refused_in_words_and_write_nothing(name, tmp_path):
    spoil, said = broken_tasks()[name]
    body = through_json(to_label_studio([DRAWN]).body)
    spoil(body)
    (tmp_path / "tasks.json").write_text(json.dumps(body))
    with pytest.raises(BadFile, match=said):
        read_document(tmp_path / "tasks.json", "label-studio", tmp_path / "study")
    assert not (tmp_path / "study").exists()


NAMES = ("../../x", "..", "a/b", "", ".hidden", "x" * 300, "a\nb", "c:\\x")


@pytest.mark.parametrize("name", NAMES)
def test_no_name_leads_out_of_the_study(name, tmp_path):
    body = through_json(to_label_studio([DRAWN]).body)
    body[0]["data"] |= {"picture": name, "who": name, "image": name or "/"}
    (tmp_path / "tasks.json").write_text(json.dumps(body))
    try:
        made = read_document(tmp_path / "tasks.json", "label-studio", tmp_path / "study")
    except BadFile as error:
        assert "names no photograph" in str(error)  # noqa: PT017
    else:
        (path,) = made.files
        assert path.resolve().parent == (tmp_path / "study" / "records" / "imported").resolve()
    with pytest.raises(Misuse):
        read_document(tmp_path / "tasks.json", "label-studio", tmp_path / "study", name)


# --- COCO -----------------------------------------------------------------------------------------


def test_coco_holds_regions_and_surfaces_and_says_what_it_cannot():
    made = to_coco([DRAWN], lambda name: f"{name}.png")
    expected = {"lines": 4, "normals": 1, "relations": 1, "focal lengths": 1}
    assert dict(made.left_out) == expected
    body = through_json(made.body)
    image = {"id": 1, "file_name": "beach.png", "width": 200, "height": 100}
    assert body["images"] == [image]
    region = body["annotations"][0]
    assert region["segmentation"] == [[0, 0, 200, 0, 100.75, 100]]
    assert region["bbox"] == [0, 0, 200, 100]
    assert region["area"] == 200 * 100 / 2  # a triangle
    (one,) = from_coco(body, "somebody").annotations
    assert (one.picture, one.origin.who) == (Picture("beach", 200, 100), "anna")
    assert (one.region_px, one.surfaces) == (DRAWN.region_px, DRAWN.surfaces)
    assert one.focal.source == "assumed"


def test_people_and_pictures_stay_apart_in_coco():
    ben = replace(DRAWN, origin=Origin("ben"), surfaces={"a": SurfaceMark((1, 1), "curved")})
    other = replace(DRAWN, picture=Picture("street", 200, 100))
    taken = from_coco(through_json(to_coco([DRAWN, ben, other]).body), "x")
    found = [(one.picture.id, one.origin.who, len(one.surfaces)) for one in taken.annotations]
    assert found == [("beach", "anna", 2), ("beach", "ben", 1), ("street", "anna", 2)]


def test_what_others_annotate_in_coco_is_left_out_and_said():
    body = through_json(to_coco([DRAWN]).body)
    body["categories"].append({"id": 90, "name": "dog"})
    body["annotations"].append({"id": 8, "image_id": 1, "category_id": 90, "bbox": [0, 0, 1, 1]})
    taken = from_coco(body, "x")
    assert len(taken.annotations) == 1
    assert dict(taken.left_out) == {"annotations of category dog": 1}


def broken_coco():
    def first(**fields):
        return lambda body: body["annotations"][0].update(fields)

    return {
        "a list": (lambda body: body.pop("images"), "has no 'images'"),
        "no image": (first(image_id=7), "there is no image 7"),
        "a mask": (first(segmentation={"counts": [1], "size": [1, 1]}), "not a mask"),
        "odd numbers": (first(segmentation=[[0, 0, 1, 1, 2]]), "three corners"),
        "infinite": (first(segmentation=[[0, 0, 1, 1, math.inf, 2]]), "expected a number"),
        "two images": (lambda body: body["images"].append(body["images"][0]), "another image 1"),
        "two regions": (
            lambda body: body["annotations"].append(copy.deepcopy(body["annotations"][0])),
            "one region per person",
        ),
        "a size in words": (lambda body: body["images"][0].update(width="200"), "a number"),
        "no key points": (lambda body: body["annotations"][1].update(keypoints=[1]), "key point"),
    }


@pytest.mark.parametrize("name", broken_coco())
def test_broken_coco_is_refused_in_words(name):
    spoil, said = broken_coco()[name]
    body = through_json(to_coco([DRAWN]).body)
    spoil(body)
    with pytest.raises(BadFile, match=said):
        from_coco(body, "x")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["data", "annotations", "result", "value", "images", "categories", "id"]
            ),
            inner,
            max_size=4,
        )
    ),
)


@given(JSON)
def test_anything_else_is_refused_in_words(document):
    for read in (from_coco, from_label_studio):
        try:
            read(document, "x")
        except DepthgaugeError as error:
            assert str(error).endswith(".")  # noqa: PT017


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study" / "records" / "anna" / "beach.jsonl"
    path.parent.mkdir(parents=True)
    write_records(path, DRAWN)
    return tmp_path / "study"


def test_records_are_the_same_after_a_round_trip(study, tmp_path):
    out = tmp_path / "tasks.json"
    made = write_document([study], "label-studio", out, notes=print)
    assert made.files == (out, tmp_path / "tasks.xml")
    assert (made.files[1].read_text(), made.annotations) == (CONFIG, 1)
    back = read_document(out, "label-studio", tmp_path / "again")
    (path,) = back.files
    assert path == tmp_path / "again" / "records" / "anna" / "beach.jsonl"
    assert read_records(path) == DRAWN
    before = (study / "records" / "anna" / "beach.jsonl").read_bytes()
    assert path.read_bytes() == before
    # Once more changes nothing; other records are never replaced.
    read_document(out, "label-studio", tmp_path / "again")
    path.write_bytes(before[:-1].rpartition(b"\n")[0] + b"\n")
    with pytest.raises(CannotWrite, match="never replaced"):
        read_document(out, "label-studio", tmp_path / "again")
    with pytest.raises(CannotWrite, match="exists already"):
        write_document([study], "label-studio", out, notes=print)


def test_two_answers_of_one_person_are_refused(study, tmp_path):
    body = to_label_studio([DRAWN, DRAWN]).body
    (tmp_path / "two.json").write_text(json.dumps(body))
    with pytest.raises(BadFile, match="anna has two annotations of beach"):
        read_document(tmp_path / "two.json", "label-studio", tmp_path / "again")


@pytest.mark.parametrize("text", ["", "[", "[1]", "{}", "nul", "[" * 100_000, '"x"'])
def test_what_is_no_document_is_refused(text, tmp_path):
    (tmp_path / "x.json").write_text(text)
    for of in ("coco", "label-studio"):
        with pytest.raises(BadFile, match=r"x\.json"):
            read_document(tmp_path / "x.json", of, tmp_path / "again")
