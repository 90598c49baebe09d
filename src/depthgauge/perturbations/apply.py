"""Perturbations applied: to one image, or to every image of a sample when it is read."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadData, Misuse, Unavailable, WrongShape
from depthgauge.perturbations._effect import EFFECTS, Pixels
from depthgauge.perturbations._views import (
    GRID,
    IMAGES,
    View,
    names_of_items,
    stream,
    view_of_grid,
    view_of_item,
)
from depthgauge.perturbations.texts import Part, Perturbation, parse_perturbation
from depthgauge.types import Frames, Image, Inputs, frame_name

_FULL = np.float32(255)


def perturb_inputs(inputs: Inputs, perturbation: Perturbation | str, sample_id: str) -> Inputs:
    """The same inputs with every image, and every frame of a clip, damaged when it is read.

    Bytes stay bytes, and floats from 0 to 1 stay floats, 1 standing for 255 grey levels. The centre
    image of a light field equals the centre of its damaged views. Other items stay as they are.

    Args:
        inputs: The inputs of the sample; nothing is read now.
        perturbation: Or its text.
        sample_id: Decides the random numbers, together with view and effect.

    Raises:
        Unavailable: The sample has none of the views that a part is for.
    """
    perturbation = _parsed(perturbation)
    _check_views(inputs, perturbation, sample_id)
    things = inputs.__getstate__()
    damaged = {
        name: partial(_perturbed_item, things[name], name, perturbation, sample_id)
        for name in (*IMAGES, GRID)
        if name in things
    }
    # The frames of a clip are read one by one; what a clip is made of can be seen at once.
    clips = {name: load() for name, load in damaged.items() if isinstance(things[name], Frames)}
    return type(inputs)({**things, **damaged, **clips})


def perturb_image(
    image: Image, perturbation: Perturbation | str, *, sample_id: str = "", item: str = "image"
) -> Image:
    """One image, damaged as that item of that sample would be.

    Args:
        image: (H, W, 3) or (H, W), uint8 or float32 from 0 to 1.
        perturbation: Or its text. Parts that are for other views are left out.
        sample_id: Decides the random numbers.
        item: `left_image`, `right_image`, `first_image`, `second_image`, `centre_image` or `image`.

    Returns:
        A new image, or the same one where nothing changes.
    """
    if item not in IMAGES:
        raise Misuse(f"there is no image item '{item}'; it is one of {', '.join(IMAGES)}.")
    return _perturbed_view(image, _parsed(perturbation), view_of_item(item), sample_id)


def _parsed(perturbation: Perturbation | str) -> Perturbation:
    if isinstance(perturbation, str):
        return parse_perturbation(perturbation)
    return perturbation


def _check_views(inputs: Inputs, perturbation: Perturbation, sample_id: str) -> None:
    names = names_of_items(set(inputs))
    for part in perturbation.parts:
        if not any(View(name, "").is_in(part.views) for name in names):
            there = ", ".join(sorted({*IMAGES, GRID} & set(inputs))) or "no images"
            raise Unavailable(
                f"sample '{sample_id}': perturbation '{part.text}' is for the views "
                f"'{part.views}', but the sample has only {there}."
            )


def _perturbed_item(thing: Any, name: str, perturbation: Perturbation, sample_id: str) -> Any:
    """Reads an item (a value, or a loader of one) and damages it."""
    images = thing() if callable(thing) else thing
    if isinstance(images, Frames):
        return Frames(
            partial(_perturbed_frame, images, index, name, perturbation, sample_id)
            for index in range(len(images))
        )
    if name != GRID:
        return _perturbed_view(images, perturbation, view_of_item(name), sample_id)
    return _perturbed_grid(images, perturbation, sample_id)


def _perturbed_frame(
    clip: Frames, index: int, name: str, perturbation: Perturbation, sample_id: str
) -> Any:
    """One frame of a clip, perturbed with its own random numbers."""
    frame_id = f"{sample_id}/{frame_name(index)}"
    return _perturbed_item(clip[index], name, perturbation, frame_id)


def _perturbed_grid(
    views: NDArray[Any], perturbation: Perturbation, sample_id: str
) -> NDArray[Any]:
    rows, columns = views.shape[:2]
    if perturbation.is_neutral:
        return views
    damaged = np.zeros_like(views)
    for row, column in np.ndindex(rows, columns):
        view = view_of_grid(row - rows // 2, column - columns // 2)
        damaged[row, column] = _perturbed_view(views[row, column], perturbation, view, sample_id)
    return damaged


def _perturbed_view(image: Image, perturbation: Perturbation, view: View, sample_id: str) -> Image:
    parts = [part for part in perturbation.parts if view.is_in(part.views)]
    if all(part.is_neutral for part in parts):
        return image
    bytes_in = image.dtype == np.uint8
    pixels = _damaged(_to_pixels(image, view), parts, view, sample_id)
    pixels = np.clip(pixels, np.float32(0), _FULL)
    return np.rint(pixels).astype(np.uint8) if bytes_in else pixels / _FULL


def _to_pixels(image: Image, view: View) -> Pixels:
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] != 3):
        raise WrongShape(
            f"{view.key} has shape {image.shape}; perturbations are for (H, W, 3) or (H, W)."
        )
    if image.dtype == np.uint8:
        return image.astype(np.float32)
    if np.issubdtype(image.dtype, np.floating):
        return image.astype(np.float32) * _FULL
    raise BadData(f"{view.key} is {image.dtype}; images are uint8, or float32 from 0 to 1.")


def _damaged(pixels: Pixels, parts: list[Part], view: View, sample_id: str) -> Pixels:
    before: Counter[str] = Counter()
    for part in parts:
        rng = stream(sample_id, view, part.effect, before[part.effect])
        pixels = EFFECTS[part.effect].apply(pixels, part.level, rng, dict(part.params))
        before[part.effect] += 1
    return pixels
