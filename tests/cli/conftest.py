"""Runs the command line, in this process and as the real command; small data to run it on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.cli import main
from depthgauge.io import write_image


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


# As in the foreground of a terminal: jobs that a shell runs in the background ignore Ctrl-C, and so
# would the processes that they start.
COMMAND = [
    sys.executable,
    "-c",
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from depthgauge.cli import main; sys.exit(main())",
]


@pytest.fixture(scope="session")
def command() -> list[str]:
    """The real command, in a process of its own."""
    return COMMAND


@pytest.fixture
def shell(tmp_path):
    """Runs the real command; `stdout` and `stderr` may be files."""

    def call(*arguments, cwd=tmp_path, env=(), **options) -> Ran:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        ran = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, **dict(env)},
            text=True,
            timeout=900,
            **pipes,
        )
        assert "Traceback" not in (ran.stderr or "")
        return Ran(ran.returncode, ran.stdout or "", ran.stderr or "")

    return call


TRIAL = """
id = "{id}"
version = 1
dataset = "folder"
quantity = "disparity"
pool = "image"
missing = "{missing}"
[[scores]]
metric = "badpix"
threshold = [1, 3]
[[scores]]
metric = "mae"
[[scores]]
metric = "density"
"""


class Work:
    """A folder with ten stereo pairs, two benchmarks and some methods."""

    def __init__(self, root: Path) -> None:
        self.root, self.data = root, root / "pairs"
        self.trial, self.skip = root / "trial.toml", root / "skip.toml"
        self.trial.write_text(TRIAL.format(id="trial", missing="bad"))
        self.skip.write_text(TRIAL.format(id="skip", missing="skip"))
        rng = np.random.default_rng(11)
        for n in range(10):
            self.pair(f"s{n}", 3.0 + n, rng)

    def pair(self, name: str, disparity: float, rng) -> None:
        for side in ("left", "right"):
            (self.data / side).mkdir(parents=True, exist_ok=True)
            image = rng.integers(0, 255, (24, 40), dtype=np.uint8)
            write_image(self.data / side / f"{name}.png", image)
        (self.data / "truth").mkdir(exist_ok=True)
        truth = np.full((24, 40), disparity, np.float32)
        truth[rng.random(truth.shape) < 0.1] = np.nan
        dg.write_map(self.data / "truth" / f"{name}.pfm", truth)

    def method(self, name: str, body: str) -> Path:
        """A method file whose `estimate(inputs)` has that body; h, w and `np` are there."""
        path = self.root / f"{name}.py"
        lines = "\n    ".join(body.strip().splitlines())
        path.write_text(
            "import numpy as np\n\ndef estimate(inputs):\n"
            f"    h, w = inputs['left_image'].shape[:2]\n    {lines}\n"
        )
        return path

    def noisy(self, name="noisy", scale=1.0, missing=0.0) -> Path:
        """A method that is wrong in the same way every time; it may leave out pixels."""
        return self.method(
            name,
            "rng = np.random.default_rng(sum(map(ord, inputs['sample'])) + inputs['seed'])\n"
            f"found = 3.0 + int(inputs['sample'][1:]) + {scale} * rng.normal(size=(h, w))\n"
            f"found[rng.random((h, w)) < {missing}] = np.nan\n"
            "return found",
        )

    def call(self, *methods, out="run") -> list[str]:
        """The arguments of a run in this process."""
        named = [text for method in methods for text in ("--method", str(method))]
        where = ["--data", str(self.data), "--out", str(self.root / out)]
        return ["run", str(self.trial), *where, "--workers", "0", *named]


@pytest.fixture
def work(tmp_path) -> Work:
    return Work(tmp_path)


@pytest.fixture(scope="session")
def _finished(tmp_path_factory) -> Work:
    from depthgauge.engine.running.run import run

    made = Work(tmp_path_factory.mktemp("finished"))
    fails = "if inputs['sample'] == 's4': raise ValueError('no such luck')\nreturn np.ones((h, w))"
    methods = [made.noisy("one"), made.noisy("two", 3.0), made.method("moody", fails)]
    run(made.trial, made.data, methods, made.root / "run", workers=0)
    run(made.trial, made.data, methods[:1], made.root / "other", workers=0)
    return made


@pytest.fixture
def finished(_finished, tmp_path) -> Path:
    """A copy of a finished run of three methods, `one`, `two` and `moody`, which failed on `s4`."""
    shutil.copytree(_finished.root / "run", tmp_path / "finished")
    return tmp_path / "finished"


@pytest.fixture
def before(_finished, tmp_path) -> Path:
    """A copy of a finished run of `one` alone."""
    shutil.copytree(_finished.root / "other", tmp_path / "before")
    return tmp_path / "before"


@pytest.fixture
def skip_benchmark(_finished) -> Path:
    """The benchmark file of the finished run, but missing pixels are left out."""
    return _finished.skip


@pytest.fixture(scope="session")
def annotated(tmp_path_factory) -> Path:
    """A study of one scene by two simulated people, its dataset, estimates and votes."""
    from depthgauge.annotate.reconstruct.export import export_records
    from depthgauge.annotate.records.votes import Vote, append_vote
    from depthgauge.annotate.simulate.study import write_study

    root = tmp_path_factory.mktemp("annotated")
    (scene,) = write_study(root, "planar", annotators=2, width=64, height=48).scenes
    records = [root / "records" / "simulated-1"]
    export_records(records, root / "images", root / "data", notes=lambda text: None)
    for person in ("anna", "ben"):
        folder = root / "estimates" / person / "depth"
        folder.mkdir(parents=True)
        # No focal length: `annotate focal` finds one, the benchmark needs --focal.
        shutil.copy(root / "sensor" / "depth" / f"{scene}.npy", folder)
    for who in ("carl", "dora"):
        append_vote(root / "votes.jsonl", Vote(f"simulated-1/{scene}", who, True))
    return root
