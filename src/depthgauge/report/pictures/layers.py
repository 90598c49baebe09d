"""The pictures of a sample with layers: one set for each layer, and one for the last layer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from depthgauge.analysis.maps.layer_maps import LayerMaps, layer_maps
from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.quantities import QUANTITIES
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.encode import error_bar
from depthgauge.report.pictures.error_maps import write_error_map
from depthgauge.report.pictures.layout import unit_of
from depthgauge.report.pictures.model import (
    LayerPictures,
    MethodPictures,
    Picture,
    SamplePictures,
)
from depthgauge.report.tables.numbers import show_amount
from depthgauge.types import Map, is_known

LAST = "last"
ABOUT = (
    "Each surface that a pixel shows is a layer, the nearest first. Choose a layer, also with the "
    "arrow keys; 'last' is the last layer of each pixel for which there is a truth."
)
RANGE_RULE = "Layers count from the nearest without gaps; a layer that is not estimated is missing."


def draw_layers(sample: SampleMaps) -> SamplePictures:
    """Draws all layers as maps of the quantity that one layer has, on one scale."""
    like = QUANTITIES[sample.quantity].main.like or sample.quantity
    draw = drawing_of(like).draw
    flat = replace(sample, quantity=like, parts=(), layers=(), scale_truth=_all_truths(sample))
    if not sample.layers:  # examples show the main map only
        return _renamed(draw(flat))
    high = sample.errors_up_to
    high = _largest_errors(sample) if high is None else high
    drawn = draw(replace(flat, errors_up_to=high))
    stops = [_stop(flat, layer, draw(_one(flat, layer, high))) for layer in sample.layers]
    if len(stops) > 1:
        count = int(is_known(sample.truth).sum())
        about = f"The last layer of each pixel: {count:,} pixels."
        stops.append(LayerPictures(LAST, about, drawn.truth, drawn.methods))
    return replace(_renamed(drawn), layers=tuple(stops))


def _renamed(drawn: SamplePictures) -> SamplePictures:
    """Captions that say which layer is shown."""

    def of_last(picture: Picture) -> Picture:
        return replace(picture, caption=f"{picture.caption}, last layer")

    truth = None if drawn.truth is None else of_last(drawn.truth)
    return replace(drawn, truth=truth, together=tuple(map(of_last, drawn.together)))


def _all_truths(sample: SampleMaps) -> Map:
    """The truths of all layers, one below the other, from which the range of colours is taken."""
    return np.concatenate([layer.truth for layer in sample.layers] or [sample.truth])


def _largest_errors(sample: SampleMaps) -> float:
    """Where the colours of errors end, in all layers."""
    known = np.stack([is_known(layer.truth) for layer in sample.layers])
    labels = dict.fromkeys(label for layer in sample.layers for label in layer.errors)
    errors = (np.stack([layer.errors[label] for layer in sample.layers]) for label in labels)
    return error_bar(errors, known, unit_of(sample)).high


def _one(flat: SampleMaps, layer: LayerMaps, high: float) -> SampleMaps:
    """A layer as a sample of its own; without what is about all methods together."""
    return SampleMaps(
        flat.sample,
        flat.quantity,
        layer.truth,
        has_value_errors=False,
        images=flat.images,
        estimates=layer.estimates,
        errors=layer.errors,
        errors_up_to=high,
        results=flat.results,
        protocol=flat.protocol,
        scale_truth=flat.scale_truth,
    )


def _stop(flat: SampleMaps, layer: LayerMaps, drawn: SamplePictures) -> LayerPictures:
    shares = [f"{count:,} {name}" for name, count in layer.materials.items() if count]
    about = f"Layer {layer.number}: {layer.pixels:,} pixels" + (
        f" ({', '.join(shares)})." if shares else "."
    )
    methods = tuple(_with_note(flat, layer, method) for method in drawn.methods)
    return LayerPictures(str(layer.number), about, drawn.truth, methods)


def _with_note(flat: SampleMaps, layer: LayerMaps, method: MethodPictures) -> MethodPictures:
    """The mean error of this layer, and how much of it is not estimated."""
    if method.label not in layer.errors:
        return method
    errors = layer.errors[method.label][is_known(layer.truth)]
    there = errors[np.isfinite(errors)]
    lost = 100 * (1 - there.size / max(1, errors.size))
    words = [f"mean error {show_amount(float(there.mean()), unit_of(flat))}"] if there.size else []
    words += [f"{lost:.0f} % not estimated"] if lost >= 0.5 else []
    return replace(method, note=", ".join(words))


def write_error_maps(
    folder: Path, protocol: Protocol, prepared: PreparedSample, sample: str
) -> list[str]:
    """Writes the errors of each layer: all metrics of layers are made from them."""
    unit = QUANTITIES[protocol.quantity].unit
    for layer in layer_maps(prepared, {sample: prepared}):
        write_error_map(
            folder / f"layer_{layer.number}.png",
            layer.errors[sample],
            is_known(layer.truth),
            title=f"{sample}: layer {layer.number}",
            unit=f"|e| in {unit}",
        )
    return []
