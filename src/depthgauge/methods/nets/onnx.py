"""A network of ours as an ONNX file: it runs with onnxruntime, without PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from depthgauge.errors import BadFile, MissingExtra, Unavailable
from depthgauge.methods._images import Bytes, as_grey, two_images
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.methods.nets._networks import as_colour, confidence_of
from depthgauge.methods.nets.flow import POLISH, polished
from depthgauge.methods.nets.layers import pruned
from depthgauge.types import Estimate, Inputs

_NAMES = {
    "stereo": ("left_image", "right_image"),
    "flow": ("first_image", "second_image"),
    "layers": ("first_image", "second_image"),
}
_WITHIN_PX = 0.5


class OnnxOptions(MethodOptions):
    """Options of `nets-onnx`."""

    model: str = ""
    """The file that `depthgauge train export` wrote."""
    kind: Literal["stereo", "flow", "layers"] = "stereo"
    """Which network it is."""
    polish: int = Field(default=POLISH, ge=0, le=100)
    """As with `nets-flow`; other networks do not have it."""

    def takes(self) -> tuple[str, ...]:
        """The two pictures of this kind of network."""
        return _NAMES[self.kind]

    def short_name(self) -> str:
        """The name of the file."""
        return Path(self.model).stem


SPEC = MethodSpec(
    id="nets-onnx",
    title="A network of ours as an ONNX file, without PyTorch",
    quantities=("disparity", "flow", "layered_flow"),
    needs=(),
    options=OnnxOptions,
)


def estimate(inputs: Inputs, options: OnnxOptions) -> Estimate:
    """What the exported network returns; pictures may be smaller than those it was made for.

    Raises:
        Unavailable: The file does not exist, or the pictures are larger than it allows.
        MissingExtra: onnxruntime is not installed.
        BadFile: It is not a network of this kind.
    """
    first, second = two_images(inputs, *_NAMES[options.kind], grey=False)
    session = _session(options.model)
    height, width = _size(session, options)
    tall, wide = first.shape[:2]
    if tall > height or wide > width:
        raise Unavailable(
            f"{options.model} is made for pictures of up to {width}x{height} px, these are "
            f"{wide}x{tall}; export it with a larger --size, or use nets-{options.kind}."
        )
    border = ((0, height - tall), (0, width - wide), (0, 0))
    given = [
        np.pad(as_colour(each), border, mode="edge").transpose(2, 0, 1)[None]
        for each in (first, second)
    ]
    motion, spread = session.run(None, {"first": given[0], "second": given[1]})
    pair = (as_grey(first), as_grey(second))
    return _estimate(motion[..., :tall, :wide], spread[..., :tall, :wide], pair, options)


def _estimate(
    motion: NDArray[Any], spread: NDArray[Any], pair: tuple[Bytes, Bytes], options: OnnxOptions
) -> Estimate:
    if options.kind == "layers":
        return Estimate(pruned(motion.transpose(0, 2, 3, 1), _WITHIN_PX), "layered_flow")
    trust = {"confidence": confidence_of(spread[0, 0])}
    if options.kind == "stereo":
        return Estimate(np.ascontiguousarray(motion[0, 0]), "disparity", trust)
    flow = np.ascontiguousarray(motion[0].transpose(1, 2, 0))
    return Estimate(polished(flow, *pair, options.polish), "flow", trust)


def _session(model: str) -> Any:
    if not Path(model).is_file():
        raise Unavailable(f"{model or 'model'}: there is no such file; give model=FILE.onnx.")
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra("nets-onnx needs onnxruntime; say: pip install onnxruntime") from error
    try:
        return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions have no common class
        raise BadFile(f"{model}: is no ONNX file that onnxruntime reads.") from error


def _size(session: Any, options: OnnxOptions) -> tuple[int, int]:
    """Height and width of the pictures that a network was made for."""
    shapes = {each.name: tuple(each.shape) for each in session.get_inputs()}
    found = {each.name: tuple(each.shape) for each in session.get_outputs()}
    channels = {"stereo": (1, 1), "flow": (1, 2)}.get(options.kind)
    motion = found.get("motion", ())[:2]
    if set(shapes) != {"first", "second"} or (channels is not None and motion != channels):
        raise BadFile(f"{options.model}: is no {options.kind} network of ours.")
    height, width = shapes["first"][2:]
    return int(height), int(width)
