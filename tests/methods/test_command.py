"""`command`: programs that behave, and programs that do not."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.errors import BadFile, MethodFailed, Misuse, Unavailable
from depthgauge.methods import Usage, find_method
from depthgauge.methods._command import process
from depthgauge.methods.command import CommandOptions
from depthgauge.types import Camera, Estimate, Inputs, Rig

LEFT = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
SAVE = "import sys, numpy as np; np.save(sys.argv[1], np.full((2, 3), 4.0)); "


def inputs(**items: object) -> Inputs:
    return Inputs({"left_image": LEFT, "sample": "a/1", "quantity": "depth", "seed": 7, **items})


@pytest.fixture(autouse=True)
def private(tmp_path, monkeypatch) -> Path:
    """Where private folders are made; whatever happens, none of them stays."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


@pytest.fixture
def script(tmp_path):
    """Runs Python code as a program; `{out}` is its first argument, `more` are the others."""

    def run(code: str, more: str = "", given: Inputs | None = None, **options: object) -> Estimate:
        path = tmp_path / "my scripts" / "infer.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)
        template = f"{sys.executable} '{path}' {{out}} {more}"
        toml = tmp_path / "method.toml"
        lines = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
        toml.write_text("\n".join([f"command = {json.dumps(template)}", "[options]", *lines]))
        return find_method(toml).estimate(given or inputs(), "depth")

    return run


def gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] == "Z"
    except OSError:
        return True


def wait_until(condition) -> bool:
    end = time.monotonic() + 300
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


# --- programs that behave -----------------------------------------------------------------------


def test_a_program_that_works(script):
    found = script(SAVE + "print('all well'); print('so far', file=sys.stderr)")
    assert (found.values == 4).all()
    assert found.quantity == "depth"
    assert found.extras["exit_code"] == 0
    assert (found.extras["stdout"], found.extras["stderr"]) == ("all well\n", "so far\n")
    assert found.extras["size_px"] == [3, 2]
    assert "infer.py' " in found.extras["command"]
    usage = found.extras["usage"]
    assert isinstance(usage, Usage)
    assert usage.time_s > 0.01
    assert usage.cpu_s > 0.01


REPORT = """
import json, sys, numpy as np
json.dump(sys.argv[2:], open(sys.argv[2], "w"))
np.save(sys.argv[1], np.ones((2, 3)))
"""


def test_every_value_is_filled_in(script, tmp_path):
    note = tmp_path / "note.json"
    more = (
        f"'{note}' {{sample}} '--q={{quantity}} x' {{seed}} {{min_disparity}} {{max_disparity}} "
        "'{{left}} {{}}' {out_dir}"
    )
    script(REPORT, more, inputs(disparity_range=(-3.0, 40.5), sample="it's; a $(1) {seed}"))
    told = json.loads(note.read_text())
    assert told[1:7] == ["it's; a $(1) {seed}", "--q=depth x", "7", "-3", "40.5", "{left} {}"]
    assert Path(told[7]).name == "out"


COPY = """
import shutil, sys, numpy as np
for path in sys.argv[3:]:
    shutil.copy(path, sys.argv[2])
np.save(sys.argv[1], np.ones((2, 3)))
"""


def test_pictures_and_cameras_are_files(script, tmp_path):
    real = np.linspace(-0.1, 1.1, 6, dtype=np.float32).reshape(2, 3)
    pose = np.eye(4)
    pose[0, 3] = 0.5
    camera = Camera((20.0, 21.0), (3.5, 2.5), (8, 6), (0.1,), pose)
    given = inputs(
        right_image=real,
        image=LEFT[..., 0],
        centre_image=LEFT + 1,
        rig=Rig({"left": camera}, baseline_m=0.25, principal_offset_px=2),
    )
    script(COPY, f"{tmp_path} {{left}} {{right}} {{image}} {{centre_image}} {{rig}}", given)
    assert np.array_equal(io.read_image(tmp_path / "left.png"), LEFT)
    assert np.array_equal(io.read_image(tmp_path / "image.png"), LEFT[..., 0])
    assert np.array_equal(io.read_image(tmp_path / "centre_image.png"), LEFT + 1)
    right = io.read_image(tmp_path / "right.png")
    assert np.abs(right - np.clip(real, 0, 1)).max() < 1e-5  # 16 bits
    rig = json.loads((tmp_path / "rig.json").read_text())
    assert (rig["baseline_m"], rig["principal_offset_px"]) == (0.25, 2)
    assert rig["cameras"]["left"]["focal_px"] == [20, 21]
    assert rig["cameras"]["left"]["world_from_camera"][0] == [1, 0, 0, 0.5]


def test_other_formats(script):
    write = "import cv2, numpy as np, sys; assert sys.argv[1].endswith('depth.png'); "
    write += "cv2.imwrite(sys.argv[1], np.full((2, 3), 512, np.uint16))"
    with pytest.raises(MethodFailed, match=r"whole numbers of depth to depth.png.*\.npy or \.pfm"):
        script(write, out_suffix="png")
    told = "import sys, depthgauge as dg; dg.write_map(sys.argv[1], [[2.0] * 3] * 2, scale=1000)"
    assert (script(told, out_suffix="png").values == 2).all()
    with pytest.raises(BadFile, match=r"options\.out_suffix: is 'jpg' but must be"):
        script(write, out_suffix="jpg")


def test_a_program_that_is_told_a_folder_may_name_its_file(tmp_path):
    code = "import sys, numpy as np; [np.save(f'{sys.argv[1]}/{n}', np.ones((2, 3))) for n in %s]"
    path = tmp_path / "infer.py"
    method = find_method(f"command:{sys.executable} {path} {{out_dir}}")
    path.write_text(code % "'x'")
    assert (method.estimate(inputs(), "depth").values == 1).all()
    path.write_text(code % "'xy'")
    with pytest.raises(MethodFailed, match=r"wrote no depth\.npy at \{out\}"):
        method.estimate(inputs(), "depth")


def test_a_command_starts_where_depthgauge_was_called(tmp_path, monkeypatch):
    (tmp_path / "run.sh").write_text(f'#!/bin/sh\n{sys.executable} -c "{SAVE}" "$1"\n')
    (tmp_path / "run.sh").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    method = find_method("command:./run.sh {out}")
    monkeypatch.chdir("/")
    assert (method.estimate(inputs(), "depth").values == 4).all()


# --- programs that do not -----------------------------------------------------------------------


def test_an_error_is_told_with_its_last_line(script):
    code = "import sys; print('hello'); print('CUDA is\\nout of memory\\n', file=sys.stderr); "
    with pytest.raises(MethodFailed) as caught:
        script(code + "sys.exit(3)")
    assert str(caught.value) == "the program 'infer' ended with exit code 3: out of memory"
    assert "CUDA is\nout of memory" in caught.value.details
    assert "stdout: hello" in caught.value.details
    assert "exit_code: 3" in caught.value.details


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; print('only this'); sys.exit(1)", "exit code 1: only this"),
        ("import sys; sys.exit(1)", "exit code 1: it said nothing"),
        ("import os; os.kill(os.getpid(), 11)", "was ended by SIGSEGV: it said nothing"),
        ("pass", "ended well but wrote no depth.npy at {out}"),
        ("import sys; open(sys.argv[1], 'w')", "wrote depth.npy, which cannot be used: "),
        ("import sys; open(sys.argv[1], 'wb').write(bytes(999))", "which cannot be used: "),
        (
            "import sys, numpy as np; np.save(sys.argv[1], np.ones((2, 3, 2)))",
            "depth is a map (H, W), this file holds (2, 3, 2)",
        ),
        ("import sys, os; os.mkdir(sys.argv[1])", "expected a file, found a folder"),
        ("import sys, os; os.mkfifo(sys.argv[1])", "expected a file, found a device or pipe"),
    ],
)
def test_programs_that_fail(code, message, script):
    with pytest.raises(MethodFailed) as caught:
        script(code)
    assert str(caught.value).startswith("the program 'infer' ")
    assert message in str(caught.value)


def test_a_chatty_program_does_not_block(script):
    code = "for f in (sys.stdout, sys.stderr):\n    f.write('x' * 10**7 + 'end'); f.flush()"
    extras = script(SAVE + "\n" + code).extras
    for stream in ("stdout", "stderr"):
        assert len(extras[stream]) == 4000
        assert extras[stream].endswith("xend")


def test_binary_garbage_is_survived(script):
    garbage = "sys.stderr.buffer.write(bytes(range(256)) * 40 + b'\\n\\xff\\x00broken\\x1b'); "
    extras = script(SAVE + garbage).extras
    assert extras["stderr"].endswith("broken\x1b")
    with pytest.raises(MethodFailed) as caught:
        script(SAVE + garbage + "sys.exit(1)")
    assert str(caught.value).endswith("\ufffd broken")


def test_a_program_has_no_input_and_may_close_its_streams(script):
    code = "import os; assert sys.stdin.read() == ''; os.close(1); os.close(2)"
    assert (script(SAVE + code).values == 4).all()


DAEMON = """
import os, sys, time, numpy as np
if os.fork() == 0:
    open(sys.argv[2], "w").write(str(os.getpid()))
    time.sleep(600)
    os._exit(0)
while not os.path.exists(sys.argv[2]) or not open(sys.argv[2]).read():
    time.sleep(0.01)
np.save(sys.argv[1], np.ones((2, 3)))
"""


def test_a_child_that_stays_behind_keeps_nobody_waiting(script, tmp_path):
    note = tmp_path / "child"
    start = time.monotonic()
    assert (script(DAEMON, str(note)).values == 1).all()
    assert time.monotonic() - start < 300
    assert wait_until(lambda: gone(int(note.read_text())))


FOREVER = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[2], "w").write(f"{os.getpid()} {child.pid}")
print("working", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("measured", [True, False])
def test_the_time_limit_ends_grandchildren_too(measured, script, tmp_path, monkeypatch):
    if not measured:
        monkeypatch.delattr(os, "wait4")
    start = time.monotonic()
    with pytest.raises(MethodFailed) as caught:
        script(FOREVER, str(tmp_path / "pids"), time_limit_s=1.0)
    assert time.monotonic() - start < 300
    assert str(caught.value) == (
        "the program 'infer' ran longer than its time limit of 1 s and was ended; "
        "give it more time with --time-limit (in Python and in files: time_limit_s)"
    )
    assert "stdout: working" in caught.value.details
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        assert wait_until(lambda pid=pid: gone(pid))


def test_where_costs_cannot_be_measured(script, monkeypatch):
    monkeypatch.delattr(os, "wait4")
    found = script(SAVE)
    assert (found.values == 4).all()
    usage = found.extras["usage"]
    assert usage.time_s > 0
    assert np.isnan(usage.cpu_s)
    assert usage.peak_memory_mb is None


def test_an_interrupt_ends_the_program(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "waitid", interrupted)
    started = []
    real = process._Watch
    monkeypatch.setattr(process, "_Watch", lambda pid, end: started.append(pid) or real(pid, end))
    with pytest.raises(KeyboardInterrupt):
        find_method("command:sleep 60 {out}").estimate(inputs(), "depth")
    assert gone(started[0])


@pytest.mark.parametrize("held_mb", [0, 400])
def test_memory_is_the_programs_own(held_mb, script):
    """Linux counts the memory of the process that starts a program as the program's own."""
    held = np.ones(held_mb * 125_000)  # ours
    code = "import time; block = bytearray(200_000_000); time.sleep(0.3)"
    big = script(SAVE + code).extras["usage"].peak_memory_mb
    small = script(SAVE).extras["usage"].peak_memory_mb
    assert 200 < big < 350
    assert small < 150
    assert held.size == held_mb * 125_000


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("nowhere-to-be-found {out}", "the program 'nowhere-to-be-found' cannot be started in "),
        ("/dev/null {out}", "'/dev/null' cannot be started in "),
    ],
)
def test_programs_that_cannot_be_started(template, message):
    with pytest.raises(MethodFailed) as caught:
        find_method(f"command:{template}").estimate(inputs(), "depth")
    assert message in str(caught.value)


def test_a_folder_that_is_not_there(script):
    with pytest.raises(MethodFailed, match="cannot be started in /nowhere: No such file"):
        script(SAVE, folder="/nowhere")


# --- templates ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("x {lef} {out}", "has an unknown {lef}. Did you mean 'left'? Known: left, right, first"),
        ("x {} {out}", "has an unknown {}. Known: left"),
        ("x {left.shape} {out}", "has an unknown {left.shape}."),
        ("x {left:>9} {out}", "has a format in '{left:>9}'; write {left} alone"),
        ("x {left!r} {out}", "has a format in '{left!r}'; write {left} alone"),
        ("x { {out}", "has a single brace in '{'; write '{{' and '}}' for braces"),
        ("x } {out}", "has a single brace in '}'"),
        ("x {left} {{out}}", "has no {out}, so the program cannot know where to write"),
        ("x 'a {out}", "cannot be split into arguments (no closing quotation)"),
        ("''", None),
        ("{wat} {lefd} {out}", "has an unknown {lefd}. Did you mean 'left'?"),
    ],
)
def test_templates_are_checked_before_anything_runs(template, message):
    if message is None:
        with pytest.raises(Misuse):
            find_method(f"command:{template}")
        return
    with pytest.raises(Misuse) as caught:
        find_method(f"command:{template}")
    assert str(caught.value).startswith("method 'command': template: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("right", "right_image"),
        ("centre_image", "centre_image"),
        ("rig", "rig"),
        ("min_disparity", "disparity_range"),
    ],
)
def test_inputs_that_a_sample_lacks(name, item):
    with pytest.raises(Unavailable, match=rf"has \{{{name}\}}, but .* have no {item}, only"):
        find_method(f"command:true {{{name}}} {{out}}").estimate(inputs(), "depth")


def test_signals_are_named():
    assert signal.SIGKILL == 9
    with pytest.raises(MethodFailed, match="was ended by SIGKILL: it said nothing"):
        find_method("command:sh -c 'kill -9 $$' {out}").estimate(inputs(), "depth")


def test_the_options_are_checked_in_python_too():
    assert CommandOptions(template="x {out}").out_suffix == "npy"
    with pytest.raises(ValueError, match="has no"):
        CommandOptions(template="x")


@pytest.mark.parametrize("size", ["320x192", "full", "half", "quarter"])
def test_the_size_that_a_program_looks_at_is_kept_and_changes_nothing(tmp_path, size):
    plain, sized = tmp_path / "a.toml", tmp_path / "b.toml"
    plain.write_text("command = 'net {left} {out}'\n")
    sized.write_text(f"command = 'net {{left}} {{out}}'\n[options]\ninput_size = '{size}'\n")
    assert find_method(sized).described()["input_size"] == size
    assert find_method(sized).options_hash == find_method(plain).options_hash


@pytest.mark.parametrize("size", ["320", "0x5", "320 x 192", "third"])
def test_what_is_no_size_is_said(tmp_path, size):
    path = tmp_path / "a.toml"
    path.write_text(f"command = 'net {{left}} {{out}}'\n[options]\ninput_size = '{size}'\n")
    with pytest.raises(BadFile, match=rf"input_size: is '{size}' but must be full, half, quarter"):
        find_method(path)
