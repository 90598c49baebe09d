"""A method's process, `python -m depthgauge.methods._process.server SOCKET`.

It has the method's code, the inputs of one sample and nothing else: no truth, no scoring code, and
no other method. It is told what to do through a socket; `wire.py` has the form of the messages.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from depthgauge._confine import adopt_orphans, end_with_parent
from depthgauge.errors import BadEstimate, DepthgaugeError, MethodFailed, WorkerLost
from depthgauge.methods._calls.isolated import isolated
from depthgauge.methods._calls.meter import Usage
from depthgauge.methods._find import find_here
from depthgauge.methods._method import Method
from depthgauge.methods._process import wire
from depthgauge.quantities import QUANTITIES
from depthgauge.types import ClipEstimate, Estimate, Frames, Inputs


def main() -> None:
    """Does what it is told until the other side goes."""
    pipe = socket.socket(fileno=int(sys.argv[1]))
    pipe.set_inheritable(False)  # what a method starts must not speak for it
    end_with_parent()
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    with suppress(EOFError, BrokenPipeError, ConnectionError):
        _Server(pipe).serve()
    # Threads and exit handlers of a method must not keep this process.
    os._exit(0)


class _Server:
    def __init__(self, pipe: socket.socket) -> None:
        self._pipe = pipe
        self._method: Method | None = None

    def serve(self) -> None:
        jobs = {
            "begin": self._begin,
            "describe": self._describe,
            "load": self._load,
            "estimate": self._estimate,
        }
        while True:
            message, memory = wire.receive(self._pipe)
            try:
                jobs[message["do"]](message, memory)
            except (EOFError, ConnectionError):
                raise
            except BaseException as error:  # whatever foreign code raises costs it its sample
                wire.send(self._pipe, _failure(error))

    def _begin(self, message: Mapping[str, Any], memory: int | None) -> None:
        paths = message["paths"]
        sys.path[:] = [*paths, *(path for path in sys.path if path not in paths)]
        wire.send(self._pipe, {"begun": True})

    def _describe(self, message: Mapping[str, Any], memory: int | None) -> None:
        try:
            method = find_here(message["text"], message["label"])
        except DepthgaugeError as error:
            refused = {"kind": type(error).__name__, "text": str(error)}
            wire.send(self._pipe, {"refused": refused})
            return
        wire.send(self._pipe, {"method": method.to_json()})

    def _load(self, message: Mapping[str, Any], memory: int | None) -> None:
        method: Method = wire.unpack_object(_there(memory), message["places"])
        method.load()
        self._method = method
        wire.send(self._pipe, {"loaded": True})

    def _estimate(self, message: Mapping[str, Any], memory: int | None) -> None:
        given: dict[str, Any] = wire.unpack_object(_there(memory), message["places"])
        asked = {name: partial(self._ask, name) for name in message["lazy"]}
        clips = {
            name: Frames([partial(self._ask, name, index) for index in range(length)])
            for name, length in message["clips"].items()
        }
        inputs, method = Inputs({**given, **asked, **clips}), self._method
        if method is None:
            raise MethodFailed("no method was loaded.")
        wire.send(self._pipe, {"ready": True})
        wire.receive(self._pipe)  # the clock starts when the inputs are there
        with isolated(given["sample"], given["seed"]):
            estimate = method.estimate(inputs, given["quantity"], copy=False)
        if not isinstance(estimate, ClipEstimate):
            self._send_map("done", estimate)
            return
        for index, frame in enumerate(estimate.frames):
            if frame is None:
                wire.send(self._pipe, {"frame": index, "none": True})
            else:
                self._send_map("frame", frame, index)
        wire.send(self._pipe, {"done": True, "clip": True, "extras": _plain(estimate.extras)})

    def _ask(self, name: str, frame: int | None = None) -> Any:
        """An input that is read only when the method wants it."""
        wire.send(self._pipe, {"need": name, "of_frame": frame})
        message, memory = wire.receive(self._pipe)
        return wire.unpack_object(_there(memory), message["places"])

    def _send_map(self, kind: str, estimate: Estimate, index: int | bool = True) -> None:
        main = QUANTITIES[estimate.quantity].main.name
        parts = {main: estimate.values, **estimate.parts}
        maps = {name: part for name, part in parts.items() if isinstance(part, np.ndarray)}
        numbers = {name: float(part) for name, part in parts.items() if name not in maps}
        memory, layout = wire.pack_arrays(maps)
        body = {"layout": layout, "numbers": numbers, "extras": _plain(estimate.extras)}
        try:
            wire.send(self._pipe, {kind: index, **body}, memory)
        finally:
            os.close(memory)


def _there(memory: int | None) -> int:
    if memory is None:
        raise MethodFailed("a message came without its memory.")
    return memory


def _plain(extras: Mapping[str, Any]) -> dict[str, Any]:
    """What JSON can hold of the things that a method tells beside its estimate."""
    found: dict[str, Any] = {}
    for name, value in extras.items():
        plain = asdict(value) if isinstance(value, Usage) else value
        with suppress(Exception):
            found[str(name)] = json.loads(json.dumps(plain))
    return found


def _failure(error: BaseException) -> dict[str, Any]:
    """Why there is no estimate, in words; even an error that cannot be printed has some."""
    if isinstance(error, MethodFailed):
        return {"failed": str(error), "details": str(error.details)}
    if isinstance(error, DepthgaugeError):
        kinds = {BadEstimate: "estimate", WorkerLost: "changed"}
        kind = kinds.get(type(error), "")
        return {"failed": str(error), "details": "", "kind": kind}
    if isinstance(error, MemoryError):
        return {"failed": "there was not enough memory for the method.", "details": ""}
    try:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        details = "".join(traceback.format_exception(error))
    except BaseException:
        said, details = type(error).__name__, ""
    return {"failed": f"the method crashed with {said}", "details": details}


if __name__ == "__main__":
    main()
