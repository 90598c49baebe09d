"""A method: a kind with its options and a label."""

from __future__ import annotations

import pickle
import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from depthgauge._canonical import hash_json
from depthgauge._once import cached_property
from depthgauge.errors import (
    BadFile,
    DepthgaugeError,
    MethodFailed,
    Misuse,
    Unavailable,
    WorkerLost,
)
from depthgauge.methods._calls.returned import as_clip_estimate, as_estimate
from depthgauge.methods._load import kind_at
from depthgauge.methods._spec import (
    METHODS,
    Function,
    MethodKind,
    MethodOptions,
    MethodSpec,
    PackedFunction,
    StoredOptions,
)
from depthgauge.types import ClipEstimate, Estimate, Inputs, Sample, clip_length

_MOST_CHARACTERS = 100
_MOST_BYTES = 240  # file systems take 255


@dataclass(frozen=True)
class Method:
    """Anything that turns inputs into an estimate, ready to run. `find_method` creates methods.

    A method can be sent to another process; it is sent as the place of its code.
    """

    kind: MethodKind
    options: MethodOptions
    label: str
    """Its name in tables, and the name of its folder of estimates."""
    source: str = field(compare=False)
    """Where it comes from: its id, the absolute path of its file, or a function's name."""

    def __post_init__(self) -> None:
        if why := _unfit(self.label):
            raise Misuse(
                f"label '{self.label}': {why}, and a label becomes the name of a folder; "
                "give another one: LABEL=METHOD."
            )

    @property
    def text(self) -> str:
        """How it can be named again: its id or file, with the options that were given."""
        spec, described = self.spec, self.described()
        if spec.text_option:
            return f"{spec.id}:{described[spec.text_option]}"
        given = [name for name in self.options.model_fields_set if name not in spec.local]
        words = ",".join(f"{name}={described[name]}" for name in described if name in given)
        return f"{self.source}:{words}" if words else self.source

    @property
    def older(self) -> Mapping[str, str]:
        """By `seed/sample`: the hash of the older code that a stored estimate is by."""
        return {}

    @property
    def spec(self) -> MethodSpec:
        """What its kind declares."""
        return self.kind.spec

    @property
    def takes(self) -> tuple[str, ...]:
        """The inputs that it declares: those that it needs, and those that its options name."""
        return tuple(dict.fromkeys([*self.spec.needs, *self.options.takes()]))

    @property
    def whole_clips(self) -> bool:
        """Whether it is given a clip as a whole."""
        return self.spec.whole_clips or bool(getattr(self.options, "whole_clips", False))

    @property
    def most_frames(self) -> int | None:
        """How many frames of a clip it makes; None: all."""
        told = getattr(self.options, "most_frames", None)
        return self.spec.most_frames if told is None else int(told)

    @property
    def recorded_conditions(self) -> Mapping[str, Any]:
        """Under which conditions its estimates were made, if only a run knows it."""
        return {}

    def load(self) -> tuple[Function, MethodOptions]:
        """`estimate(inputs, options)` and the options that it takes; runs a file's code here.

        Raises:
            BadFile: The file cannot be loaded.
            WorkerLost: The file has changed since it was described.
        """
        return self._loaded

    @cached_property
    def _loaded(self) -> tuple[Function, MethodOptions]:
        kind = self.kind
        if kind.function is not None:
            return kind.function, self.options
        found = kind_at(kind.home)
        if found.function is None or found.code != kind.code:
            raise WorkerLost(
                f"{kind.home}: the file has changed since the run began; start it again."
            )
        return found.function, found.spec.options.model_validate(self.described())

    @cached_property
    def options_hash(self) -> str:
        """SHA-256 of all that can change its estimates: id, revision, options, a file's code.

        Options that are not given count with their defaults; local options do not count. Of a
        function only the name is known, and of a command only its text: when their code changes,
        use another label or start a new run.
        """
        spec = self.spec
        hashed = {n: v for n, v in self.described().items() if n not in spec.local}
        body = {"method": spec.id, "revision": spec.revision, "options": hashed}
        return hash_json({**body, "code": self.kind.code} if self.kind.code else body)

    def described(self) -> dict[str, Any]:
        """All options with their values, ready for JSON, in declared order."""
        return self.options.model_dump(mode="json")

    def estimate(
        self, inputs: Inputs, quantity: str, *, copy: bool = True
    ) -> Estimate | ClipEstimate:
        """Runs the method on the inputs of one sample, in this process.

        A clip is given frame by frame, or as a whole to a method of `whole_clips`.

        Args:
            inputs: Those of the sample, and `sample` (its id), `quantity`, `seed`, `finder`.
            quantity: The wanted quantity; a bare array that the method returns has this quantity.
            copy: Whether the estimate must not share memory with what the method returned.

        Raises:
            Misuse: The method is for other quantities.
            Unavailable: The sample lacks an input that it needs.
            MethodFailed: It crashed.
            BadEstimate: What it returned cannot be scored.
        """
        self._check(inputs, quantity)
        who, length = f"method '{self.label}'", clip_length(inputs.unread())
        try:
            function, options = self.load()
            if length is not None and not self.whole_clips:
                frames = islice(Sample("", inputs, None).frames(), self.most_frames)
                returned: Any = (function(frame.inputs, options) for frame in frames)
            else:
                returned = function(inputs, options)
            if length is not None:  # a generator runs here, within the method's time
                return as_clip_estimate(who, returned, quantity, length)
        except DepthgaugeError:
            raise
        except (Exception, SystemExit) as error:
            reason, details = _in_words(error)
            raise MethodFailed(f"method '{self.label}' crashed with {reason}", details) from error
        return as_estimate(who, returned, quantity, copy=copy)

    def _check(self, inputs: Inputs, quantity: str) -> None:
        known = self.spec.quantities
        if not self.spec.can_estimate(quantity):
            raise Misuse(
                f"method '{self.label}' estimates {' and '.join(known)}, but {quantity} is "
                "wanted; choose a method or a benchmark of the same quantity."
            )
        if lacking := [name for name in self.spec.needs if name not in inputs]:
            raise Unavailable(
                f"method '{self.label}' needs {' and '.join(self.spec.needs)}; "
                f"{_sample(inputs)} has no {' and no '.join(lacking)}."
            )

    def to_json(self) -> dict[str, Any]:
        """What another process must know of a method that is a file or has an id."""
        spec = {f.name: getattr(self.spec, f.name) for f in fields(self.spec)}
        return {
            "spec": {name: value for name, value in spec.items() if name != "options"},
            "options": self.described(),
            "given": sorted(self.options.model_fields_set),
            "home": self.kind.home if isinstance(self.kind.home, str) else "",
            "code": self.kind.code,
            "label": self.label,
            "source": self.source,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Method:
        """The method again, without its code.

        Raises:
            BadFile: It is none.
        """
        try:
            said = _Described.model_validate(body)
        except ValidationError as error:
            raise BadFile(f"this is no method ({error.errors()[0]['msg']}).") from None
        return _rebuild(said.home, said)

    def __reduce__(self) -> tuple[Callable[..., Method], tuple[Any, ...]]:
        home = self.kind.home
        if not isinstance(home, (str, PackedFunction)):
            _check_travels(home)
            home = PackedFunction(pickle.dumps(home))
        return _rebuild, (home, _Described.model_validate(self.to_json()))


class _DescribedSpec(BaseModel):
    """The declaration of a method, without its class of options."""

    model_config = ConfigDict(extra="forbid")

    id: str
    title: str
    quantities: tuple[str, ...]
    needs: tuple[str, ...]
    cite: str
    revision: int
    text_option: str
    local: tuple[str, ...]
    keeps: bool
    gpu: bool
    whole_clips: bool
    most_frames: int | None
    steps: tuple[str, ...] = ()
    alignment: str


class _Described(BaseModel):
    """A method as other processes know it: `Method.to_json`."""

    model_config = ConfigDict(extra="forbid")

    spec: _DescribedSpec
    options: dict[str, Any]
    given: list[str]
    home: str
    code: str
    label: str
    source: str


def _in_words(error: BaseException) -> tuple[str, str]:
    """An error of foreign code, and its traceback; even one that cannot be printed has a name."""
    try:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return said, "".join(traceback.format_exception(error))
    except Exception:
        return f"{type(error).__name__}, which cannot be printed", ""


def _sample(inputs: Inputs) -> str:
    return f"sample '{inputs['sample']}'" if "sample" in inputs else "this sample"


def _unfit(label: str) -> str:
    """Why a label cannot be the name of a folder; empty if it can."""
    if not label or label != label.strip():
        return "it is empty" if not label else "it starts or ends with a space"
    if "/" in label or "\\" in label:
        return "it holds a '/' or '\\'"
    if not label.isprintable():
        return "it holds control characters"
    if label.startswith("."):
        return "it starts with '.'"
    if found := re.search(r"@\d+$", label):
        # Estimates of other seeds are in the folder `label@seed`: two methods would share one.
        return f"it ends like a seed ('{found[0]}')"
    too_long = len(label) > _MOST_CHARACTERS or len(label.encode()) > _MOST_BYTES
    return f"it is longer than {_MOST_CHARACTERS} characters" if too_long else ""


def _check_travels(function: Callable[..., Any]) -> None:
    name = getattr(function, "__qualname__", type(function).__name__)
    if getattr(function, "__module__", "") == "__main__":
        raise Misuse(
            f"function '{name}' is in the running script, where other processes cannot find it; "
            "put the function into a file and give the file, or use workers=0."
        )
    try:
        pickle.dumps(function)
    except Exception as error:  # any error in a function's parts; the advice is the same
        raise Misuse(
            f"function '{name}' cannot be sent to another process ({error}); "
            "put the function into a file and give the file."
        ) from error


def _rebuild(home: str | PackedFunction, said: _Described) -> Method:
    """The method; foreign code is not loaded before it is called."""
    if isinstance(home, str) and not said.code:
        kind = METHODS[home]
        spec = replace(kind.spec, quantities=said.spec.quantities)
        options = spec.options.model_validate(said.options)
        return Method(replace(kind, spec=spec), options, said.label, said.source)
    plain = MethodSpec(**said.spec.model_dump(), options=StoredOptions)
    stored = StoredOptions.of(said.options, said.given)
    return Method(MethodKind(plain, None, home, said.code), stored, said.label, said.source)
