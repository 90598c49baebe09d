"""Tasks on a dask cluster: chunks travel, items are written to storage that all machines share."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from depthgauge.engine.chunks import Chunks
from depthgauge.engine.guard import Event, Guard
from depthgauge.engine.task import Context, Task
from depthgauge.errors import DepthgaugeError, MissingExtra

_CONNECT_S = 30
_GUARDS: dict[tuple[str, int], Guard] = {}
_LOCK = threading.Lock()


def run_cluster(context: Context, tasks: Sequence[Task], address: str) -> Iterator[Event]:
    """The tasks on the workers of a running scheduler (`tcp://host:8786`).

    A dask worker starts one guarded process for each of its threads, so that a method that
    crashes costs its sample and not the dask worker.
    """
    client = _connect(address)
    key = f"{context.folder}-{context.protocol.hash}"
    try:
        threads = sum(worker["nthreads"] for worker in _workers(client, address))
        chunks = Chunks(tasks, threads)
        # Pickled by us, once: dask would look into it and ship parts of it with every task.
        body = client.scatter(pickle.dumps(context), broadcast=True)
        yield from _events(client, key, body, chunks, 2 * threads)
    finally:
        # The worker processes would stay for as long as the cluster; one that is lost has none.
        with suppress(Exception):
            client.run(_close_guards, key)
        client.close()


def _events(client: Any, key: str, body: Any, chunks: Chunks, in_flight: int) -> Iterator[Event]:
    from distributed import as_completed

    def submit() -> Any:
        chunk = chunks.take()
        if not chunk:
            return None
        packed = pickle.dumps(chunk)
        return client.submit(_run_chunk, key, body, packed, pure=False)

    first = [future for _ in range(in_flight) if (future := submit()) is not None]
    running = as_completed(first, loop=client.loop)
    for future in running:
        for event in _result(future):
            chunks.took(event.seconds)
            yield event
        if (following := submit()) is not None:
            running.add(following)


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
            "what is finished is kept, run the same command again."
        ) from error


def _run_chunk(key: str, body: bytes, packed: bytes) -> list[Event]:
    """On the dask worker: does the tasks in this thread's own guarded process."""
    place = (key, threading.get_ident())
    with _LOCK:
        if place not in _GUARDS:
            _GUARDS[place] = Guard(pickle.loads(body))
        guard = _GUARDS[place]
    return list(guard.run(pickle.loads(packed)))


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


def _workers(client: Any, address: str) -> list[dict[str, Any]]:
    try:
        client.wait_for_workers(1, timeout=_CONNECT_S)
    except TimeoutError as error:
        raise DepthgaugeError(
            f"{address}: the scheduler has no workers; start some with `dask worker {address}`."
        ) from error
    return list(client.scheduler_info(n_workers=-1)["workers"].values())
