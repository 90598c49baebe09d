"""What a method's process cannot see, in each of the two ways to hide it."""

import os

import pytest

from depthgauge._confine import WAYS, hiding_way
from depthgauge.methods import find_method
from depthgauge.methods._process import MethodProcess

GIVEN = {"sample": "a", "seed": 0, "quantity": "disparity"}

ATTACKS = """
import os, subprocess, sys, tempfile
import numpy as np
import neighbour  # a file beside this one can still be imported
SECRET = {secret!r}
FOLDER = os.path.dirname(SECRET)
OUTSIDE = {outside!r}
def tried(attack):
    try:
        return attack()
    except OSError:
        return None
def by_child():
    code = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())"
    return subprocess.run([sys.executable, '-c', code, SECRET], capture_output=True).stdout or None
def by_link():
    place = os.path.join(tempfile.mkdtemp(), 'link')
    os.link(SECRET, place)
    return open(place).read()
def by_folder():
    descriptor = os.open(FOLDER, os.O_PATH)
    return os.open(os.path.basename(SECRET), os.O_RDONLY, dir_fd=descriptor)
def by_moving():
    os.rename(FOLDER, FOLDER + '-moved')
    return 'moved'
def by_mounting():
    return subprocess.run(['mount', '--bind', FOLDER, tempfile.mkdtemp()]).returncode == 0 or None
ATTACKS = {{
    'open': lambda: open(SECRET).read(),
    'write': lambda: open(SECRET, 'a'),
    'cut': lambda: os.truncate(SECRET, 0) or 'cut',
    'make': lambda: open(FOLDER + '/new', 'w'),
    'remove': lambda: os.remove(SECRET) or 'removed',
    'child': by_child,
    'link': by_link,
    'folder': by_folder,
    'move': by_moving,
    'mount': by_mounting,
    'root': lambda: open('/proc/%d/root%s' % (OUTSIDE, SECRET)).read(),
    'environment': lambda: open('/proc/%d/environ' % OUTSIDE).read(),
    'memory': lambda: open('/proc/%d/mem' % OUTSIDE, 'rb'),
    'descriptors': lambda: os.open('/proc/%d/fd/0' % OUTSIDE, os.O_RDONLY),
    'signal': lambda: os.kill(OUTSIDE, 0) or 'signalled',
}}
def estimate(inputs):
    done = [name for name, attack in ATTACKS.items() if tried(attack) is not None]
    if done:
        raise ValueError('attacks: ' + ' '.join(done))
    with tempfile.NamedTemporaryFile() as file:  # it can still work
        file.write(b'x')
    return np.ones((4, 6))
"""


def started(tmp_path, way):
    if not hiding_way([way]):
        pytest.skip(f"this system has no {way}")
    secret = tmp_path / "data" / "secret.txt"
    (tmp_path / "data").mkdir()
    secret.write_text("the truth")
    (tmp_path / "neighbour.py").write_text("")
    path = tmp_path / "attacks.py"
    path.write_text(ATTACKS.format(secret=str(secret), outside=os.getpid()))
    process = MethodProcess([tmp_path / "data"], [way])
    try:
        assert (process.hidden_by, process.why_not_hidden) == (way, "")
        process.load(find_method(str(path)), 60)
    except BaseException:
        process.stop()
        raise
    return process, secret


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("threads", ["1", "4"])
def test_hidden_folders_stay_hidden(tmp_path, way, threads, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)  # a thread keeps the rights it began with
    process, secret = started(tmp_path, way)
    try:
        found, usage = process.estimate("method 'm'", GIVEN, {}, lambda *_: None, 60)
    finally:
        process.stop()
    assert found.values.shape == (4, 6)
    assert usage.time_s > 0
    assert secret.read_text() == "the truth"
    assert sorted(p.name for p in (tmp_path / "data").iterdir()) == ["secret.txt"]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_behind(tmp_path, way, monkeypatch):
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr("tempfile.tempdir", None)
    process, _ = started(place, way)
    process.stop()
    left = {path.name for path in place.iterdir()} - {"__pycache__"}
    assert left == {"data", "neighbour.py", "attacks.py"}


def test_a_system_without_any_way_says_so(tmp_path):
    process = MethodProcess([tmp_path], ways=[])
    process.stop()
    assert process.hidden_by == ""
    assert "neither user namespaces nor Landlock" in process.why_not_hidden
