"""Runs the command line in this process."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

import pytest

from depthgauge.cli import main


@dataclass
class Ran:
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"not strict: {word}"))


@pytest.fixture
def run(monkeypatch, capsys):
    def call(*arguments) -> Ran:
        monkeypatch.setattr(sys, "argv", ["depthgauge", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Ran(ended.value.code, out, err)

    return call
