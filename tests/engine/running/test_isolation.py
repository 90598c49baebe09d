"""Methods that attack: each costs itself its samples, and nobody else a number."""

import json
import os
import time

import numpy as np
import pytest

from depthgauge._confine import descendants, hiding_way
from depthgauge.engine.running.run import run
from depthgauge.errors import Misuse

HONEST = "import numpy as np\ndef estimate(inputs):\n    return np.full({size}, 9.0)\n"


def written(folder, name, code):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(code)
    return str(path)


def values(folder, label, sample):
    return np.load(folder / "estimates" / label / sample / "disparity.npy")


@pytest.fixture
def honest(pairs, tmp_path):
    """A method that is always right about what it says: 9 px everywhere."""
    height, width = 24, 40
    return written(tmp_path / "honest", "honest", HONEST.format(size=(height, width)))


def alone_and_beside(pairs, trial, tmp_path, honest, *attackers, **options):
    """The summary of the honest method, run alone and after attackers in the same run."""
    one = {"workers": 1, "only": ["s0", "s1"], **options}
    alone = run(trial(), pairs.data, [honest], tmp_path / "alone", **one)
    both = run(trial(), pairs.data, [*attackers, honest], tmp_path / "both", **one)
    return alone.results["honest", 0], both.results["honest", 0], both


def test_a_method_that_patches_what_scores_use(pairs, trial, tmp_path, honest):
    attacker = written(
        tmp_path / "bad",
        "patch",
        "import math, os, numpy as np\n"
        "def estimate(inputs):\n"
        "    math.fsum = lambda values: 0.0\n"
        "    np.isfinite = lambda values: np.zeros(np.shape(values), bool)\n"
        "    os.umask(0o777)\n"
        "    return np.full(inputs.left_image.shape[:2], 100.0)\n",
    )
    alone, beside, both = alone_and_beside(pairs, trial, tmp_path, honest, attacker)
    assert beside.to_json()["summary"] == alone.to_json()["summary"]
    assert both.results["patch", 0].summary["mae@all"].value > 50
    for path in (tmp_path / "both" / "items").iterdir():
        assert path.stat().st_mode & 0o400


def test_two_helpers_of_the_same_name(pairs, trial, tmp_path):
    """Each method imports its own `utils`, whichever runs first."""
    files = []
    for name, value in (("netA", 3), ("netB", 9)):
        folder = tmp_path / name
        (folder).mkdir()
        (folder / "utils.py").write_text(f"VALUE = {value}\n")
        code = (
            "import numpy as np\nimport utils\n"
            "def estimate(inputs):\n"
            "    return np.full(inputs.left_image.shape[:2], float(utils.VALUE))\n"
        )
        files.append(written(folder, name, code))
    run(trial(), pairs.data, files, tmp_path / "run", workers=1, only=["s0"])
    assert (values(tmp_path / "run", "netA", "s0") == 3).all()
    assert (values(tmp_path / "run", "netB", "s0") == 9).all()


HUNT = """
import gc, sys, numpy as np
def found():
    frame = sys._getframe()
    while frame is not None:
        for thing in frame.f_locals.values():
            yield thing
        frame = frame.f_back
    yield from gc.get_objects()
def estimate(inputs):
    shape = inputs.left_image.shape[:2]
    for thing in found():
        if type(thing).__name__ in ("Truth", "Sample", "PreparedTruth", "Judge"):
            raise SystemExit("the truth is here: " + type(thing).__name__)
        if isinstance(thing, np.ndarray) and thing.shape == shape and thing.dtype == np.float32:
            raise SystemExit("a map is here")
    loaded = [name for name in sys.modules if "scoring" in name or name == "numba"]
    if loaded:
        raise SystemExit("scoring code is here: " + loaded[0])
    return np.ones(shape)
"""


def test_the_truth_is_not_in_a_method_s_process(pairs, trial, tmp_path):
    hunter = written(tmp_path / "bad", "hunt", HUNT)
    done = run(trial(), pairs.data, [hunter], tmp_path / "run", workers=1, only=["s0"])
    assert not done.results["hunt", 0].failed


SEARCH = """
import os, pathlib, numpy as np
DATA = {data!r}
def estimate(inputs):
    seen = [DATA] if os.path.isdir(DATA) and os.access(DATA, os.R_OK) else []
    try:
        seen += os.listdir(DATA)
    except OSError:
        pass
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if DATA.encode() in (entry / "cmdline").read_bytes():
                    seen.append(str(entry))
            except OSError:
                pass
    if any(DATA in value for value in os.environ.values()) or DATA in os.getcwd():
        seen.append("environment")
    if seen:
        raise ValueError("seen: " + ", ".join(seen))
    return np.ones(inputs.left_image.shape[:2])
"""


@pytest.mark.skipif(not hiding_way(), reason="this system cannot hide folders")
def test_the_data_cannot_be_found_where_folders_can_be_hidden(pairs, trial, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_DATA", str(pairs.data))
    search = written(tmp_path / "bad", "search", SEARCH.format(data=str(pairs.data)))
    made = {"workers": 1, "only": ["s0"]}
    done = run(trial(), pairs.data, [search], tmp_path / "run", isolate=True, **made)
    assert not done.results["search", 0].failed
    inside = written(pairs.data / "code", "inside", SEARCH.format(data=str(pairs.data)))
    with pytest.raises(Misuse, match=r"--isolate: .*pairs holds the code of the method; move one"):
        run(trial(), pairs.data, [inside], tmp_path / "other", isolate=True, **made)
    with pytest.raises(Misuse, match="--isolate needs worker processes"):
        run(trial(), pairs.data, [search], tmp_path / "other", isolate=True, workers=0)


def test_children_end_with_their_method(pairs, trial, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    code = (
        "import os, subprocess, sys, numpy as np\n"
        "def estimate(inputs):\n"
        "    for session in (False, True):\n"
        "        child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],"
        " start_new_session=session)\n"
        f"        open({str(marks)!r} + '/' + str(child.pid), 'w').close()\n"
        "    return np.ones(inputs.left_image.shape[:2])\n"
    )
    forker = written(tmp_path / "bad", "forker", code)
    made = {"workers": 1, "only": ["s0"], "isolate": False}  # with namespaces numbers differ
    run(trial(), pairs.data, [forker], tmp_path / "run", **made)
    numbers = [int(path.name) for path in marks.iterdir()]
    assert len(numbers) == 2
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{n}") for n in numbers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [n for n in numbers if os.path.exists(f"/proc/{n}")]
    assert not [n for n in descendants(os.getpid()) if n in numbers]


LIES = {
    "unprintable": (
        "class Odd(Exception):\n    def __str__(self):\n        raise RuntimeError('no')\n",
        "raise Odd()",
        "Odd",
    ),
    "shape": (
        "class Liar(np.ndarray):\n    shape = (24, 40)\n",
        "return np.ones((3, 5)).view(Liar)",
        "",
    ),
    "killed": ("", "import os; os.kill(os.getpid(), 9)", "SIGKILL"),
    "socket": (
        "",
        "for fd in map(int, os.listdir('/proc/self/fd')):\n"
        "        try:\n            os.write(fd, b'\\xff' * 64) if fd > 2 else None\n"
        "        except OSError:\n            pass\n",
        "",
    ),
    "json": (
        "from depthgauge.methods._process import wire\nimport sys\n",
        "wire.json.dumps = lambda *a, **k: '[' * 100_000; return np.ones((24, 40))",
        "no JSON",
    ),
    "huge": (
        "from depthgauge.methods._process import wire\n",
        "wire.pack_arrays = lambda arrays: (wire._new_memory(64), [['disparity', [1 << 40], 0]])"
        "\n    return np.ones((24, 40))",
        "beyond their memory",
    ),
}


def test_whatever_methods_say_costs_only_themselves(pairs, trial, tmp_path, honest):
    attackers = []
    for name, (head, body, _) in LIES.items():
        code = f"import os\nimport numpy as np\n{head}\ndef estimate(inputs):\n    {body}\n"
        attackers.append(written(tmp_path / "bad", name, code))
    alone, beside, both = alone_and_beside(pairs, trial, tmp_path, honest, *attackers)
    assert beside.to_json()["summary"] == alone.to_json()["summary"]
    for name, (_, _, said) in LIES.items():
        failed = both.results[name, 0].failed
        assert set(failed) == {"s0", "s1"}, name
        assert all(said in why for why in failed.values()), (name, failed)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os; os._exit(3)", "exit code 3"),
        ("import os; os.chdir('/'); raise ValueError('no')", "ValueError: no"),
        ("import atexit, time; atexit.register(time.sleep, 600)", None),
    ],
)
def test_a_file_s_code_never_runs_in_the_parent(pairs, trial, tmp_path, code, said):
    body = f"{code}\nimport numpy as np\ndef estimate(inputs):\n    return np.ones((24, 40))\n"
    path = written(tmp_path / "bad", "module", body)
    before = os.getcwd()
    began = time.monotonic()
    if said is None:
        run(trial(), pairs.data, [path], tmp_path / "run", workers=1, only=["s0"])
        assert time.monotonic() - began < 300
    else:
        with pytest.raises(Exception, match=said):
            run(trial(), pairs.data, [path], tmp_path / "run", workers=1, only=["s0"])
    assert os.getcwd() == before


@pytest.mark.long
def test_how_methods_were_kept_apart_is_recorded(pairs, trial, tmp_path, honest):
    inside = written(pairs.data / "code", "inside", HONEST.format(size=(24, 40)))
    methods, one = [honest, inside], {"only": ["s0"]}
    calls = {
        "plain": {"workers": 1},
        "open": {"workers": 1, "isolate": False},
        "here": {"workers": 0},
    }
    told = {}
    for name, options in calls.items():
        run(trial(), pairs.data, methods, tmp_path / name, **one, **options)
        for body in json.loads((tmp_path / name / "run.json").read_text())["methods"]:
            keys = ("isolation", "hidden", "hidden_by")
            told[name, body["label"]] = tuple(body[key] for key in keys)
    way = hiding_way()
    assert told["plain", "honest"] == ("process", ["data", "run"] if way else [], way)
    assert told["plain", "inside"] == ("process", ["run"] if way else [], way)
    assert told["open", "honest"] == ("process", [], "")
    assert told["here", "honest"] == ("none", [], "")
