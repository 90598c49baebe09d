"""Annotations as tasks of Label Studio, which can hold all that is drawn, and the answers.

| annotation | Label Studio |
|---|---|
| region | `polygonlabels` |
| occlusion, fold | `vectorlabels`, with `choices` for the nearer side |
| planar, curved | `keypointlabels` |
| normal | `keypointlabels`, with `textarea` for its direction |
| relation | `relation` between two key points; it has no id of its own there |
| focal length, whether it is finished | `number` and `choices` of the whole photograph |

`CONFIG` is the labelling interface that these names belong to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from depthgauge.annotate.exchange.fields import Document
from depthgauge.annotate.records.annotation import Annotation, Point, Stroke

LINES = {"sharp occlusion": False, "smooth occlusion": True, "fold": False}
"""Labels of lines, and whether each is smooth."""
KEYS = ("region", "line", "surface", "normal", "target")
"""Names of controls that make regions; with a colon, the beginning of their ids."""

CONFIG = """<View>
  <Image name="image" value="$image" zoom="true" zoomControl="true"/>
  <PolygonLabels name="region" toName="image"><Label value="region"/></PolygonLabels>
  <VectorLabels name="line" toName="image" closable="true">
    <Label value="sharp occlusion" background="#d62728"/>
    <Label value="smooth occlusion" background="#2ca02c"/>
    <Label value="fold" background="#ff7f0e"/>
  </VectorLabels>
  <Choices name="nearer" toName="image" perRegion="true" whenTagName="line">
    <Choice value="left"/><Choice value="right"/>
  </Choices>
  <KeyPointLabels name="surface" toName="image">
    <Label value="planar"/><Label value="curved"/>
  </KeyPointLabels>
  <KeyPointLabels name="normal" toName="image"><Label value="normal"/></KeyPointLabels>
  <TextArea name="direction" toName="image" perRegion="true" whenTagName="normal"
    placeholder="x right, y down, z forward: 0 0 -1 faces the camera" maxSubmissions="1"/>
  <KeyPointLabels name="target" toName="image"><Label value="target"/></KeyPointLabels>
  <Relations>
    <Relation value="parallel"/><Relation value="orthogonal"/><Relation value="neither"/>
  </Relations>
  <Number name="focal_px" toName="image" min="1"/>
  <Choices name="focal_source" toName="image">
    <Choice value="exif"/><Choice value="given"/><Choice value="assumed"/>
  </Choices>
  <Choices name="state" toName="image">
    <Choice value="finished"/><Choice value="unfinished"/>
  </Choices>
</View>
"""


def to_label_studio(
    annotations: Iterable[Annotation], file_of: Callable[[str], str] = str
) -> Document:
    """One task for each annotation.

    Args:
        annotations: Of any number of photographs and people.
        file_of: What Label Studio finds a photograph by: an address or the name of a file.
    """
    tasks = [_task(one, file_of(one.picture.id)) for one in annotations]
    return Document(tasks, Counter())


def _task(one: Annotation, image: str) -> dict[str, Any]:
    said: dict[str, Any] = {"result": _results(one), "was_cancelled": False}
    said["lead_time"] = one.origin.seconds
    if one.origin.begun:
        said["created_at"] = one.origin.begun
    data = {"image": image, "picture": one.picture.id, "sha256": one.picture.sha256}
    data |= {"who": one.origin.who, "source": one.origin.source}
    return {"data": data, "annotations": [said]}


def _results(one: Annotation) -> list[dict[str, Any]]:
    size = (one.picture.width_px, one.picture.height_px)
    found: list[dict[str, Any]] = []

    def add(control: str, kind: str, value: Mapping[str, Any], name: str = "") -> None:
        about = {"from_name": control, "to_name": "image", "type": kind, "value": dict(value)}
        shape = {"original_width": size[0], "original_height": size[1], "image_rotation": 0}
        found.append({**({"id": name} if name else {}), **about, **shape})

    if one.region_px:
        corners = [_percent(point, size) for point in one.region_px]
        value = {"points": corners, "closed": True, "polygonlabels": ["region"]}
        add("region", "polygonlabels", value, "region:1")
    for name, stroke in one.strokes.items():
        add("line", "vectorlabels", _vector(stroke, size), f"line:{name}")
        if stroke.closer is not None:
            add("nearer", "choices", {"choices": [stroke.closer]}, f"line:{name}")
    for name, mark in one.surfaces.items():
        add("surface", "keypointlabels", _key(mark.at_px, size, mark.shape), f"surface:{name}")
    for name, normal in one.normals.items():
        add("normal", "keypointlabels", _key(normal.at_px, size, "normal"), f"normal:{name}")
        text = " ".join(repr(float(v)) for v in normal.normal)
        add("direction", "textarea", {"text": [text]}, f"normal:{name}")
    for k, point in enumerate(one.must_contain_px, 1):
        add("target", "keypointlabels", _key(point, size, "target"), f"target:{k}")
    for relation in one.relations.values():
        ends = {"from_id": f"surface:{relation.first}", "to_id": f"surface:{relation.second}"}
        found.append({"type": "relation", "direction": "bi", "labels": [relation.kind], **ends})
    add("focal_px", "number", {"number": one.focal.focal_px}, "focal_px")
    add("focal_source", "choices", {"choices": [one.focal.source]}, "focal_source")
    state = "finished" if one.finished else "unfinished"
    add("state", "choices", {"choices": [state]}, "state")
    return found


def _percent(point: Point, size: tuple[int, int]) -> list[float]:
    return [100 * (v + 0.5) / side for v, side in zip(point, size, strict=True)]


def _key(point: Point, size: tuple[int, int], label: str) -> dict[str, Any]:
    x, y = _percent(point, size)
    return {"x": x, "y": y, "width": 0.5, "keypointlabels": [label]}


def _vector(stroke: Stroke, size: tuple[int, int]) -> dict[str, Any]:
    points = stroke.points_px
    closed = len(points) > 3 and points[0] == points[-1]
    vertices: list[dict[str, Any]] = []
    for k, point in enumerate(points[:-1] if closed else points):
        x, y = _percent(point, size)
        before = f"point-{k}" if k else None
        about = {"id": f"point-{k + 1}", "prevPointId": before, "isBezier": False}
        vertices.append({**about, "x": x, "y": y})
    smooth = "smooth occlusion" if stroke.smooth else "sharp occlusion"
    label = "fold" if stroke.kind == "fold" else smooth
    return {"vertices": vertices, "closed": closed, "vectorlabels": [label]}
