"""Every template: what it writes is registered, passes its own test, ruff and mypy."""

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import depthgauge
from depthgauge.benchmarks.protocol import load_protocol
from depthgauge.engine.authoring.new import KINDS, write_new
from depthgauge.errors import BadData, Misuse

REPOSITORY = Path(__file__).resolve().parents[3]
SOURCE = Path(depthgauge.__file__).parents[1]
NAMES = {
    "metric": "my_metric_of_slopes",
    "region": "my_region",
    "dataset": "my-camera",
    "method": "my-method",
    "benchmark": "my-benchmark",
    "generator": "my-walls",
}


@pytest.fixture
def package(tmp_path):
    """One of each kind in a package of one's own, as if it were installed."""
    root = tmp_path / "my-gauge"
    for kind, name in NAMES.items():
        write_new(kind, name, package=root)
    points = tomllib.loads((root / "pyproject.toml").read_text())["project"]["entry-points"]
    info = root / "src" / "my_gauge-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-gauge\nVersion: 0.1\n")
    lines = ["[depthgauge.plugins]"]
    lines += [f"{name} = {value}" for name, value in points["depthgauge.plugins"].items()]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return root


def python(package, *arguments):
    paths = [str(package / "src"), str(SOURCE)]
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=package,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )


def test_there_is_a_template_for_every_kind():
    assert NAMES.keys() == KINDS.keys()


def test_everything_passes_ruff(package):
    config = str(REPOSITORY / "pyproject.toml")
    folders = {"src": [], "tests": ["--extend-ignore", "D"]}  # as our own tests
    calls = [(["check", *more], package / name) for name, more in folders.items()]
    for arguments, place in (*calls, (["format", "--check"], package)):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments, "--config", config, place],
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_everything_can_be_declared(package):
    """Declarations are checked when a module is imported."""
    for kind in ("metric", "region", "dataset", "method", "generator"):
        stem = NAMES[kind].replace("-", "_")
        spec = importlib.util.spec_from_file_location(
            stem, package / "src" / "my_gauge" / f"{stem}.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        declared = getattr(module, "SPEC", None)
        if declared is not None:
            assert NAMES[kind] in (getattr(declared, "id", ""), getattr(declared, "name", ""))
    path = package / "src" / "my_gauge" / "benchmarks" / "my-benchmark.toml"
    assert load_protocol(path).main_score == "badpix:1@all"


@pytest.mark.long
def test_every_kind_passes_its_own_test(package):
    config = ("-W", "error", "-p", "no:cacheprovider", "--doctest-modules")
    ran = python(package, "-m", "pytest", "-q", *config, "tests", "src/my_gauge")
    assert ran.returncode == 0, ran.stdout
    ran = python(package, "-m", "depthgauge", "list")
    for kind in ("metric", "region", "dataset", "method", "benchmark"):
        assert NAMES[kind] in ran.stdout
    ran = python(package, "-m", "depthgauge", "make", "my-walls", "--out", "made", "--json")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.long
def test_everything_passes_mypy(package):
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", package / "src/my_gauge"],
        cwd=REPOSITORY,
        env={**os.environ, "MYPYPATH": "src"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout


@pytest.mark.long
def test_inside_the_repository_a_folder_is_its_own_registry(tmp_path):
    """A copy of the folders with the new files beside ours: all of them are found and pass."""
    (tmp_path / "src" / "depthgauge").mkdir(parents=True)
    (tmp_path / "src" / "depthgauge" / "_registry.py").touch()
    files = [f for k, n in NAMES.items() for f in write_new(k, n, repository=tmp_path).files]
    rooms = {"depthgauge." + KINDS[k].folder.replace("/", "."): KINDS[k].folder for k in NAMES}
    lines = ["import importlib", "def pytest_configure(config):"]
    for room, folder in rooms.items():
        place = str(tmp_path / "src" / "depthgauge" / folder)
        lines.append(f"    importlib.import_module({room!r}).__path__.append({place!r})")
    (tmp_path / "conftest.py").write_text("\n".join(lines) + "\n")
    tests = [str(path) for path in files if path.name.startswith("test_")]
    ran = python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert ran.returncode == 0, ran.stdout
    assert len(tests) == len(NAMES)


def test_files_and_entry_points(tmp_path):
    root = tmp_path / "Our Lab"
    first = write_new("metric", "slope_size", package=root, title="Size of slopes")
    home = root / "src" / "our_lab"
    assert first.files == (
        home / "slope_size.py",
        root / "tests" / "test_slope_size.py",
        home / "__init__.py",
        root / "pyproject.toml",
    )
    assert (home / "slope_size.py").read_text().startswith('"""Size of slopes."""')
    project = root / "pyproject.toml"
    project.write_text(project.read_text() + "\n[tool.mine]\nkept = true\n")
    second = write_new("benchmark", "our-benchmark", package=root)
    assert second.changed == (project,)
    found = tomllib.loads(project.read_text())
    assert found["tool"]["mine"] == {"kept": True}
    assert found["project"]["name"] == "our-lab"
    assert found["project"]["entry-points"]["depthgauge.plugins"] == {
        "benchmarks": "our_lab.benchmarks",
        "slope_size": "our_lab.slope_size",
    }
    third = write_new("benchmark", "another", package=root)
    assert third.changed == ()  # the folder is known already
    assert third.to_json()["name"] == "another"


def test_an_existing_project_without_plug_ins_gets_the_section(tmp_path):
    (tmp_path / "src" / "lab").mkdir(parents=True)
    (tmp_path / "src" / "lab" / "__init__.py").write_text("")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "lab"\nversion = "3"\n')
    written = write_new("region", "upper_rows", package=tmp_path)
    found = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert found["entry-points"]["depthgauge.plugins"] == {"upper_rows": "lab.upper_rows"}
    assert written.files[0] == tmp_path / "src" / "lab" / "upper_rows.py"


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("metrics", "x", "there is no template for 'metrics'"),
        ("metric", "my-metric", "with '_' between words"),
        ("dataset", "my_camera", "with '-' between words"),
        ("metric", "Mae", "lower-case"),
        ("metric", "x" * 31, "at most 30"),
        ("metric", "mae", "there is a metric 'mae' already"),
        ("generator", "stereo-scenes", "there is a generator 'stereo-scenes' already"),
        ("benchmark", "middlebury", "there is a benchmark 'middlebury' already"),
    ],
)
def test_names_that_cannot_be_used(tmp_path, kind, name, said):
    with pytest.raises(Misuse, match=said):
        write_new(kind, name, package=tmp_path / "p")
    assert not (tmp_path / "p").exists()


def test_places_that_cannot_be_used(tmp_path):
    with pytest.raises(BadData, match="is not depthgauge's repository"):
        write_new("metric", "slope_size", repository=tmp_path)
    write_new("metric", "slope_size", package=tmp_path / "p")
    with pytest.raises(BadData, match="is there already"):
        write_new("metric", "slope_size", package=tmp_path / "p")
    with pytest.raises(Misuse, match="plain characters"):
        write_new("metric", "other", package=tmp_path / "p", title='a "b"')
    for name in ("one", "two"):
        (tmp_path / "q" / "src" / name).mkdir(parents=True)
        (tmp_path / "q" / "src" / name / "__init__.py").write_text("")
    with pytest.raises(BadData, match="several packages"):
        write_new("metric", "other", package=tmp_path / "q")
    with pytest.raises(Misuse, match="cannot be that of a package"):
        write_new("metric", "other", package=tmp_path / "1")
