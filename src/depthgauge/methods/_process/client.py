"""The side that asks: starts a method's process, hands inputs over, and checks what comes back."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from depthgauge import errors
from depthgauge._confine import WAYS, descendants, end_descendants
from depthgauge.errors import BadEstimate, BadFile, DepthgaugeError, MethodFailed, WorkerLost
from depthgauge.methods._calls.meter import Meter, Usage
from depthgauge.methods._calls.returned import SpoolFolder, as_estimate
from depthgauge.methods._method import Method
from depthgauge.methods._process import wire
from depthgauge.methods._process.ending import last_words, why_it_ended
from depthgauge.quantities import QUANTITIES
from depthgauge.types import ClipEstimate, Estimate, Frames

_START_LIMIT_S = 300.0
_LONGEST = 2000

Reader = Callable[[str, int | None], Any]
"""Reads an input by name, or one frame of it."""


class ProcessLost(Exception):
    """The method's process ended, took too long, or sent what is no message."""

    def __init__(self, why: str, details: str = "", *, late: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.details = details
        self.late = late


class MethodProcess:
    """One process with one method in it.

    Args:
        hide: Folders that the method must not see, where the system can hide them.
        ways: How they may be hidden; the first way that works is taken.
    """

    def __init__(self, hide: Sequence[Path] = (), ways: Sequence[str] = WAYS) -> None:
        self.busy = False
        """Whether it works on an estimate: then it cannot be asked for another one."""
        self.hidden_by = ""
        """In which way the folders are hidden; empty if they are not."""
        self.why_not_hidden = ""
        self._temporary = ""
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed in stop()
        ours, theirs = socket.socketpair()
        python = [sys.executable, "-P", "-m"]
        confined = [*python, "depthgauge._confine", str(theirs.fileno())] if hide else []
        socket_of_server = [] if hide else [str(theirs.fileno())]
        self._pipe = ours
        self._process = subprocess.Popen(
            [*confined, *python, "depthgauge.methods._process.server", *socket_of_server],
            stdin=subprocess.DEVNULL,
            stdout=self._stderr,
            stderr=self._stderr,
            pass_fds=[theirs.fileno()],
            env=_without(hide),
            start_new_session=True,
        )
        theirs.close()
        self._number = self._process.pid
        try:
            if hide:
                self._hide(hide, ways)
            paths = [path for path in sys.path if path]
            self._ask({"do": "begin", "paths": paths}, _START_LIMIT_S)
        except BaseException:
            self.stop()
            raise

    def _hide(self, folders: Sequence[Path], ways: Sequence[str]) -> None:
        message = {"hide": [str(path) for path in folders], "ways": list(ways)}
        answer = self._ask(message, _START_LIMIT_S)
        self.hidden_by = _text(answer, "hidden_by")
        self.why_not_hidden = _text(answer, "why_not_hidden")
        self._temporary = _text(answer, "temporary")
        # In a namespace, the method runs in a grandchild of what was started.
        self._number = [self._process.pid, *descendants(self._process.pid)][-1]

    def load(self, method: Method, limit_s: float) -> None:
        """Loads the method's code.

        Raises:
            MethodFailed: It cannot be loaded.
            WorkerLost: Its file has changed since the run began.
            ProcessLost: The process ended, or it took too long.
        """
        memory, places = wire.pack_object(method)
        answer = self._ask({"do": "load", "places": places}, limit_s, memory)
        if answer.get("kind") == "changed":
            raise WorkerLost(_text(answer, "failed"))
        if "loaded" not in answer:
            raise MethodFailed(_text(answer, "failed"), _text(answer, "details"))

    def describe(self, text: str, label: str | None) -> dict[str, Any]:
        """What a method's file declares."""
        message = {"do": "describe", "text": text, "label": label}
        return self._ask(message, _START_LIMIT_S)

    def estimate(
        self,
        who: str,
        given: Mapping[str, Any],
        lazy: Mapping[str, int | None],
        read: Reader,
        limit_s: float,
    ) -> tuple[Estimate | ClipEstimate, Usage]:
        """An estimate of one sample, and what it cost.

        Args:
            who: The method, for errors.
            given: The inputs that are there; `sample`, `seed` and `quantity` among them.
            lazy: Inputs that are read when the method asks for them; of a clip, how many frames.
            read: Reads them; its time is not the method's.
            limit_s: The longest that it may take.

        Raises:
            MethodFailed: The method failed.
            BadEstimate: What it returned cannot be scored.
            ProcessLost: The process ended, or it took too long.
            DepthgaugeError: What `read` raises.
        """
        with suppress(OSError):  # what a method writes is kept until its next estimate
            self._stderr.truncate(0)
        memory, places = wire.pack_object(dict(given))
        message = {
            "do": "estimate",
            "places": places,
            "lazy": [name for name, length in lazy.items() if length is None],
            "clips": {name: length for name, length in lazy.items() if length is not None},
        }
        answer = self._ask(message, _START_LIMIT_S, memory)
        if "ready" not in answer:
            raise MethodFailed(_text(answer, "failed"), _text(answer, "details"))
        meter = Meter(self._number)
        length = next((n for n in lazy.values() if n is not None), None)
        call = _Call(who, str(given["quantity"]), length, read, time.monotonic() + limit_s)
        self.busy = True
        self._send({"do": "go"})
        try:
            while self.busy:
                reply, received = self._receive(call.deadline)
                usage = meter.usage()
                self.busy = not ("done" in reply or "failed" in reply)
                try:
                    if "need" in reply:
                        with meter.paused():
                            self._hand_over(call, reply)
                    else:
                        call.take(reply, received)
                finally:
                    _close(received)
        except wire.WireError as error:
            self.busy = True  # whoever lies is not asked again
            raise self._lost(f"the method's process sent {error}") from error
        return call.estimate(), usage

    def _hand_over(self, call: _Call, reply: Mapping[str, Any]) -> None:
        """Reads an input that the method asks for."""
        began = time.monotonic()
        frame = reply.get("of_frame")
        thing = call.read(_text(reply, "need"), None if frame is None else _whole(frame))
        memory, places = wire.pack_object(thing)
        self._send({"item": True, "places": places}, memory)
        call.deadline += time.monotonic() - began

    def memory_bytes(self) -> int:
        """How much memory it uses now."""
        from depthgauge.methods._calls.meter import status_bytes

        return status_bytes("VmRSS", self._number) or 0

    def stop(self) -> None:
        """Ends the process and all that it started."""
        end_descendants(self._process.pid)  # first: when it has gone, they are nobody's
        self._pipe.close()
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._stderr.close()
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _ask(
        self, message: Mapping[str, Any], limit_s: float, memory: int | None = None
    ) -> dict[str, Any]:
        self._send(message, memory)
        answer, received = self._receive(time.monotonic() + limit_s)
        _close(received)
        return answer

    def _send(self, message: Mapping[str, Any], memory: int | None = None) -> None:
        try:
            self._pipe.settimeout(_START_LIMIT_S)
            wire.send(self._pipe, message, memory)
        except OSError:
            pass  # one that has gone is no error here: whoever listens to it is told
        finally:
            _close(memory)

    def _receive(self, deadline: float) -> tuple[dict[str, Any], int | None]:
        try:
            return wire.receive(self._pipe, deadline)
        except TimeoutError as error:
            raise ProcessLost("too late", last_words(self._stderr), late=True) from error
        except (EOFError, OSError) as error:
            raise self._lost(why_it_ended(self._process, "the method's process")) from error
        except wire.WireError as error:
            raise self._lost(f"the method's process sent {error}") from error

    def _lost(self, why: str) -> ProcessLost:
        return ProcessLost(why, last_words(self._stderr))


class _Call:
    """One estimate as it arrives."""

    def __init__(
        self, who: str, quantity: str, length: int | None, read: Reader, deadline: float
    ) -> None:
        self._who = who
        self._quantity = quantity
        self._length = length
        """Frames of the clip; None if it is none."""
        self.read = read
        self.deadline = deadline
        self._found: Estimate | ClipEstimate | None = None
        self._folder: SpoolFolder | None = None
        self._frames: list[Any] = []

    def take(self, reply: Mapping[str, Any], memory: int | None) -> None:
        """Takes what the method's process says."""
        if "failed" in reply:
            self._fail(reply)
        if "frame" in reply:
            self._take_frame(reply, memory)
            return
        if "done" not in reply or ("clip" in reply) != (self._length is not None):
            raise wire.WireError("a message that makes no sense")
        extras = reply.get("extras", {})
        if "clip" in reply:
            frames = Frames(self._frames, self._folder)
            self._found = ClipEstimate(frames, self._quantity, _table(extras))
        else:
            self._found = self._checked(reply, memory)

    def estimate(self) -> Estimate | ClipEstimate:
        """What has arrived."""
        if self._found is None:
            raise MethodFailed(f"{self._who} sent no estimate.")
        return self._found

    def _fail(self, reply: Mapping[str, Any]) -> None:
        said = _text(reply, "failed")
        if reply.get("kind") == "estimate":
            raise BadEstimate(said)
        raise MethodFailed(said, _text(reply, "details"))

    def _take_frame(self, reply: Mapping[str, Any], memory: int | None) -> None:
        if len(self._frames) >= (self._length or 0):
            raise wire.WireError(f"more frames than the {self._length or 0} of the sample")
        # Frames lie on disk until they are scored: a clip is never in memory as a whole.
        self._folder = self._folder or SpoolFolder()
        if "none" in reply:
            self._frames.append(None)
        else:
            frame = self._checked(reply, memory)
            self._frames.append(self._folder.keep(len(self._frames), frame))

    def _checked(self, reply: Mapping[str, Any], memory: int | None) -> Estimate:
        if memory is None:
            raise wire.WireError("an estimate without its memory")
        maps: dict[str, Any] = dict(wire.unpack_arrays(memory, reply.get("layout")))
        main = QUANTITIES[self._quantity].main.name
        if main not in maps:
            raise wire.WireError(f"an estimate without {main}")
        numbers = _table(reply.get("numbers", {}))
        extras = _table(reply.get("extras", {}))
        found = Estimate(maps.pop(main), self._quantity, {**maps, **numbers}, extras)
        return as_estimate(self._who, found, self._quantity, copy=False)


def _without(hidden: Sequence[Path]) -> dict[str, str]:
    """The environment without the variables that name a hidden folder."""
    names = [str(path) for path in hidden]
    return {
        key: value for key, value in os.environ.items() if not any(name in value for name in names)
    }


def _close(memory: int | None) -> None:
    if memory is not None:
        os.close(memory)


def _text(reply: Mapping[str, Any], key: str) -> str:
    return str(reply.get(key, ""))[:_LONGEST]


def _table(thing: Any) -> dict[str, Any]:
    if not isinstance(thing, dict):
        raise wire.WireError("a message of another form")
    return thing


def _whole(number: Any) -> int:
    if not isinstance(number, int) or not 0 <= number < 1 << 31:
        raise wire.WireError("a number that is none")
    return number


def describe_elsewhere(text: str, label: str | None) -> Method:
    """The method that a text names, without running its code in this process.

    Raises:
        DepthgaugeError: What `find_method` raises; or the file ends or blocks its process.
    """
    process = MethodProcess()
    try:
        answer = process.describe(text, label)
        if "refused" in answer:
            refused = _table(answer["refused"])
            kind = getattr(errors, _text(refused, "kind"), None)
            known = isinstance(kind, type) and issubclass(kind, DepthgaugeError)
            plain = known and kind is not errors.BadProtocol
            raise (kind if plain else BadFile)(_text(refused, "text"))  # type: ignore[misc]  # one of ours
        if "method" not in answer:
            raise BadFile(f"{text}: this method cannot be loaded ({_text(answer, 'failed')}).")
        return Method.from_json(_table(answer["method"]))
    except ProcessLost as lost:
        why = f"it took longer than {_START_LIMIT_S:g} s" if lost.late else lost.why
        raise BadFile(f"{text}: this method cannot be loaded ({why}).") from lost
    except wire.WireError as error:
        raise BadFile(f"{text}: this method cannot be loaded (it sent {error}).") from error
    finally:
        process.stop()
