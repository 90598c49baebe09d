"""Kernels: from several threads, with whatever thread pool, with and without a cache on disk."""

import random
import signal
import subprocess
import sys
import time

import pytest

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
