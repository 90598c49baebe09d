"""The tables of docs/trials.md and docs/networks.md, made from the records of trials.

The pages mark them by two comments; what stands between is replaced, the rest is kept:

    <!-- recorded: trial kitti-flow -->
    <!-- /recorded -->
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tools.evidence import FOLDER, REPOSITORY

PAGES = tuple(REPOSITORY / "docs" / name for name in ("trials.md", "networks.md"))
_PART = re.compile(
    r"<!-- recorded: (?P<kind>trial|known) (?P<names>[\w -]+) -->\n.*?<!-- /recorded -->",
    flags=re.DOTALL,
)
Body = Mapping[str, Any]
"""A `Table` as its record has it."""


def is_fresh() -> bool:
    """Whether the pages say what the records say."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    return all(text == _PART.sub(_fill, text) for text in texts)


def write_page() -> None:
    """Brings the pages up to date."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(_PART.sub(_fill, text), encoding="utf-8")


def _fill(part: re.Match[str]) -> str:
    lines = "\n".join((_scores if part["kind"] == "trial" else _known)(part["names"])).strip()
    note = "<!-- Written by `make evidence`; changes here are lost. -->"
    mark = f"<!-- recorded: {part['kind']} {part['names']} -->"
    return f"{mark}\n{note}\n\n{lines}\n\n<!-- /recorded -->"


def _scores(names: str) -> Iterator[str]:
    """Methods by scores, best in bold; tables of several names are put below one another."""
    tables = [_tables()[name] for name in names.split()]
    if len(tables) > 1:
        yield from _several(tables)
        return
    for region, pixels in tables[0]["pixels"].items():
        yield f"**{region}**: {pixels:,} pixels with truth, {_samples(tables[0], region)}\n"
        yield from _header(["method"], tables[0], region)
        for row, cells in _rows(tables[0], region):
            yield _line([f"`{row}`", *cells])
        yield ""
    yield _protocol(tables[0])


def _known(name: str) -> Iterator[str]:
    """Ours beside values that were known before."""
    table = _tables()[name]
    ids = list(dict.fromkeys(score for row in table["known"].values() for score in row))
    titles = [part for i in ids for part in (_title(i, table), "known")]
    yield _line(["", *titles])
    yield _line(["---"] * (1 + len(titles)))
    for row, values in table["known"].items():
        cells = [f"`{row}`"]
        for i in ids:
            digits = values.get(i, "")
            ours = table["rows"][row][i]
            cells += [f"{ours:.{len(digits.partition('.')[2])}f}" if digits else "", digits]
        yield _line(cells)
    n = sum(table["pixels"].values())
    yield f"\n{n:,} pixels with truth, {_samples(table, 'all')}. {_protocol(table)}"


def _tables() -> dict[str, Body]:
    paths = [path for name in ("trials-*.json", "networks*.json") for path in FOLDER.glob(name)]
    records = [json.loads(path.read_text()) for path in sorted(paths)]
    return {table["name"]: table for record in records for table in record.get("tables", ())}


def _several(tables: list[Body]) -> Iterator[str]:
    first = tables[0]
    yield f"{first['pixels']['all']:,} pixels with truth, {_samples(first, 'all')}\n"
    yield from _header(["protocol", "hash", "method"], first, "all")
    for table in tables:
        for row, cells in _rows(table, "all", digits=3):
            yield _line([_link(table), f"`{table['protocol_hash'][:12]}`", f"`{row}`", *cells])


def _header(first: list[str], table: Body, region: str) -> Iterator[str]:
    titles = [_title(i, table) for i in _ids(table, region)]
    yield _line([*first, *titles])
    yield _line(["---"] * len(first) + ["---:"] * len(titles))


def _rows(table: Body, region: str, digits: int = 2) -> Iterator[tuple[str, list[str]]]:
    """Each row's cells; percentages have that many decimals, other values three."""
    ids = _ids(table, region)
    places = {i: digits if table["scores"][i]["unit"] == "%" else 3 for i in ids}
    best = {i: _shown(_best(i, table), places[i]) for i in ids}
    for row, values in table["rows"].items():
        cells = {i: _shown(values[i], places[i]) or "incomplete" for i in ids}
        yield row, [f"**{cell}**" if cell == best[i] else cell for i, cell in cells.items()]


def _ids(table: Body, region: str) -> list[str]:
    return [i for i in table["scores"] if i.endswith(f"@{region}")]


def _best(score: str, table: Body) -> float | None:
    """The value that is shown in bold; none of a lone row, nor of the density."""
    values: list[float] = [row[score] for row in table["rows"].values() if row[score] is not None]
    if len(table["rows"]) == 1 or not values or score.startswith("density"):
        return None
    return max(values) if table["scores"][score]["better"] == "higher" else min(values)


def _shown(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _title(score: str, table: Body) -> str:
    unit = table["scores"][score]["unit"]
    return f"{score.partition('@')[0]}{f', {unit}' if unit else ''}"


def _samples(table: Body, region: str) -> str:
    used, n = table["used"][region], len(table["samples"])
    plural = "s" if n > 1 else ""
    return f"{n} sample{plural}" if used == n else f"{used} of {n} samples"


def _protocol(table: Body) -> str:
    made_by = f" OpenCV {table['opencv']}." if table["opencv"] else ""
    return f"Protocol {_link(table)}, hash `{table['protocol_hash'][:12]}`.{made_by}"


def _link(table: Body) -> str:
    name = table["protocol"]
    if (FOLDER / "trials" / f"{name}.toml").is_file():
        return f"[`{name}`](evidence/trials/{name}.toml)"
    return f"`{name}` (`depthgauge show {name}`)"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
