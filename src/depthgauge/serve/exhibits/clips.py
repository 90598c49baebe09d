"""Frames of clips, as pages step through them: some of what methods get, of truth and estimates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from depthgauge.analysis.maps.sample_maps import SampleMaps, SampleResult
from depthgauge.benchmarks import Protocol
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.engine.scoring.rules import Rules
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.encode import picture_of_image
from depthgauge.report.pictures.model import Picture
from depthgauge.serve.exhibits.files import Folder, keep_picture
from depthgauge.types import ClipEstimate, Image, Map, Sample

MOST_FRAMES = 8
_WIDE = 480


def shown_frames(length: int) -> list[int]:
    """The frames of a clip that are kept: the first, the last, and some between, evenly.

    >>> shown_frames(3), shown_frames(81)
    ([0, 1, 2], [0, 11, 23, 34, 46, 57, 69, 80])
    """
    count = min(length, MOST_FRAMES)
    return [round(k * (length - 1) / max(1, count - 1)) for k in range(count)]


def keep_scene_clip(
    protocol: Protocol, sample: Sample, judge: Judge | None, folder: Folder
) -> list[dict[str, Any]]:
    """Frames of a sample: its images, and the truth unless it is hidden; empty if it is no clip."""
    found, first = [], None
    for index, frame in _picked(sample):
        images = images_of(frame)
        pictures = [
            {"kind": name, **keep_picture(folder, f"frame-{index}-{name}", _photo(name, image))}
            for name, image in images.items()
        ]
        if judge is not None:
            bare = judge.prepared(frame, None)
            first = bare.truth if first is None else first
            drawn = drawing_of(protocol.quantity).draw(_maps(protocol, frame, bare, {}, first))
            if drawn.truth is not None:
                truth = keep_picture(folder, f"frame-{index}-truth", drawn.truth)
                pictures.append({"kind": "truth", **truth})
        found.append({"frame": index, "pictures": pictures})
    return found


def keep_estimate_clip(
    maps: RunMaps, sample: str, label: str, folder: Folder
) -> list[dict[str, Any]]:
    """Frames of a method's estimate; empty if the sample is no clip."""
    protocol, known = maps.run.protocol, maps.sample(sample)
    entrant = next(one for one in maps.run.entrants if one.label == label)
    estimate = maps.estimate(entrant, sample, entrant.seeds[0]) if known.length else None
    if not isinstance(estimate, ClipEstimate):
        return []
    judge = Judge(Rules.of(protocol, [known]), with_hashes=False)
    found, first = [], None
    for index, frame in _picked(known):
        given = estimate.frames[index] if index < len(estimate.frames) else None
        if given is None:
            continue
        prepared = judge.prepared(frame, given)
        first = prepared.truth if first is None else first
        made = _maps(protocol, frame, prepared, {label: prepared}, first)
        pictures = [
            {"kind": "estimate", **keep_picture(folder, f"frame-{index}-estimate", one.estimate)}
            for one in drawing_of(protocol.quantity).draw(made).methods
            if one.estimate is not None
        ]
        found.append({"frame": index, "pictures": pictures})
    return found


def images_of(frame: Sample) -> dict[str, Image]:
    """The pictures that methods are given of a frame; one that has two names comes once."""
    names = {id(frame.inputs[name]): name for name in frame.inputs if name.endswith("image")}
    return {name: frame.inputs[name] for name in names.values()}


def _picked(sample: Sample) -> Iterator[tuple[int, Sample]]:
    """The frames that are shown; nothing of the others is read."""
    if sample.length is None:
        return
    wanted = set(shown_frames(sample.length))
    yield from ((n, frame) for n, frame in enumerate(sample.fresh().frames()) if n in wanted)


def _maps(
    protocol: Protocol,
    frame: Sample,
    bare: PreparedSample,
    prepared: Mapping[str, PreparedSample],
    scale: Map,
) -> SampleMaps:
    """What is drawn of a frame; all frames of a clip share the colours of the first."""
    return SampleMaps(
        sample=frame.id,
        quantity=protocol.quantity,
        truth=bare.truth,
        images={},
        estimates={label: each.allowed for label, each in prepared.items()},
        results={label: SampleResult() for label in prepared},
        protocol=protocol,
        unestimated=bare,
        most_wide=_WIDE,
        scale_truth=scale,
    )


def _photo(name: str, image: Image) -> Picture:
    return picture_of_image(image, name.replace("_", " "), wide=_WIDE)
