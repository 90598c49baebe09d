"""Completion: a real bash asks, and the names are those of the registries."""

import os
import shutil
import subprocess
import sys

import pytest

from depthgauge.benchmarks import BENCHMARKS
from depthgauge.cli._names import names_of
from depthgauge.datasets import DATASETS
from depthgauge.methods import METHODS
from depthgauge.metrics import METRICS
from depthgauge.perturbations import EFFECTS
from depthgauge.regions import REGIONS, SHARED_MAPS

REGISTRIES = {
    "metrics": METRICS,
    "regions": {*REGIONS, *SHARED_MAPS},
    "perturbations": EFFECTS,
    "datasets": DATASETS,
    "methods": METHODS,
    "benchmarks": BENCHMARKS,
}


@pytest.mark.parametrize("kind", REGISTRIES)
def test_the_names_are_those_of_the_registries(kind):
    assert names_of(kind) == sorted(REGISTRIES[kind])


def test_names_load_nothing_heavy():
    code = (
        "import sys, depthgauge.cli.run_verb, depthgauge.cli._names as n; "
        f"[n.names_of(kind) for kind in {list(REGISTRIES)}]; print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "pydantic", "rich"} & set(ran.stdout.split())


@pytest.fixture(scope="module")
def bash(tmp_path_factory):
    """Answers what bash offers for a line; `depthgauge` is on its path."""
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("needs bash")
    asked = [shell, "-c", 'echo "$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))"']
    version = subprocess.run(asked, capture_output=True, text=True, check=True)
    if int(version.stdout) < 404:
        pytest.skip("click completes in bash 4.4 and later")
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "depthgauge"
    script.write_text(f"#!{sys.executable}\nfrom depthgauge.cli import main\nmain()\n")
    script.chmod(0o755)
    (folder / "my.toml").touch()

    def call(line: str) -> list[str]:
        words = line.split(" ")
        ask = (
            'eval "$(depthgauge completion bash)"\n'
            f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}\n"
            f'_depthgauge_completion depthgauge {words[-1]!r} ""\n'
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        # compopt only works while bash itself completes.
        quiet = f"compopt() {{ :; }}\n{ask}"
        ran = subprocess.run(
            [shell, "-c", quiet],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        )
        assert ran.stderr == ""
        return ran.stdout.split()

    return call


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("depthgauge ru", ["run"]),
        ("depthgauge re", ["report", "rescore"]),
        ("depthgauge run middlebury-t", ["middlebury-toolkit"]),
        ("depthgauge score stereo-s", ["stereo-scenes"]),
        ("depthgauge check middlebury-t", ["middlebury-toolkit"]),
        ("depthgauge rescore x --benchmark middlebury-t", ["middlebury-toolkit"]),
        ("depthgauge run middlebury --method sg", ["sgbm"]),
        ("depthgauge run middlebury -m con", ["constant"]),
        ("depthgauge list m", ["metrics", "methods"]),
        ("depthgauge show sgb", ["sgbm"]),
        ("depthgauge show middlebury-201", ["middlebury-2014"]),
        ("depthgauge completion z", ["zsh"]),
        ("depthgauge make ster", ["stereo-scenes"]),
        ("depthgauge run --drop", ["--drop-estimates"]),
    ],
)
def test_bash_offers(bash, line, offered):
    assert bash(line) == offered


def test_files_where_no_name_fits(bash):
    """Click leaves files to the shell: it offers nothing of its own."""
    assert bash("depthgauge run ./my.t") == []
    assert bash("depthgauge report r") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed(run, shell):
    ran = run("completion", shell)
    assert ran.code == 0
    assert "_DEPTHGAUGE_COMPLETE" in ran.out
    assert ran.err == ""


def test_another_shell_is_named(run):
    ran = run("completion", "tcsh")
    assert ran.code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in ran.err
