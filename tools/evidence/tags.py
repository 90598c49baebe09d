"""How exact correspondences of tags are, before, on and behind glass, on a simulated session.

The pipeline was made with another seed. The session and what was made of it are kept in
out/evidence, so a stopped measurement goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from depthgauge import io
from depthgauge.capture.tags import capture_tags
from depthgauge.sessions import Session, open_session
from depthgauge.sessions.tags import TAGGED_TIMES, tag_objects
from depthgauge.synth.sets.tag_session import write_tag_session
from tools._measured import table, update
from tools.evidence import REPOSITORY, Number, figure, recorded_values, within
from tools.evidence._sources import TAG_PIPELINE, TAG_SIMULATOR, digest

SIZE_PX = (1280, 960)
OBJECTS, BOARDS, SEED = 3, 40, 11
_WHERE = {"in_front_of_glass": "before glass", "behind_glass": "behind glass"}


@figure(
    "tags",
    data=f"a simulated session of 1280x960 px, {BOARDS} boards, {OBJECTS} objects, seed {SEED}",
    needs=("embreex",),
)
def tags() -> Iterator[Number]:
    """Errors in px of corners matched between cameras and times, and tags lost to refraction.

    The exact places are those of the layer tracer, through the glass and the distorted lenses.
    """
    session = _session()
    run = capture_tags(session, _place("tags-work", (*TAG_SIMULATOR, *TAG_PIPELINE)))
    yield Number("objects that failed", len(run.failed), 0, 0)
    for done in run.objects:
        if done.truth is not None:
            yield from _numbers(done.name.partition("-")[2], done.truth)
    _draw(session)


def _place(name: str, sources: tuple[str, ...]) -> Path:
    """A folder that belongs to the code as it is."""
    return REPOSITORY / "out" / "evidence" / f"{name}-{digest(sources)}"


def _session() -> Session:
    folder = _place("tags-session", TAG_SIMULATOR)
    width, height = SIZE_PX
    write_tag_session(folder, objects=OBJECTS, width=width, height=height, boards=BOARDS, seed=SEED)
    return open_session(folder)


def _draw(session: Session) -> None:
    """The left photographs with tags, before and after the rearrangement, for the page."""
    columns = []
    for thing in tag_objects(session):
        pictures = [io.read_image(thing.images[time, 0]) for time in TAGGED_TIMES]
        columns.append(np.concatenate(pictures))
    sheet = Image.fromarray(np.concatenate(columns, axis=1))
    sheet.thumbnail((1440, 1440))
    sheet.save(REPOSITORY / "docs" / "images" / "tag-session.webp", quality=82)


def _numbers(name: str, truth: Mapping[str, Any]) -> Iterator[Number]:
    for key, words in _WHERE.items():
        errors, lost = truth[key], truth["tags"][key]
        yield Number(f"{name}, {words}: correspondences", errors["correspondences"])
        yield within(f"{name}, {words}: median |error|, px", errors["median_px"], 0.0, 0.3)
        yield within(f"{name}, {words}: 95 % below, px", errors["p95_px"], 0.0, 1.0)
        yield Number(f"{name}, {words}: tags shown in both pictures", lost["shown"])
        yield Number(f"{name}, {words}: tags not found", lost["not_found"])
        yield Number(f"{name}, {words}: tags excluded", lost["excluded"])
    where = truth["position"]
    yield Number(f"{name}: corners in space, median |error|, mm", where["median_mm"])


def write_page(*, check: bool = False) -> bool:
    """Brings the table of docs/capture-tags.md up to date; True where it is."""
    numbers = recorded_values("tags")
    if not numbers:
        return False
    columns = {
        "correspondences": "correspondences",
        "median |error|, px": "median, px",
        "95 % below, px": "95 % below, px",
        "tags shown in both pictures": "tags that both pictures show",
        "tags not found": "not found",
        "tags excluded": "excluded",
    }
    names = [n.partition(":")[0] for n in numbers if n.endswith(": correspondences")]
    rows = [
        [name, *(_shown(numbers[f"{name}: {what}"], what) for what in columns)] for name in names
    ]
    return update(
        "capture-tags.md",
        {"accuracy": table(["", *columns.values()], rows)},
        "evidence",
        check,
    )


def _shown(value: float, what: str) -> str:
    return f"{value:.3f}" if what.endswith("px") else f"{value:.0f}"
