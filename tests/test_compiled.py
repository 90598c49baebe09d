"""Kernels: bands on several threads, forks, Ctrl-C, with and without a cache on disk."""

import io
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from depthgauge import _compiled
from depthgauge.errors import Misuse

CODE = """
import threading
import numpy as np
import depthgauge as dg

truth = np.arange(1.0, 30001.0, dtype=np.float32).reshape(150, 200)
found = []

def work():
    for _ in range(5):
        scores = dg.score(truth + 1, truth, ["mae", "quantile:50"], regions={"half": truth > 9000})
        found.append((scores["mae@all"].value, scores["quantile:50@half"].value))

threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert found == [(1.0, 1.0)] * 20, found
"""


def test_several_threads_can_score_at_once():
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True)
    assert ran.returncode == 0, ran.stderr.decode()


@pytest.fixture
def tiny_bands(monkeypatch):
    """Even the smallest work goes to several threads."""
    monkeypatch.setattr(_compiled, "ALONE_NS", 0)
    monkeypatch.setattr(_compiled, "BAND_NS", 1)
    monkeypatch.setenv("DEPTHGAUGE_THREADS", "4")


def test_every_place_is_done_once(tiny_bands):
    done = np.zeros(1000, np.int64)

    def work(begin, end):
        done[begin:end] += 1

    _compiled.in_bands(lambda: work, done.size, 1000)
    assert (done == 1).all()


def test_bands_begin_at_multiples_of_a_step(tiny_bands):
    begins = []
    _compiled.in_bands(lambda: lambda begin, end: begins.append((begin, end)), 70, 70, step=16)
    assert sorted(begins) == [(0, 16), (16, 32), (32, 48), (48, 64), (64, 70)]


def test_little_work_stays_in_the_calling_thread(monkeypatch):
    monkeypatch.setenv("DEPTHGAUGE_THREADS", "4")
    here = []

    def work(begin, end):
        here.append((threading.current_thread(), begin, end))

    _compiled.in_bands(lambda: work, 100, _compiled.ALONE_NS)
    assert here == [(threading.current_thread(), 0, 100)]


def test_what_a_helper_raises_reaches_the_caller(tiny_bands):
    caller, met = threading.current_thread(), threading.Event()

    def work(begin, end):
        if threading.current_thread() is not caller:
            met.set()
            raise MemoryError("no room")
        if begin > 0:
            met.wait(10)  # until a helper has had a band

    with pytest.raises(MemoryError, match="no room"):
        _compiled.in_bands(lambda: work, 50, 50)


def test_an_interrupt_stops_the_bands_and_spoils_nothing_for_the_next_call(tiny_bands):
    caller, done = threading.current_thread(), []

    def interrupted(begin, end):
        if begin > 0 and threading.current_thread() is caller:
            raise KeyboardInterrupt
        done.append(begin)
        time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        _compiled.in_bands(lambda: interrupted, 5000, 5000)
    assert len(done) < 5000
    test_every_place_is_done_once(None)


@pytest.mark.parametrize("said", ["0", "-1", "many", ""])
def test_a_number_of_threads_that_is_none_is_refused(monkeypatch, said):
    monkeypatch.setenv("DEPTHGAUGE_THREADS", said)
    with pytest.raises(Misuse, match=f"DEPTHGAUGE_THREADS is '{said}'"):
        _compiled.threads()


def test_by_default_there_is_a_thread_for_each_core_that_may_be_used(monkeypatch):
    monkeypatch.delenv("DEPTHGAUGE_THREADS", raising=False)
    assert _compiled.threads() == len(os.sched_getaffinity(0))


FORKS = """
import multiprocessing, os, sys, threading
import numpy as np
import depthgauge as dg
from depthgauge import _compiled

_compiled.ALONE_NS, _compiled.BAND_NS = 0, 1000
rng = np.random.default_rng(0)
truth = rng.random((300, 500), dtype=np.float32) + 1
estimate = truth + rng.random((300, 500), dtype=np.float32)
estimate[rng.random((300, 500)) < 0.1] = np.nan

def values(_=None):
    return [s.value for s in dg.score(estimate, truth, ["mae", "rms", "badpix:0.5"]).values()]

def fork_many(n):
    children = []
    for _ in range(n):
        child = os.fork()
        if child == 0:
            os._exit(0 if values() == wanted else 1)
        children.append(child)
        if len(children) == 8:
            assert all(os.waitpid(child, 0)[1] == 0 for child in children)
            children = []
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)

n = int(sys.argv[1])
if os.fork() == 0:  # before this process has scored anything
    os._exit(0 if len(values()) == 3 else 1)
assert os.wait()[1] == 0
wanted = values()
assert any(t.name == "depthgauge" for t in threading.enumerate())
fork_many(n)
stop = threading.Event()

def score_on():
    while not stop.is_set():
        assert values() == wanted

scorers = [threading.Thread(target=score_on) for _ in range(2)]
[t.start() for t in scorers]
fork_many(n)
stop.set()
[t.join() for t in scorers]
fork_many(n)
with multiprocessing.get_context("fork").Pool(3) as loaders:  # as data loaders do it
    assert all(found == wanted for found in loaders.imap(values, range(n)))
assert values() == wanted
"""


@pytest.mark.parametrize("n", [8, pytest.param(150, marks=pytest.mark.long)])
def test_forks_before_during_and_after_scoring_do_not_hang(n):
    environment = {**os.environ, "DEPTHGAUGE_THREADS": "3"}
    command = [sys.executable, "-c", FORKS, str(n)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr


def test_no_kernel_is_parallel_by_itself():
    source = Path(_compiled.__file__).parent
    for path in source.rglob("*.py"):
        text = path.read_text()
        assert "prange" not in text, path
        assert "parallel=True" not in text, path


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def new_notice(monkeypatch, stream):
    monkeypatch.setattr(_compiled.Notice, "AFTER_S", 0.02)
    monkeypatch.setattr(sys, "stderr", stream)
    return _compiled.Notice()


def test_compiling_that_takes_long_is_said_once(monkeypatch):
    notice = new_notice(monkeypatch, stderr := _Terminal())
    for _ in range(2):
        notice.begin()
        notice.begin()  # a kernel that another one calls
        notice.end()
        time.sleep(0.1)
        notice.end()
    assert stderr.getvalue() == "depthgauge: compiling kernels, once per installation ...\n"


def test_many_short_ones_add_up(monkeypatch):
    notice = new_notice(monkeypatch, stderr := _Terminal())
    for _ in range(12):
        notice.begin()
        time.sleep(0.005)
        notice.end()
    assert stderr.getvalue().count("compiling") == 1


@pytest.mark.parametrize("why", ["short", "silent", "no terminal"])
def test_else_nothing_is_said(monkeypatch, why):
    stderr = io.StringIO() if why == "no terminal" else _Terminal()
    notice = new_notice(monkeypatch, stderr)
    notice.silent = why == "silent"
    notice.begin()
    time.sleep(0 if why == "short" else 0.1)
    notice.end()
    time.sleep(0.05)
    assert stderr.getvalue() == ""


INTERRUPTED = """
import os, signal, time
import numpy as np
import depthgauge as dg

scoring = False

def interrupt(*_):
    if scoring:
        raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupt)
truth = np.random.default_rng(0).random((3000, 3000), dtype=np.float32) + 1
dg.score(truth[:64].copy(), truth[:64].copy(), ["mae", "quantile:50"])
print("ready", flush=True)
end = time.monotonic() + 3
while time.monotonic() < end:
    try:
        scoring = True
        dg.score(truth, truth, ["mae", "quantile:50"])
        scoring = False
    except KeyboardInterrupt:
        scoring = False
    except SystemError:  # a kernel's result and an interrupt at once; sometimes it is a crash
        os._exit(3)
"""


@pytest.mark.long
def test_ctrl_c_in_a_kernel_is_an_interrupt_and_no_crash():
    # From outside: a thread of the same process would wait until the kernel is done.
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    pauses = random.Random(0)
    while child.poll() is None:
        child.send_signal(signal.SIGINT)
        time.sleep(pauses.uniform(0.005, 0.09))
    child.stdout.close()
    # A second interrupt while the first is caught may end it as it ends any program.
    assert child.returncode in (0, 1, 130, -signal.SIGINT)


NO_CACHE = """
from numba.core import caching
# Named with an underscore by older versions of numba.
impl = getattr(caching, "CacheImpl", None) or caching._CacheImpl
impl._locator_classes = []
"""
KERNEL = """
from depthgauge._compiled import compiled

@compiled()
def double(x):
    return 2 * x

assert double(3) == 6
assert not double.stats.cache_path
"""
SCORE = """
import depthgauge as dg
assert dg.score([[1.0, 3.0]], [[1.0, 1.0]], ["mae"])["mae@all"].value == 1.0
"""


@pytest.mark.parametrize("code", [KERNEL, pytest.param(SCORE, marks=pytest.mark.long)])
def test_where_nothing_can_be_kept_on_disk_kernels_are_compiled_each_time(code):
    ran = subprocess.run([sys.executable, "-c", NO_CACHE + code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


CACHED = """
import resource, signal, sys
import numpy as np
import depthgauge as dg
if sys.argv[1:] == ["full"]:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
truth = np.arange(1.0, 13.0).reshape(3, 4)
print(dg.score(truth + 2, truth, "mae", check=False)["mae@all"].value)
"""


def cached_score(cache, *args):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", CACHED, *args]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "2.0\n"), done.stderr


@pytest.mark.long
def test_a_full_or_damaged_cache_costs_time_and_not_the_score(tmp_path):
    cached_score(tmp_path, "full")
    cached_score(tmp_path)
    kept = list(tmp_path.rglob("*.nbi"))
    assert kept
    for damage in (b"", b"\x80\x05", b"no pickle at all"):
        for path in (*kept, *tmp_path.rglob("*.nbc")):
            path.write_bytes(damage)
        cached_score(tmp_path)


COMPARED = {  # a test compares them just compiled and from the cache
    "capture/spacetime/engines/_cost_kernels.py",
    "capture/spacetime/engines/_shift_kernels.py",
}


def test_functions_that_kernels_share_have_no_fast_arithmetic():
    """Each kernel has a copy with another order of sums; the cache decides which of them runs."""
    package = Path(_compiled.__file__).parent
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"@compiled\([^)]*fastmath", path.read_text())
    }
    assert found == COMPARED
