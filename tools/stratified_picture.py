"""Makes the picture of docs/stratified.md: the centre view and the disparity of every scene.

`python -m tools.stratified_picture` writes docs/images/stratified.png. It needs Pillow.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import colormaps
from PIL import Image

from depthgauge.synth.sets.stratified import SCENES, make_scene

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "stratified.png"
_SIDE, _SPACE, _COLUMNS = 176, 6, 6


def main() -> None:
    """Writes the picture."""
    step, rows = _SIDE + _SPACE, -(-len(SCENES) // _COLUMNS)
    size = (_COLUMNS * step - _SPACE, 2 * rows * step - _SPACE)
    sheet = Image.new("RGB", size, "white")
    for index, name in enumerate(SCENES):
        row, column = divmod(index, _COLUMNS)
        for below, tile in enumerate(_tiles(name)):
            sheet.paste(tile, (column * step, (2 * row + below) * step))
    sheet.quantize(256, kmeans=4, dither=Image.Dither.NONE).save(TARGET, optimize=True)


def _tiles(name: str) -> list[Image.Image]:
    sample = make_scene(name, views=1, scale=2)
    assert sample.truth is not None
    low, high = sample.inputs.disparity_range
    colours = colormaps["viridis"]((sample.truth.disparity - low) / (high - low))[..., :3]
    images = (sample.inputs.centre_image, np.uint8(255 * colours))
    return [Image.fromarray(image).resize((_SIDE, _SIDE), Image.LANCZOS) for image in images]


if __name__ == "__main__":
    main()
