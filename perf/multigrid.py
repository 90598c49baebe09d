"""`python -m perf.multigrid`: our multigrid beside pyamg, on the systems of a reconstruction.

The scenes are those of `perf.reconstruct`. What `reconstruct` solves is recorded while it runs:
one system for normals (three columns) and one for depth, with their starts. Each solver builds its
levels and solves to the same residual; then the right-hand side changes a little, as when somebody
turns a normal in the preview, and is solved again from the last solution. Writes
`perf/multigrid.json`. pyamg is not a dependency: if it is not installed, its columns are left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from depthgauge.annotate.reconstruct import reconstruct
from depthgauge.geometry._multigrid import Multigrid
from perf.reconstruct import PREVIEW_PX, scene

HERE = Path(__file__).parent
SIZES = ((PREVIEW_PX, PREVIEW_PX), (640, 480))
LARGE = (1280, 960)
QUICK = ((80, 60),)
TOLERANCE = 1e-4
"""Relative residual: what `reconstruct` asks for."""
TIGHT = 1e-8
WITHOUT = "pyamg is not installed, so ours is timed alone; `pip install pyamg` adds its columns."

Array = NDArray[np.float64]


@dataclass
class System:
    """One system that a reconstruction solves."""

    name: str
    matrix: Any
    x: NDArray[np.int64]
    y: NDArray[np.int64]
    right: Array
    """(n, c)."""
    start: Array


@contextmanager
def recorded(systems: list[System]) -> Iterator[None]:
    """Notes every system that is built and solved meanwhile."""
    build, solve = Multigrid.__init__, Multigrid.solve
    places: dict[int, tuple[Any, Any, Any]] = {}

    def noting_build(self: Multigrid, matrix: Any, x: Any, y: Any, **more: Any) -> None:
        places[id(self)] = matrix.copy(), x, y
        build(self, matrix, x, y, **more)

    def noting_solve(self: Multigrid, right: Array, start: Array, *args: Any, **more: Any) -> Any:
        name = "normals" if right.shape[1] == 3 else "depth"
        systems.append(System(name, *places[id(self)], right.copy(), start.copy()))
        return solve(self, right, start, *args, **more)

    Multigrid.__init__, Multigrid.solve = noting_build, noting_solve  # type: ignore[method-assign]
    try:
        yield
    finally:
        Multigrid.__init__, Multigrid.solve = build, solve  # type: ignore[method-assign]


Solve = Callable[[Array, Array, float], Array]


def ours(system: System) -> Solve:
    """Builds our levels."""
    built = Multigrid(system.matrix, system.x, system.y)
    return lambda right, start, tolerance: built.solve(right, start, tolerance)[0]


def smoothed_aggregation(system: System) -> Solve:
    """The nearest relative of ours: smoothed aggregation with conjugate gradients."""
    import pyamg

    return _by_columns(pyamg.smoothed_aggregation_solver(_matrix(system), symmetry="symmetric"))


def ruge_stuben(system: System) -> Solve:
    """The classical method of pyamg with conjugate gradients."""
    import pyamg

    return _by_columns(pyamg.ruge_stuben_solver(_matrix(system)))


def _matrix(system: System) -> Any:
    from scipy import sparse

    return sparse.csr_matrix(system.matrix)


def _by_columns(built: Any) -> Solve:
    def solve(right: Array, start: Array, tolerance: float) -> Array:
        columns = [
            built.solve(right[:, i], x0=start[:, i], tol=tolerance, accel="cg", maxiter=200)
            for i in range(right.shape[1])
        ]
        return np.stack(columns, axis=1)

    return solve


PYAMG: dict[str, Callable[[System], Solve]] = {
    "pyamg smoothed aggregation": smoothed_aggregation,
    "pyamg Ruge-Stueben": ruge_stuben,
}


def timed(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The least processor time of some, and the last thing made; no solver is parallel."""
    best, made = math.inf, None
    for _ in range(times):
        start = time.process_time()
        made = work()
        best = min(best, time.process_time() - start)
    return best, made


def residual(system: System, right: Array, found: Array) -> float:
    """The largest relative residual of a column."""
    left = np.linalg.norm(right - system.matrix @ found, axis=0)
    norms = np.linalg.norm(right, axis=0)
    return float((left[norms > 0] / norms[norms > 0]).max(initial=0.0))


def peak_mib(work: Callable[[], Any]) -> float:
    """The most memory that arrays took meanwhile."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def measure(system: System, build: Callable[[System], Solve], times: int) -> dict[str, float]:
    """Seconds, residuals and memory of one solver on one system."""
    build_s, solve = timed(lambda: build(system), times)
    solve_s, found = timed(lambda: solve(system.right, system.start, TOLERANCE), times)
    tight_s, exact = timed(lambda: solve(system.right, system.start, TIGHT), times)
    turned = system.right * (1 + 0.02 * np.sin(0.01 * np.arange(len(system.right)))[:, None])
    again_s, updated = timed(lambda: solve(turned, found, TOLERANCE), times)
    return {
        "build_s": build_s,
        "solve_s": solve_s,
        "residual": residual(system, system.right, found),
        "tight_s": tight_s,
        "tight_residual": residual(system, system.right, exact),
        "again_s": again_s,
        "again_residual": residual(system, turned, updated),
        "memory_mib": peak_mib(lambda: build(system)(system.right, system.start, TOLERANCE)),
    }


def rows(sizes: tuple[tuple[int, int], ...], times: int, peers: bool) -> Iterator[dict[str, Any]]:
    """One row for each size, kind of scene, system and solver."""
    solvers = {"ours": ours, **(PYAMG if peers else {})}
    for size in sizes:
        for shape in ("mixed", "curved"):
            systems: list[System] = []
            with recorded(systems):
                reconstruct(scene(*size, shape))
            for system in systems:
                for name, build in solvers.items():
                    yield {
                        "size_px": list(size),
                        "shapes": shape,
                        "system": system.name,
                        "unknowns": int(system.matrix.shape[0]),
                        "solver": name,
                        **measure(system, build, times),
                    }


def table(found: list[dict[str, Any]]) -> Table:
    """Times, and ratios to ours."""
    made = Table(
        "picture", "system", "unknowns", "solver", title="seconds of one core; x: times ours"
    )
    for heading in ("build", f"to {TOLERANCE:g}", f"to {TIGHT:g}", "update", "all", "residual"):
        made.add_column(heading, justify="right")
    made.add_column("MiB", justify="right")
    first: dict[str, Any] = {}
    for row in found:
        first = row if row["solver"] == "ours" else first
        whole, own = (r["build_s"] + r["solve_s"] for r in (row, first))
        made.add_row(
            "x".join(map(str, row["size_px"])) + f" {row['shapes']}",
            row["system"],
            str(row["unknowns"]),
            row["solver"],
            *(f"{row[key]:.3f}" for key in ("build_s", "solve_s", "tight_s")),
            f"{row['again_s']:.3f} ({row['again_s'] / max(first['again_s'], 1e-9):.1f}x)",
            f"{whole:.3f} ({whole / max(own, 1e-9):.1f}x)",
            f"{row['residual']:.1e}",
            f"{row['memory_mib']:.0f}",
        )
    return made


def main(arguments: list[str] | None = None) -> None:
    """Times everything, prints the table, writes the JSON."""
    parser = argparse.ArgumentParser(prog="python -m perf.multigrid", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small picture")
    parser.add_argument("--large", action="store_true", help="also a picture of 1280 x 960")
    parser.add_argument("--out", type=Path, default=HERE / "multigrid.json")
    options = parser.parse_args(arguments)
    peers = find_spec("pyamg") is not None
    if not peers:
        Console(stderr=True).print(WITHOUT)
    about = {
        "cpus": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "pyamg": version("pyamg") if peers else None,
        "tolerance": TOLERANCE,
    }
    # The first of all compiles our kernels, or loads them.
    list(rows(QUICK, 1, peers=False))
    sizes, times = (QUICK, 1) if options.quick else (SIZES, 2)
    found: list[dict[str, Any]] = []
    for row in rows((*sizes, LARGE) if options.large else sizes, times, peers):
        found.append(row)
        # After each row: large systems take minutes, and what was measured must not be lost.
        options.out.write_text(json.dumps({**about, "rows": found}, indent=1) + "\n")
    Console(width=150).print(table(found))


if __name__ == "__main__":
    main()
