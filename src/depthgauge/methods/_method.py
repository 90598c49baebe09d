"""A method: a kind with its options and a label."""

from __future__ import annotations

import pickle
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from depthgauge._canonical import hash_json
from depthgauge._once import cached_property
from depthgauge.errors import DepthgaugeError, MethodFailed, Misuse, Unavailable
from depthgauge.methods._load import kind_at
from depthgauge.methods._returned import as_clip_estimate, as_estimate
from depthgauge.methods._spec import Function, MethodKind, MethodOptions, MethodSpec
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
    def function(self) -> Function:
        """`estimate(inputs, options)` of its kind."""
        return self.kind.function

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

    def estimate(self, inputs: Inputs, quantity: str) -> Estimate | ClipEstimate:
        """Runs the method on the inputs of one sample.

        A clip is given frame by frame, or as a whole to a method of `whole_clips`.

        Args:
            inputs: Those of the sample, and `sample` (its id), `quantity`, `seed`, `finder`.
            quantity: The wanted quantity; a bare array that the method returns has this quantity.

        Raises:
            Misuse: The method is for other quantities.
            Unavailable: The sample lacks an input that it needs.
            MethodFailed: It crashed.
            BadEstimate: What it returned cannot be scored.
        """
        self._check(inputs, quantity)
        who, length = f"method '{self.label}'", clip_length(inputs.unread())
        try:
            by_frame = length is not None and not self.spec.whole_clips
            call = self._call_by_frame if by_frame else self.function
            returned = call(inputs, self.options)
            if length is not None:  # a generator runs here, within the method's time
                return as_clip_estimate(who, returned, quantity, length)
        except DepthgaugeError:
            raise
        except (Exception, SystemExit) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise MethodFailed(
                f"method '{self.label}' crashed with {reason}", traceback.format_exc()
            ) from error
        return as_estimate(who, returned, quantity)

    def _call_by_frame(self, clip: Inputs, options: MethodOptions) -> Iterator[Any]:
        for frame in Sample("", clip, None).frames():
            yield self.function(frame.inputs, options)

    def _check(self, inputs: Inputs, quantity: str) -> None:
        known = self.spec.quantities
        if known and quantity not in known:
            raise Misuse(
                f"method '{self.label}' estimates {' and '.join(known)}, but {quantity} is "
                "wanted; choose a method or a benchmark of the same quantity."
            )
        if lacking := [name for name in self.spec.needs if name not in inputs]:
            raise Unavailable(
                f"method '{self.label}' needs {' and '.join(self.spec.needs)}; "
                f"{_sample(inputs)} has no {' and no '.join(lacking)}."
            )

    def __reduce__(self) -> tuple[Callable[..., Method], tuple[Any, ...]]:
        kind = self.kind
        if not isinstance(kind.home, str):
            _check_travels(kind.home)
        sent = (kind.home, kind.code, kind.spec.quantities, self.options.model_dump())
        return _rebuild, (*sent, self.label, self.source)


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


def _rebuild(
    home: str | Callable[..., Any],
    code: str,
    quantities: tuple[str, ...],
    options: dict[str, Any],
    label: str,
    source: str,
) -> Method:
    kind = kind_at(home)
    if kind.code != code:
        raise MethodFailed(f"{home}: the file has changed since the run began; start it again.")
    kind = replace(kind, spec=replace(kind.spec, quantities=quantities))
    return Method(kind, kind.spec.options.model_validate(options), label, source)
