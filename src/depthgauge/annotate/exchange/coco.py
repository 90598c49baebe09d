"""Annotations as COCO: polygons of regions, and surfaces as key points.

COCO has areas and key points. It has no open lines, no directions and no relations, so occlusions,
folds, normals, relations and the focal length stay behind; documents say how many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from depthgauge.annotate.exchange.fields import (
    Document,
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
from depthgauge.annotate.records.annotation import (
    Annotation,
    Origin,
    Picture,
    Point,
    Shape,
    SurfaceMark,
)
from depthgauge.errors import BadFile

REGION = "region"
SHAPES: dict[str, Shape] = {"planar surface": "planar", "curved surface": "curved"}
_NUMBERS = {name: k for k, name in enumerate((REGION, *SHAPES), 1)}


def to_coco(annotations: Iterable[Annotation], file_of: Callable[[str], str] = str) -> Document:
    """One document of all annotations.

    Args:
        annotations: Of any number of photographs and people.
        file_of: The name of a photograph's file by its id.
    """
    images: dict[str, dict[str, Any]] = {}
    listed: list[dict[str, Any]] = []
    left_out: Counter[str] = Counter()
    for one in annotations:
        picture = one.picture
        size = {"width": picture.width_px, "height": picture.height_px}
        image = {"id": len(images) + 1, "file_name": file_of(picture.id), **size}
        image = images.setdefault(picture.id, image)
        for kind, shape in _shapes(one):
            about = {"id": len(listed) + 1, "image_id": image["id"], "category_id": _NUMBERS[kind]}
            listed.append({**about, **shape})
        left_out.update(_without_place(one))
    categories = [
        {"id": _NUMBERS[REGION], "name": REGION, "supercategory": "depthgauge"},
        *(
            {
                "id": _NUMBERS[name],
                "name": name,
                "supercategory": "depthgauge",
                "keypoints": ["point"],
                "skeleton": [],
            }
            for name in SHAPES
        ),
    ]
    body = {
        "info": {"description": "Annotations of depthgauge", "version": "1"},
        "licenses": [],
        "images": list(images.values()),
        "categories": categories,
        "annotations": listed,
    }
    return Document(body, +left_out)


def _without_place(one: Annotation) -> dict[str, int]:
    return {
        "lines": len(one.strokes),
        "normals": len(one.normals),
        "relations": len(one.relations),
        "focal lengths": int(one.focal.source != "assumed"),
    }


def _shapes(one: Annotation) -> Iterable[tuple[str, dict[str, Any]]]:
    who = {"who": one.origin.who}
    if one.region_px:
        corners = [(x + 0.5, y + 0.5) for x, y in one.region_px]
        xs, ys = zip(*corners, strict=True)
        yield (
            REGION,
            {
                "segmentation": [[v for corner in corners for v in corner]],
                "bbox": [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)],
                "area": _area(corners),
                "iscrowd": 0,
                "attributes": who,
            },
        )
    for name, mark in one.surfaces.items():
        x, y = mark.at_px[0] + 0.5, mark.at_px[1] + 0.5
        yield (
            f"{mark.shape} surface",
            {
                "keypoints": [x, y, 2],
                "num_keypoints": 1,
                "bbox": [x - 0.5, y - 0.5, 1.0, 1.0],
                "area": 1.0,
                "iscrowd": 0,
                "attributes": {**who, "mark": name},
            },
        )


def _area(corners: list[Point]) -> float:
    following = [*corners[1:], corners[0]]
    return abs(sum(x * v - u * y for (x, y), (u, v) in zip(corners, following, strict=True))) / 2


@dataclass
class _Begun:
    """An annotation that is being put together."""

    picture: Picture
    who: str
    region_px: tuple[Point, ...] = ()
    surfaces: dict[str, SurfaceMark] = field(default_factory=dict)

    def annotation(self) -> Annotation:
        focal = assumed_focal(self.picture.width_px, self.picture.height_px)
        made = Annotation(self.picture, focal, region_px=self.region_px, surfaces=self.surfaces)
        return replace(made, origin=Origin(who=self.who, source="coco"))


def from_coco(document: Any, who: str) -> Taken:
    """The annotations of a COCO document, by photograph and person.

    Args:
        document: JSON.
        who: Who drew what has no `attributes.who`.

    Raises:
        BadFile: It is no such document, or something in it is wrong; the sentence says where.
    """
    body = of_kind("the document", document, dict)
    pictures = _pictures(body)
    categories = {
        get(f"category {k}", of_kind(f"category {k}", one, dict), "id", int): str(one.get("name"))
        for k, one in enumerate(get("the document", body, "categories", list), 1)
    }
    begun: dict[tuple[int, str], _Begun] = {}
    left_out: Counter[str] = Counter()
    for k, one in enumerate(get("the document", body, "annotations", list), 1):
        where = f"annotation {k}"
        image = get(where, of_kind(where, one, dict), "image_id", int)
        if image not in pictures:
            raise BadFile(f"{where}: there is no image {image}.")
        category = categories.get(get(where, one, "category_id", int), "unknown")
        if category not in _NUMBERS:
            left_out[f"annotations of category {category[:60]}"] += 1
            continue
        attributes = one.get("attributes") if type(one.get("attributes")) is dict else {}
        drawn_by = attributes.get("who")
        person = drawn_by if type(drawn_by) is str and is_name(drawn_by) else who
        into = begun.setdefault((image, person), _Begun(pictures[image], person))
        _take(where, one, category, attributes, into)
    return Taken(tuple(one.annotation() for one in begun.values()), left_out)


def _pictures(body: Mapping[str, Any]) -> dict[int, Picture]:
    found: dict[int, Picture] = {}
    for k, one in enumerate(get("the document", body, "images", list), 1):
        where = f"image {k}"
        number_ = get(where, of_kind(where, one, dict), "id", int)
        if number_ in found:
            raise BadFile(f"{where}: there is another image {number_}.")
        name = picture_id(where, get(where, one, "file_name", str))
        found[number_] = Picture(name, side(where, one, "width"), side(where, one, "height"))
    return found


def _take(
    where: str, one: Mapping[str, Any], category: str, attributes: Mapping[str, Any], into: _Begun
) -> None:
    if category == REGION:
        if into.region_px:
            raise BadFile(f"{where}: a photograph has one region per person.")
        into.region_px = _polygon(where, one)
        return
    keys = get(where, one, "keypoints", list)
    if len(keys) != 3:
        raise BadFile(f"{where}: a surface has one key point: x, y and its visibility.")
    number(where, keys[2])
    name = attributes.get("mark")
    free = type(name) is str and 0 < len(name) <= 100 and name not in into.surfaces
    key = name if free else f"mark-{len(into.surfaces) + 1}"
    (at,) = points_from(where, [keys[:2]])
    into.surfaces[str(key)] = SurfaceMark(at, SHAPES[category])


def _polygon(where: str, one: Mapping[str, Any]) -> tuple[Point, ...]:
    parts = one.get("segmentation")
    if type(parts) is not list or len(parts) != 1 or type(parts[0]) is not list:
        raise BadFile(f"{where}: a region is one polygon, not a mask or several.")
    flat = parts[0]
    if len(flat) % 2 or len(flat) < 6:
        raise BadFile(f"{where}: a polygon has three corners or more, x and y of each.")
    return points_from(where, [list(pair) for pair in zip(flat[::2], flat[1::2], strict=True)])
