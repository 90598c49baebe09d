"""All pictures of one sample of a run, drawn as its quantity asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from depthgauge.analysis.board import Board
from depthgauge.analysis.precision_recall import PrecisionRecall, boundary_spec
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.measure import Prepared
from depthgauge.engine.store.record import Run
from depthgauge.report.page.model import MethodPictures, Picture, SamplePictures
from depthgauge.report.pictures.draw import draw_sample
from depthgauge.report.pictures.encode import picture_of_image
from depthgauge.report.pictures.kinds import kind_of
from depthgauge.report.pictures.pairs import order_rows, relations_picture
from depthgauge.report.pictures.photo import image_of
from depthgauge.report.pictures.quantities import boundaries as boundary_pictures
from depthgauge.report.pictures.quantities import planes as plane_pictures
from depthgauge.report.pictures.sample_maps import sample_maps, sample_notes

Curves = Mapping[str, PrecisionRecall]


def sample_pictures(
    maps: RunMaps,
    board: Board,
    sample: str,
    found: Mapping[str, Prepared],
    why: tuple[str, ...] = (),
    curves: Curves | None = None,
) -> SamplePictures:
    """The pictures of one sample; methods in the order of the board.

    Args:
        maps: Truth and images of the run.
        board: The order of the methods, and the main score.
        sample: Which one.
        found: The estimates of this sample beside the truth, by label.
        why: Why it is shown.
        curves: Of boundaries: the methods' curves, which say at what threshold they are matched.
    """
    kind = kind_of(maps.run.protocol)
    if kind not in ("boundaries", "planes"):
        drawn = draw_sample(sample_maps(maps, board, sample, found, why))
        return _with_pairs(drawn, maps, found) if kind in ("normals", "shapes") else drawn
    draw = _boundaries if kind == "boundaries" else _planes
    truth, methods = draw(maps, board, sample, found, curves or {})
    images = maps.images(sample)
    return SamplePictures(
        sample=sample,
        why=why,
        inputs=tuple(
            picture_of_image(image, name.replace("_", " ")) for name, image in images.items()
        ),
        truth=truth,
        methods=methods,
    )


def _with_pairs(
    drawn: SamplePictures, maps: RunMaps, found: Mapping[str, Prepared]
) -> SamplePictures:
    """The pictures of a sample with those of its pairs of points, where scores ask for them."""
    protocol, image = maps.run.protocol, image_of(maps.images(drawn.sample))
    ordered = {each.label: found[each.label] for each in drawn.methods if each.label in found}
    relations = relations_picture(protocol, maps.missing(drawn.sample), image)
    return replace(
        drawn,
        together=(*drawn.together, *([relations] if relations is not None else [])),
        rows=(*drawn.rows, *order_rows(protocol, ordered, image)),
    )


def _boundaries(
    maps: RunMaps, board: Board, sample: str, found: Mapping[str, Prepared], curves: Curves
) -> tuple[Picture, tuple[MethodPictures, ...]]:
    protocol, image = maps.run.protocol, image_of(maps.images(sample))
    notes = sample_notes(maps.run, board, sample)
    for label in notes:
        if label in found and (text := _f_words(maps.run, label, sample, curves)):
            notes[label] = text
    classes = boundary_pictures.has_classes(protocol)
    truth = boundary_pictures.true_lines(maps.truth(sample), image, classes=classes)
    return truth, boundary_pictures.draw_methods(found, protocol, curves, image, notes)


def _f_words(run: Run, label: str, sample: str, curves: Curves) -> str:
    spec = boundary_spec(run.protocol)
    seed = next(entrant.seeds[0] for entrant in run.entrants if entrant.label == label)
    here = run.results[label, seed].samples.get(sample, {})
    score = None if spec is None else here.get(spec.id)
    return boundary_pictures.f_words(score, curves.get(label))


def _planes(
    maps: RunMaps, board: Board, sample: str, found: Mapping[str, Prepared], curves: Curves
) -> tuple[Picture, tuple[MethodPictures, ...]]:
    image = image_of(maps.images(sample))
    truth = plane_pictures.true_planes(maps.truth(sample), image)
    notes = sample_notes(maps.run, board, sample)
    return truth, plane_pictures.draw_methods(found, image, notes)
