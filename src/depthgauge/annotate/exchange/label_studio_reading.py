"""Reads tasks of Label Studio that were annotated with the interface of `label_studio`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from depthgauge.annotate.exchange.fields import (
    Taken,
    assumed_focal,
    get,
    is_name,
    number,
    of_kind,
    picture_id,
    points_from,
    side,
)
from depthgauge.annotate.exchange.label_studio import KEYS, LINES
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Origin,
    Picture,
    Point,
    Relation,
    Stroke,
    SurfaceMark,
    Vector,
)
from depthgauge.errors import BadFile
from depthgauge.io.json_lines import shown

_SOURCES = ("exif", "given", "assumed")
_RELATIONS = ("parallel", "orthogonal", "neither")


@dataclass
class _Begun:
    """One answer that is being put together."""

    size: tuple[int, int] | None = None
    region_px: tuple[Point, ...] = ()
    targets: list[Point] = field(default_factory=list)
    strokes: dict[str, Stroke] = field(default_factory=dict)
    surfaces: dict[str, SurfaceMark] = field(default_factory=dict)
    normals: dict[str, NormalMark] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    focal_px: float | None = None
    focal_source: str = "given"
    finished: bool = True


def from_label_studio(document: Any, who: str) -> Taken:
    """The annotations of tasks.

    Args:
        document: JSON: a list of tasks, as Label Studio exports and imports them.
        who: Who drew what has no `data.who` and no number of a user.

    Raises:
        BadFile: It is no such list, or something in it is wrong; the sentence says where.
    """
    found: list[Annotation] = []
    left_out: Counter[str] = Counter()
    for k, task in enumerate(of_kind("the document", document, list), 1):
        where = f"task {k}"
        data = get(where, of_kind(where, task, dict), "data", dict)
        answers = task.get("annotations", [])
        for n, answer in enumerate(of_kind(f"{where}, annotations", answers, list), 1):
            place = f"{where}, annotation {n}"
            if of_kind(place, answer, dict).get("was_cancelled") is True:
                left_out["skipped answers"] += 1
                continue
            found.append(_annotation(place, data, answer, who, left_out))
    return Taken(tuple(found), left_out)


def _annotation(
    where: str,
    data: Mapping[str, Any],
    answer: Mapping[str, Any],
    who: str,
    left_out: Counter[str],
) -> Annotation:
    results = get(where, answer, "result", list)
    for k, one in enumerate(results, 1):
        of_kind(f"{where}, result {k}", one, dict)
    begun, more = _Begun(), _more(where, results)
    numbered = [(f"{where}, result {k}", one) for k, one in enumerate(results, 1)]
    # Relations may come before what they relate.
    for place, one in sorted(numbered, key=lambda each: each[1].get("type") == "relation"):
        _take(place, one, more, begun, left_out)
    if begun.size is None:
        raise BadFile(f"{where}: no result says how large the photograph is.")
    width, height = begun.size
    name = data.get("picture")
    named = name if type(name) is str and is_name(name) else None
    picture = named or picture_id(where, get(f"{where}, data", data, "image", str))
    digest = data.get("sha256")
    known = type(digest) is str and len(digest) == 64 and set(digest) <= set("0123456789abcdef")
    focal = assumed_focal(width, height)
    if begun.focal_px is not None:
        focal = Focal(begun.focal_px, begun.focal_source)  # type: ignore[arg-type]
    return Annotation(
        Picture(picture, width, height, str(digest) if known else ""),
        focal,
        must_contain_px=tuple(begun.targets),
        region_px=begun.region_px,
        strokes=begun.strokes,
        surfaces=begun.surfaces,
        normals=begun.normals,
        relations=begun.relations,
        origin=_origin(where, data, answer, who),
        finished=begun.finished,
    )


def _origin(where: str, data: Mapping[str, Any], answer: Mapping[str, Any], who: str) -> Origin:
    by = answer.get("completed_by")
    number_ = by.get("id") if type(by) is dict else by
    person = f"person-{number_}" if type(number_) is int else who
    if type(data.get("who")) is str and is_name(data["who"]):
        person = data["who"]
    seconds = answer.get("lead_time")
    spent = 0.0 if seconds is None else number(f"{where}, lead_time", seconds)
    source = data.get("source")
    origin = source if type(source) is str and source else "label-studio"
    begun = answer.get("created_at")
    known = type(begun) is str and _is_moment(begun)
    return Origin(person, origin[:100], str(begun) if known else "", max(0.0, spent))


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _more(where: str, results: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """What was chosen or written for single regions, by their ids and the control."""
    found: dict[tuple[str, str], str] = {}
    for k, one in enumerate(results, 1):
        control = one.get("from_name")
        if control in ("nearer", "direction"):
            field_ = "choices" if control == "nearer" else "text"
            value = get(f"{where}, result {k}", one, "value", dict).get(field_)
            text = value[0] if type(value) is list and value else value
            found[str(one.get("id")), control] = of_kind(f"{where}, result {k}", text, str)
    return found


def _take(
    where: str,
    one: Mapping[str, Any],
    more: Mapping[tuple[str, str], str],
    begun: _Begun,
    left_out: Counter[str],
) -> None:
    control, kind = one.get("from_name"), one.get("type")
    if kind == "relation":
        _take_relation(where, one, begun, left_out)
    elif control in ("focal_px", "focal_source", "state"):
        _take_whole(where, control, get(where, one, "value", dict), begun)
        _take_size(where, one, begun)
    elif control in KEYS:
        _take_size(where, one, begun)
        _take_shape(where, control, one, more, begun)
    elif control not in ("nearer", "direction"):
        left_out[f"results of {str(control)[:60]}"] += 1


def _take_size(where: str, one: Mapping[str, Any], begun: _Begun) -> None:
    if one.get("image_rotation", 0) not in (0, 0.0):
        raise BadFile(f"{where}: the photograph is turned; turn the file itself, and draw again.")
    if "original_width" not in one and begun.size is not None:
        return
    size = side(where, one, "original_width"), side(where, one, "original_height")
    if begun.size not in (None, size):
        raise BadFile(f"{where}: the photograph has another size than before.")
    begun.size = size


def _take_whole(where: str, control: str, value: Mapping[str, Any], begun: _Begun) -> None:
    if control == "focal_px":
        begun.focal_px = number(where, value.get("number"))
        if begun.focal_px <= 0:
            raise BadFile(f"{where}: a focal length is positive, found {begun.focal_px:g}.")
        return
    (chosen,) = _one_label(where, value, "choices")
    if control == "focal_source" and chosen in _SOURCES:
        begun.focal_source = chosen
    if control == "state":
        begun.finished = chosen != "unfinished"


def _take_shape(
    where: str,
    control: str,
    one: Mapping[str, Any],
    more: Mapping[tuple[str, str], str],
    begun: _Begun,
) -> None:
    value, given = get(where, one, "value", dict), get(where, one, "id", str)
    name = given.removeprefix(f"{control}:")
    if control == "region":
        if begun.region_px:
            raise BadFile(f"{where}: a photograph has one region per person.")
        corners = get(where, value, "points", list)
        begun.region_px = points_from(where, corners, _per_percent(begun))
        if len(corners) < 3:
            raise BadFile(f"{where}: a polygon has three corners or more.")
    elif control == "line":
        begun.strokes[name] = _stroke(where, value, more.get((given, "nearer")), begun)
    else:
        pair = [value.get("x"), value.get("y")]
        (at,) = points_from(where, [pair], _per_percent(begun))
        (label,) = _one_label(where, value, "keypointlabels")
        if control == "target":
            begun.targets.append(at)
        elif control == "surface":
            if label not in ("planar", "curved"):
                raise BadFile(f"{where}: a surface is planar or curved, not {shown(label)}.")
            begun.surfaces[name] = SurfaceMark(at, label)  # type: ignore[arg-type]
        else:
            begun.normals[name] = NormalMark(at, _direction(where, more.get((given, "direction"))))


def _per_percent(begun: _Begun) -> Point:
    assert begun.size is not None
    return begun.size[0] / 100, begun.size[1] / 100


def _one_label(where: str, value: Mapping[str, Any], name: str) -> list[str]:
    found: list[str] = get(where, value, name, list)
    if len(found) != 1 or type(found[0]) is not str:
        raise BadFile(f"{where}: expected one of {name}, found {shown(found)}.")
    return found


def _stroke(where: str, value: Mapping[str, Any], nearer: str | None, begun: _Begun) -> Stroke:
    (label,) = _one_label(where, value, "vectorlabels")
    if label not in LINES:
        raise BadFile(f"{where}: a line is one of {', '.join(LINES)}, not {shown(label)}.")
    vertices = get(where, value, "vertices", list)
    before: Any = None
    pairs = []
    for k, vertex in enumerate(vertices, 1):
        place = f"{where}, vertex {k}"
        of_kind(place, vertex, dict)
        if vertex.get("isBezier") is True:
            raise BadFile(f"{place}: is a curve; records have straight lines between points.")
        if k > 1 and vertex.get("prevPointId") != before:
            raise BadFile(f"{place}: the line branches, or its points are not in order.")
        before = vertex.get("id")
        pairs.append([vertex.get("x"), vertex.get("y")])
    points = points_from(where, pairs, _per_percent(begun))
    if len(points) < 2:
        raise BadFile(f"{where}: a line has two points or more.")
    if value.get("closed") is True:
        points = (*points, points[0])
    if label == "fold":
        return Stroke("fold", points)
    side_ = nearer if nearer in ("left", "right") else None
    return Stroke("occlusion", points, side_, LINES[label])  # type: ignore[arg-type]


def _direction(where: str, text: str | None) -> Vector:
    if text is None:
        raise BadFile(f"{where}: the normal has no direction; write three numbers.")
    try:
        x, y, z = (float(part) for part in text.replace(",", " ").split())
    except ValueError:
        raise BadFile(f"{where}: expected three numbers, found {shown(text)}.") from None
    length = math.hypot(x, y, z)
    if not 1e-9 < length < 1e9:
        raise BadFile(f"{where}: {shown(text)} is no direction.")
    if abs(length - 1) < 1e-6:
        return x, y, z
    return x / length, y / length, z / length


def _take_relation(
    where: str, one: Mapping[str, Any], begun: _Begun, left_out: Counter[str]
) -> None:
    kind = (one.get("labels") or [None])[0] if type(one.get("labels")) is list else None
    ends = [str(one.get(name)).removeprefix("surface:") for name in ("from_id", "to_id")]
    if kind not in _RELATIONS or not all(end in begun.surfaces for end in ends):
        left_out["relations of other things"] += 1
        return
    name = f"relation-{len(begun.relations) + 1}"
    begun.relations[name] = Relation(ends[0], ends[1], kind)
