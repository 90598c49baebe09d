"""What the tests of the documentation share: the code blocks of a page, and how to run them.

A page is run from top to bottom in one folder and one namespace.

- ```python with `>>>` is a doctest; without, it is executed.
- ```bash is run where `<!-- run -->` stands above it, and must end with exit code 0. Those of
  `methods.md`, where a method ends its process, use the real command, those of other pages a
  faster one (`served_command.py`).
- ```text is compared with what the last such run printed where `<!-- output -->` stands above it.
- Any other block with `<!-- file: name -->` above it is written to that file.
- `<!-- needs: torch -->` above a block runs it where these packages are installed.
- `<!-- not run -->` above a block leaves it out.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.docs.served_command import run_bash

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>run|not run|output|file: [\w./-]+|needs: [\w ]+) -->\n+)?"
    r"^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    flags=re.DOTALL | re.MULTILINE,
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    mark: str
    line: int


def read_blocks(path: Path) -> list[Block]:
    page = path.read_text(encoding="utf-8")
    return [
        Block(
            found["language"],
            found["text"],
            found["mark"] or "",
            page.count("\n", 0, found.start("text")),
        )
        for found in _BLOCK.finditer(page)
    ]


def _is_installed(block: Block) -> bool:
    """Whether the packages are there that a block needs."""
    wanted = block.mark.removeprefix("needs: ").split() if block.mark.startswith("needs: ") else []
    return all(importlib.util.find_spec(name) is not None for name in wanted)


def run_command(text: str) -> subprocess.CompletedProcess[str]:
    """Runs a script that uses the real command."""
    folder = str(Path(sys.executable).parent)
    return subprocess.run(
        ["bash", "-e", "-c", text],
        env={**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"]},
        capture_output=True,
        text=True,
    )


class Page:
    """Runs the blocks of one page in the current folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: dict[str, object] = {"__name__": "page"}
        self.printed = ""
        self.ran = 0

    def run(self) -> int:
        """How many blocks were run or compared."""
        for block in read_blocks(self.path):
            if block.mark == "not run" or not _is_installed(block):
                continue
            if block.mark.startswith("file: "):
                Path(block.mark.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
            elif block.mark.startswith("needs: "):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # what other packages warn of is theirs
                    self._python(block)
            elif block.language == "python":
                self._python(block)
            elif block.mark == "run":
                self._shell(block)
            elif block.mark == "output":
                self._compare(block)
            else:
                continue
            self.ran += 1
        return self.ran

    def _python(self, block: Block) -> None:
        if ">>>" not in block.text:
            # As many line ends before it as in the page, so that a traceback names its line.
            source = "\n" * block.line + block.text
            exec(compile(source, str(self.path), "exec"), self.names)
            return
        where = f"{self.path.name}"
        test = doctest.DocTestParser().get_doctest(
            block.text, self.names, where, str(self.path), block.line
        )
        report: list[str] = []
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        failed, _ = runner.run(test, out=report.append, clear_globs=False)
        assert not failed, "".join(report)
        self.names.update(test.globs)

    def _shell(self, block: Block) -> None:
        run = run_command(block.text) if self.path.name == "methods.md" else run_bash(block.text)
        assert run.returncode == 0, f"{self.path.name}:{block.line}: {run.stderr}"
        self.printed = run.stdout

    def _compare(self, block: Block) -> None:
        checker = doctest.OutputChecker()
        assert checker.check_output(block.text, self.printed, FLAGS), (
            f"{self.path.name}:{block.line} shows\n{block.text}\nbut it printed\n{self.printed}"
        )


@pytest.fixture
def run_page(tmp_path, monkeypatch):
    """Runs a page in an empty folder; says how many blocks it ran."""

    def run(path: Path) -> int:
        monkeypatch.chdir(tmp_path)
        return Page(path).run()

    return run


@pytest.fixture
def blocks():
    return read_blocks
