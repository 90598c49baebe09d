"""Tasks on a dask cluster: chunks travel, items are written to storage that all machines share."""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from depthgauge._options import Options
from depthgauge.engine.running.chunks import Chunks
from depthgauge.engine.running.executors._executor import ExecutorSpec
from depthgauge.engine.running.guard import Event, Guard
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.engine.running.task import Context, Task
from depthgauge.engine.store.item import read_item
from depthgauge.engine.store.run_folder import item_path
from depthgauge.errors import DepthgaugeError, MissingExtra

_CONNECT_S = 30
_GUARDS: dict[tuple[str, int], Guard] = {}
_LOCK = threading.Lock()


class DaskOptions(Options):
    """Options of `dask`."""

    address: str
    """Address of the scheduler: tcp://host:8786."""


SPEC = ExecutorSpec("dask", "The workers of a dask cluster", options=DaskOptions)


def run(
    context: Context | Jobs, tasks: Sequence[Task | Job], options: DaskOptions
) -> Iterator[Event]:
    """The tasks on the workers of a running scheduler.

    A dask worker starts one guarded process for each of its threads, so that a method that
    crashes costs its sample and not the dask worker.
    """
    address = options.address
    client = _connect(address)
    body = pickle.dumps(context)
    key = hashlib.sha256(body).hexdigest()
    try:
        _wait_for_workers(client, address)
        # Pickled by us, once: dask would look into it and ship parts of it with every task.
        yield from _events(client, key, client.scatter(body, broadcast=True), tasks)
    finally:
        # The worker processes would stay for as long as the cluster; one that is lost has none.
        with suppress(Exception):
            client.run(_close_guards, key)
        client.close()


def _events(client: Any, key: str, body: Any, tasks: Sequence[Task | Job]) -> Iterator[Event]:
    """Keeps two chunks per thread in flight, also for workers that join later."""
    from distributed import as_completed

    chunks = Chunks(tasks, _threads(client))
    running = as_completed(loop=client.loop)
    under_way = 0
    while True:
        threads = _threads(client)
        chunks.workers = threads
        while under_way < 2 * threads and (chunk := chunks.take()):
            running.add(client.submit(_run_chunk, key, body, pickle.dumps(chunk), pure=False))
            under_way += 1
        if not under_way:
            return
        for event in _result(next(running)):
            chunks.took(event.seconds)
            yield event
        under_way -= 1


def _threads(client: Any) -> int:
    """Threads of all workers that the scheduler has now; at least 1, as lost workers may return."""
    return max(1, int(sum(client.nthreads().values())))


def _result(future: Any) -> list[Event]:
    try:
        events: list[Event] = future.result()
        return events
    except DepthgaugeError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        raise DepthgaugeError(
            f"the cluster could not do a chunk of tasks ({type(error).__name__}: {said}); "
            "finished items are kept; run the same command again."
        ) from error


def _run_chunk(key: str, body: bytes, packed: bytes) -> list[Event]:
    """On the dask worker: does the tasks in this thread's own guarded process."""
    context, tasks = pickle.loads(body), pickle.loads(packed)
    guard = _guard_of(key, context)
    # A chunk that dask does again, because a worker was lost, may be half done.
    known = [event for task in tasks if (event := _finished(context, task)) is not None]
    names = {event.task for event in known}
    return known + list(guard.run([task for task in tasks if task.id not in names]))


def _finished(context: Context | Jobs, task: Any) -> Event | None:
    """The outcome of a task that is stored already."""
    if isinstance(context, Jobs):
        return Event(task.id) if context.is_done(task) else None
    path = item_path(context.folder, task.id)
    return Event(task.id, failed=read_item(path).outcome.failed) if path.is_file() else None


def _guard_of(key: str, context: Context | Jobs) -> Guard:
    """The guard of this thread; guards of other runs, whose client may be gone, are closed."""
    thread = threading.get_ident()
    with _LOCK:
        for place in [p for p in _GUARDS if p[1] == thread and p[0] != key]:
            _GUARDS.pop(place).close()
        return _GUARDS.setdefault((key, thread), Guard(context))


def _close_guards(key: str) -> None:
    with _LOCK:
        for place in [place for place in _GUARDS if place[0] == key]:
            _GUARDS.pop(place).close()


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra("a cluster needs: pip install 'depthgauge[cluster]'") from error
    try:
        return Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise DepthgaugeError(
            f"{address}: no dask scheduler answers ({error}); start one with `dask scheduler`."
        ) from error


def _wait_for_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_CONNECT_S)
    except TimeoutError as error:
        raise DepthgaugeError(
            f"{address}: the scheduler has no workers; start some with `dask worker {address}`."
        ) from error
