"""The template of a command: its arguments, its placeholders and what replaces them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath
from string import Formatter
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge._registry import nearest
from depthgauge.errors import Unavailable
from depthgauge.geometry.camera_json import rig_to_json
from depthgauge.types import Frames, Inputs, frame_name

PICTURES = {
    "left": "left_image",
    "right": "right_image",
    "first": "first_image",
    "second": "second_image",
    "image": "image",
}
"""Placeholders for pictures, and the inputs that they stand for; any other input whose name ends in
`_image` is its own placeholder."""
MAPS = ("disparity", "depth")
"""Placeholders for maps, and the inputs that they are."""
OTHERS = (
    "out",
    "out_dir",
    "sample",
    "quantity",
    "seed",
    "min_disparity",
    "max_disparity",
    "rig",
    *MAPS,
)
_INTERPRETER = re.compile(r"(python|pypy|bash|sh|node|perl|ruby|julia|Rscript)[\d.]*")


def arguments(template: str) -> list[str]:
    """The arguments of a command, with their placeholders.

    >>> arguments("infer.py '{left}' --mode 'very good'")
    ['infer.py', '{left}', '--mode', 'very good']
    """
    return shlex.split(template)


def checked(template: str) -> str:
    """The template itself, if it is valid.

    Raises:
        ValueError: It has mistakes; the message lists all of them.
    """
    try:
        parts = arguments(template)
    except ValueError as error:
        raise ValueError(f"cannot be split into arguments ({str(error).lower()})") from None
    if not parts:
        raise ValueError("is empty but must be a program with its arguments")
    wrong = [mistake for part in parts for mistake in _mistakes(part)]
    if not wrong and not {"out", "out_dir"} & placeholders(template):
        wrong = ["has no {out}, so the program cannot know where to write its estimate"]
    if wrong:
        raise ValueError("; ".join(wrong))
    return template


def placeholders(template: str) -> set[str]:
    """The names of the placeholders."""
    parsed = (Formatter().parse(part) for part in arguments(template))
    return {name for pieces in parsed for _, name, _, _ in pieces if name is not None}


def filled(argument: str, values: Mapping[str, str]) -> str:
    """One argument with its placeholders replaced; `{{` and `}}` are braces."""
    pieces = Formatter().parse(argument)
    return "".join(text + ("" if name is None else values[name]) for text, name, _, _ in pieces)


def picture(name: str) -> str | None:
    """The input that a placeholder for a picture stands for, else None."""
    return PICTURES.get(name, name if name.endswith("_image") else None)


def inputs_of(template: str) -> tuple[str, ...]:
    """The inputs that the placeholders of a template stand for.

    >>> inputs_of("infer {left} {rig} --most {max_disparity} {out}")
    ('disparity_range', 'left_image', 'rig')
    """
    ranged = dict.fromkeys(("min_disparity", "max_disparity"), "disparity_range")
    own = ("out", "out_dir", "sample", "quantity", "seed")
    names = placeholders(template) - set(own)
    return tuple(sorted({picture(name) or ranged.get(name, name) for name in names}))


def program_name(template: str) -> str:
    """The usual name of the program: the stem of its file, or of the script that it runs.

    >>> program_name("python3 nets/infer.py {left}"), program_name("./elas {left}")
    ('infer', 'elas')
    >>> program_name("python3 -c 'import nets' {left} {out}")
    'python3'
    """
    program, *rest = arguments(template)
    if _INTERPRETER.fullmatch(PurePath(program).stem):
        scripts = [part for part in rest if not part.startswith("-") and "{" not in part]
        # In `python -c CODE`, the code is not a name.
        program = scripts[0] if scripts and "-c" not in rest else program
    return PurePath(program).stem


def _mistakes(argument: str) -> Iterator[str]:
    try:
        pieces = list(Formatter().parse(argument))
    except ValueError:
        yield f"has a single brace in {argument!r}; write '{{{{' and '}}}}' for braces"
        return
    known = (*PICTURES, *OTHERS)
    for _, name, form, conversion in pieces:
        if name is None:
            continue
        if form or conversion:
            yield f"has a format in {argument!r}; write {{{name}}} alone"
        if name not in known and not name.endswith("_image"):
            yield f"has an unknown {{{name}}}. {nearest(name, known)} {_KNOWN}".replace("  ", " ")


_KNOWN = (
    f"Known: {', '.join((*PICTURES, *OTHERS))}, and other pictures by the input's name, "
    "such as {centre_image}"
)


def fill_in(name: str, inputs: Inputs, folder: Path) -> str:
    """The text for a placeholder; files are written to the folder.

    Raises:
        Unavailable: The sample has no such input.
    """
    if (item := picture(name)) is not None:
        return _file(folder / name, _item(inputs, item, name), _picture)
    if name in MAPS:
        return _file(folder / name, _item(inputs, name, name), _map)
    if name in ("min_disparity", "max_disparity"):
        low, high = _item(inputs, "disparity_range", name)
        return _number(low if name == "min_disparity" else high)
    value = _item(inputs, name, name)
    if name == "rig":
        place = folder / "rig.json"
        place.write_text(json.dumps(rig_to_json(value), indent=2), encoding="utf-8")
        return str(place)
    return str(value)


def _item(inputs: Inputs, item: str, name: str) -> Any:
    if item not in inputs:
        raise Unavailable(
            f"the command has {{{name}}}, but the inputs of this sample have no "
            f"{item}, only {', '.join(inputs)}."
        )
    return inputs[item]


def _file(place: Path, thing: Any, write: Callable[[Path, Any], Path]) -> str:
    """The file of a picture or a map; of a clip, a folder with one for each frame."""
    if not isinstance(thing, Frames):
        return str(write(place, thing))
    place.mkdir()
    for index, frame in enumerate(thing):
        write(place / frame_name(index), frame)
    return str(place)


def _picture(place: Path, image: Any) -> Path:
    if image.dtype.kind == "f":
        image = np.nan_to_num(np.clip(image, 0, 1))
    path = place.with_suffix(".png")
    io.write_image(path, image)
    return path


def _map(place: Path, values: Any) -> Path:
    path = place.with_suffix(".npy")
    io.write_map(path, values)
    return path


def _number(value: Any) -> str:
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)
