"""The figures of the page about scale are those that were measured."""

import json
from pathlib import Path

from perf.scale import fill_page, tables

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_was_measured():
    found = json.loads((ROOT / "perf" / "scale.json").read_text())
    page = (ROOT / "docs" / "scale.md").read_text()
    assert page == fill_page(page, tables(found)), "run: python -m perf.scale"
    assert page.count("<!-- measured: ") == len(tables(found))
    assert set(found["throughput"]) == {"sgbm", "computing only"}
