"""A course with a worked example, and a quiz: people qualify on scenes whose geometry is exact.

A quiz is a batch of synthetic scenes. The first is the worked example; the others are questions.
The answer key is what the simulated annotator without noise draws, as records of the person `key`.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

from depthgauge import io
from depthgauge.annotate.quality.exact_error import exact_errors
from depthgauge.annotate.reconstruct import reconstruct
from depthgauge.annotate.records import Annotation, write_records
from depthgauge.annotate.simulate import NONE, simulate
from depthgauge.errors import CannotWrite
from depthgauge.io.text import parse_json
from depthgauge.serve.annotating.batches import Batch, batch_folder, find_batch
from depthgauge.serve.desk.photographs import IMAGES, records_path
from depthgauge.serve.site import Site
from depthgauge.synth.sets.single_views import ExactView, make_view

KEY = "key"
LIMIT_PERCENT = 11.0
"""Of the depth range: 90 of 100 drawings of simulated people with human errors are nearer.

It was found on seeds that no quiz shows, and checked on others; see tools/evidence/quiz.py.
"""
_WITHOUT_NORMALS = 1.5 * LIMIT_PERCENT
"""Scenes on which lines alone come nearer than this are no questions."""
_KINDS = ("mixed", "planar", "curved", "mixed")
SIZE = (320, 240)


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody reached on one question."""

    picture: str
    finished: bool
    apart_percent: float | None
    """Mean distance from the exact surfaces in percent of the depth range; None before the end."""

    @property
    def passed(self) -> bool:
        """Whether it is near enough."""
        return self.apart_percent is not None and self.apart_percent < LIMIT_PERCENT


def add_quiz(
    site: Site, name: str, *, questions: int = 3, seed: int = 101, title: str = ""
) -> Batch:
    """Makes a quiz of random scenes, with its answer key; made again, it stays as it is.

    Args:
        site: The site.
        name: In addresses: small letters, digits and hyphens.
        questions: How many scenes are drawn on, besides the worked example.
        seed: Of the first scene; scenes on which lines alone are enough are left out.
        title: What members read.

    Raises:
        Misuse: That is no name of a batch.
        CannotWrite: It cannot be written, or there is another batch of that name.
    """
    folder = batch_folder(site, name)
    made_of = {"questions": questions, "seed": seed}
    if (folder / "batch.json").is_file():
        if parse_json((folder / "batch.json").read_text("utf-8")).get("made_of") == made_of:
            return find_batch(site, name)
        raise CannotWrite(f"{name}: there is such a batch already; choose another name.")
    views: list[ExactView] = []
    for number in itertools.count(seed):
        view = make_view(_KINDS[len(views) % len(_KINDS)], number, SIZE)
        if not views or is_question(view):  # the first one is the example
            views.append(view)
        if len(views) > questions:
            break
    # Names in the order of the course; the scene is found again by what `batch.json` says.
    names = [
        f"{place:02d}-{'example' if place == 0 else 'question'}" for place in range(len(views))
    ]
    for picture, view in zip(names, views, strict=True):
        _write(folder, picture, view)
    about = {
        "schema": 1,
        "title": title or "Course and quiz",
        "people": 10**6,
        "made_of": made_of,
        "scenes": {picture: view.id for picture, view in zip(names, views, strict=True)},
        "focal_px": {picture: view.focal_px for picture, view in zip(names, views, strict=True)},
    }
    io.write_text(folder / "batch.json", json.dumps(about) + "\n")
    return find_batch(site, name)


def is_question(view: ExactView) -> bool:
    """Whether nobody passes on this scene without normals: some look much like a flat wall."""
    lines = replace(simulate(view, NONE), normals={}, relations={})
    return exact_errors(view, reconstruct(lines)).edist_percent > _WITHOUT_NORMALS


def _write(folder: Path, picture: str, view: ExactView) -> None:
    (folder / IMAGES).mkdir(parents=True, exist_ok=True)
    io.write_image(folder / IMAGES / f"{picture}.png", view.image)
    drawn = simulate(view, NONE)
    key = replace(drawn, picture=replace(drawn.picture, id=picture))
    path = records_path(folder, KEY, picture)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_records(path, key)


def answers(batch: Batch, who: str) -> list[Answer]:
    """What a person reached on every question; empty if the batch is no quiz."""
    found = []
    for picture in list(batch.scenes)[1:]:
        drawn = batch.drawing(who, picture)
        finished = drawn is not None and drawn.finished
        apart = _apart(batch, picture, drawn) if drawn is not None and finished else None
        found.append(Answer(picture, finished, apart))
    return found


def is_qualified(batch: Batch, who: str) -> bool:
    """Whether a person passed every question of a quiz."""
    return all(answer.passed for answer in answers(batch, who))


_KEPT: dict[tuple[str, str, str], tuple[Annotation, float]] = {}
"""By batch, person and picture: the last drawing that was compared."""
_MOST_KEPT = 1000


def _apart(batch: Batch, picture: str, drawn: Annotation) -> float | None:
    key = str(batch.folder), drawn.origin.who, picture
    kept = _KEPT.get(key)
    if kept is None or kept[0] != drawn:
        if len(_KEPT) > _MOST_KEPT:
            _KEPT.clear()
        view = _view(batch.scenes[picture])
        kept = _KEPT[key] = drawn, exact_errors(view, reconstruct(drawn)).edist_percent
    return kept[1] if math.isfinite(kept[1]) else None


@functools.lru_cache(maxsize=16)
def _view(scene: str) -> ExactView:
    kind, _, seed = scene.rpartition("-")
    return make_view(kind, int(seed), SIZE)
