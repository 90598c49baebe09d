"""What stands in a command's placeholders: pictures and cameras as files, values as they are."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.errors import Unavailable
from depthgauge.methods._command.template import picture
from depthgauge.types import Inputs, Rig


def fill_in(name: str, inputs: Inputs, folder: Path) -> str:
    """The text for a placeholder; what is a file is written into the folder.

    Raises:
        Unavailable: The sample has no such thing.
    """
    if (item := picture(name)) is not None:
        return _picture(folder / f"{name}.png", _item(inputs, item, name))
    if name in ("min_disparity", "max_disparity"):
        low, high = _item(inputs, "disparity_range", name)
        return _number(low if name == "min_disparity" else high)
    value = _item(inputs, name, name)
    if name == "rig":
        place = folder / "rig.json"
        place.write_text(json.dumps(_rig(value), indent=2), encoding="utf-8")
        return str(place)
    return str(value)


def _item(inputs: Inputs, item: str, name: str) -> Any:
    if item not in inputs:
        raise Unavailable(
            f"the command has {{{name}}}, but among the inputs of this sample there is no "
            f"{item}, only {', '.join(inputs)}."
        )
    return inputs[item]


def _picture(place: Path, image: Any) -> str:
    if image.dtype.kind == "f":
        image = np.nan_to_num(np.clip(image, 0, 1))
    io.write_image(place, image)
    return str(place)


def _number(value: Any) -> str:
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def _rig(rig: Rig) -> dict[str, Any]:
    """As it stands in the `dataset.json` of our own dataset folders."""
    return {
        "cameras": {
            name: {
                "focal_px": [float(v) for v in camera.focal_px],
                "centre_px": [float(v) for v in camera.centre_px],
                "size_px": [int(v) for v in camera.size_px],
                "distortion": [float(v) for v in camera.distortion],
                "world_from_camera": np.asarray(camera.world_from_camera).tolist(),
            }
            for name, camera in rig.cameras.items()
        },
        "baseline_m": float(rig.baseline_m) if math.isfinite(rig.baseline_m) else None,
        "principal_offset_px": float(rig.principal_offset_px),
    }
