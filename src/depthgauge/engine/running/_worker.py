"""A worker process, `python -m depthgauge.engine.running._worker`, driven by stdin and stdout.

It reads the data, lets the methods' own processes make estimates, and scores those; it never loads
a method's code. A separate process, because scoring may still use up the memory; spawned, because
libraries may hang after a fork. It gets pickled messages from its parent, each after its length.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import threading
import time
import traceback
from contextlib import suppress
from types import FrameType
from typing import IO, Any

_LENGTH = struct.Struct("<Q")
_LOOK_EVERY_S = 1.0


class Stop(BaseException):
    """The parent wants us to end; no `except Exception` may swallow it."""


def send(pipe: IO[bytes], message: Any) -> None:
    """Writes one message."""
    body = pickle.dumps(message)
    pipe.write(_LENGTH.pack(len(body)) + body)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Reads one message.

    Raises:
        EOFError: The other side has gone.
    """
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError
    return pickle.loads(body)


def main() -> None:
    """Does the tasks of one chunk after the other until stdin ends."""
    # What libraries print must not get between our messages.
    inbox = os.fdopen(os.dup(0), "rb")
    outbox = os.fdopen(os.dup(1), "wb")
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()
    try:
        _serve(inbox, outbox)
    except (EOFError, BrokenPipeError, Stop):
        os._exit(0)  # nobody listens any more
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _serve(inbox: IO[bytes], outbox: IO[bytes]) -> None:
    paths = receive(inbox)
    sys.path[:] = [*paths, *(path for path in sys.path if path not in paths)]
    try:
        worker = _prepare(inbox)
    except (EOFError, BrokenPipeError):
        raise
    except Exception as error:
        send(outbox, ("cannot start", f"a worker process cannot start: {error}"))
        raise Stop from error
    send(outbox, ("ready",))
    from depthgauge._confine import adopt_orphans, end_descendants

    adopt_orphans()
    try:
        while True:
            for task in receive(inbox):
                _do(task, worker, outbox)
            send(outbox, ("chunk",))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        worker.close()
        end_descendants(os.getpid())


def _prepare(inbox: IO[bytes]) -> Any:
    """Who does the tasks, with the kernels that they need."""
    context = receive(inbox)

    from depthgauge.engine.running.workers import open_worker

    return open_worker(context)


def _do(task: Any, worker: Any, outbox: IO[bytes]) -> None:
    from depthgauge.errors import CannotWrite, DepthgaugeError

    with suppress(OSError):
        os.ftruncate(2, 0)  # what was written is kept until the next task begins
        os.lseek(2, 0, os.SEEK_SET)
    send(outbox, ("start", task.id))
    try:
        failed = worker.do(task, lambda: send(outbox, ("estimated", task.id)))
    except CannotWrite as error:
        send(outbox, ("cannot write", str(error)))
        raise Stop from error
    except DepthgaugeError as error:
        send(outbox, ("broken", task.id, str(error)))
        return
    except Exception as error:  # our error, not the method's: it must not affect any score
        send(
            outbox, ("broken", task.id, f"{worker.activity} raised {type(error).__name__}: {error}")
        )
        return
    send(outbox, ("done", task.id, failed))


def _stop(signum: int, frame: FrameType | None) -> None:
    raise Stop


def _watch_parent(parent: int) -> None:
    """Ends this process when its parent has gone, also in the middle of a task."""
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5 * _LOOK_EVERY_S)
    os._exit(1)


if __name__ == "__main__":
    main()
