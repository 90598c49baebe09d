"""Methods from outside the package: a Python file or a function."""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import sys
from collections.abc import Callable
from functools import cache, partial, wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from depthgauge.errors import BadFile
from depthgauge.methods._spec import METHODS, Function, MethodKind, MethodSpec, PackedFunction
from depthgauge.types import Inputs


def kind_at(home: str | Callable[..., Any] | PackedFunction) -> MethodKind:
    """The method at this place: an id, the path of a Python file, or a function itself."""
    if isinstance(home, PackedFunction):
        return from_function(pickle.loads(home.body))
    if not isinstance(home, str):
        return from_function(home)
    return from_file(Path(home)) if home.endswith(".py") else METHODS[home]


def from_function(function: Callable[..., Any]) -> MethodKind:
    """A function `f(inputs)` or `f(inputs, options)` as a method of the same name."""
    inner = function.func if isinstance(function, partial) else function
    name = getattr(inner, "__name__", type(inner).__name__)
    return MethodKind(_plain_spec(name, inner, inner), _of_two(function), home=function)


def from_file(path: Path) -> MethodKind:
    """The method in a file: `SPEC` and `estimate(inputs, options)`, or only the function.

    The file's folder is appended to `sys.path`, so that it can import its neighbours.

    Raises:
        BadFile: The file cannot be read or run, or has no such function.
    """
    path = Path(os.path.abspath(path))
    try:
        code = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}).") from error
    module = _run(path, code)
    function = getattr(module, "estimate", None)
    if not callable(function):
        raise BadFile(
            f"{path}: has no function 'estimate'; write def estimate(inputs, options) that "
            "returns an array."
        )
    spec = getattr(module, "SPEC", None)
    if spec is None:
        spec = _plain_spec(path.stem, module if module.__doc__ else function, function)
    if not isinstance(spec, MethodSpec):
        raise BadFile(f"{path}: its SPEC is a {type(spec).__name__}, expected a MethodSpec.")
    return MethodKind(spec, _of_two(function), str(path), hashlib.sha256(code).hexdigest())


@cache
def _run(path: Path, code: bytes) -> ModuleType:
    # Not with the import system, which may use stale bytecode: what runs must be what is hashed.
    name = f"depthgauge_method_{hashlib.sha256(os.fsencode(path) + code).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses and pickle look there
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        exec(compile(code, path, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise BadFile(f"{path}: this method cannot be loaded ({reason}).") from error
    return module


def _plain_spec(name: str, documented: object, function: Callable[..., Any]) -> MethodSpec:
    title = (inspect.getdoc(documented) or name).splitlines()[0]
    # A generator yields one estimate per frame, so it wants the whole clip.
    whole_clips = inspect.isgeneratorfunction(function)
    return MethodSpec(id=name, title=title, quantities=(), needs=(), whole_clips=whole_clips)


def _of_two(function: Callable[..., Any]) -> Function:
    """The function with the two arguments that every method takes."""
    if _wants_options(function):
        return function

    @wraps(function)
    def of_inputs(inputs: Inputs, options: Any) -> Any:
        return function(inputs)

    return of_inputs


def _wants_options(function: Callable[..., Any]) -> bool:
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some compiled functions have no signature
        return False
    placed = [a for a in arguments if a.kind in (a.POSITIONAL_ONLY, a.POSITIONAL_OR_KEYWORD)]
    # A second argument with a default is the function's own setting, unless it is `options`.
    return len(placed) > 1 and (placed[1].default is inspect.Parameter.empty or _named(placed[1]))


def _named(argument: inspect.Parameter) -> bool:
    return argument.name == "options"
