"""`python -m perf`: runs every row, prints a table, writes `perf/results.json`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from perf.rows import Row, all_rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small maps: proves agreement only")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("results.json"))
    options = parser.parse_args()
    rows = []
    with Console(stderr=True).status("timing") as status:
        for row in all_rows(options.quick):
            rows.append(row)
            status.update(f"done: {row.name}")
    options.out.write_text(json.dumps([row.as_json() for row in rows], indent=1) + "\n")
    Console(width=150).print(table(rows))
    greedy = [row for row in rows if (row.extra_memory_maps or 0) >= 1]
    if greedy and not options.quick:  # on small maps fixed buffers are most of it
        raise SystemExit(f"needs more than one copy of the map: {greedy[0].name}")


def table(rows: list[Row]) -> Table:
    made = Table("what", title="milliseconds, best of several; x: times ours, or ours to limit")
    for heading in ("ours", "plain NumPy", "careful NumPy", "OpenCV", "imageio", "limit", "memory"):
        made.add_column(heading, justify="right")
    for row in rows:
        made.add_row(
            row.name,
            f"{1e3 * row.ours_s:.2f}",
            *(peer(row, name) for name in ("plain NumPy", "careful NumPy", "OpenCV", "imageio")),
            ""
            if row.limit_s is None
            else f"{1e3 * row.limit_s:.2f} ({row.ours_s / row.limit_s:.1f}x)",
            "" if row.extra_memory_maps is None else f"{row.extra_memory_maps:.2f} maps",
        )
    return made


def peer(row: Row, name: str) -> str:
    if name not in row.peers:
        return ""
    return f"{1e3 * row.peers[name]:.0f} ({row.peers[name] / row.ours_s:.1f}x)"


if __name__ == "__main__":
    main()
