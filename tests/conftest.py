"""What all tests share: data beside the repository, golden inputs, kernels on several threads."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parents[1]

collect_ignore = ["golden"]  # scripts, not modules with doctests

for profile, examples in (("fast", 30), ("long", 300)):  # `make test`, `make test-long`
    settings.register_profile(
        profile, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples
    )
settings.load_profile("fast")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests come first, so that the other worker does all others meanwhile."""
    items.sort(key=_minutes, reverse=True)


def _minutes(item: pytest.Item) -> float:
    mark = item.get_closest_marker("long")
    return mark.kwargs.get("minutes", 0.0) if mark is not None else 0.0


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """What is remembered about files of tests stays with them, also in their processes."""
    before = os.environ.get("DEPTHGAUGE_CACHE")
    os.environ["DEPTHGAUGE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    del os.environ["DEPTHGAUGE_CACHE"]
    if before is not None:
        os.environ["DEPTHGAUGE_CACHE"] = before


@pytest.fixture(scope="module")
def chromium():
    """One browser for the tests of a file; it takes a second to start.

    Not one for all: as long as it is open, nothing in this process can use asyncio.
    """
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("needs chromium, which is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip)")
    with playwright.sync_playwright() as started:
        # Software WebGL: there is no GPU where tests run.
        arguments = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = started.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def on_threads(monkeypatch):
    """Calls a function on one thread as it is, and on 2 and 8 in the smallest bands there are."""
    from depthgauge import _compiled

    def call(function):
        found = []
        for threads in (1, 2, 8):
            monkeypatch.setenv("DEPTHGAUGE_THREADS", str(threads))
            monkeypatch.setattr(_compiled, "ALONE_NS", 0)
            monkeypatch.setattr(_compiled, "BAND_NS", 1)
            found.append(function())
        return found

    return call


@pytest.fixture
def compiled_and_cached(tmp_path):
    """What a piece of code prints with kernels just compiled, and with the same from the cache."""

    def call(code: str, folder: Path) -> list[str]:
        command = [sys.executable, "-c", code]
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
        return [
            subprocess.run(
                command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=True
            ).stdout
            for _ in range(2)
        ]

    return call


@pytest.fixture(scope="session")
def shared():
    """A path in the folder of real data beside the repository; skips where there is none."""

    def find(relative: str) -> Path:
        path = REPOSITORY.parent / "shared" / relative
        if not path.exists():
            pytest.skip(f"needs {relative}, real data that is not part of the repository")
        return path

    return find


@pytest.fixture(scope="session")
def golden_middlebury(tmp_path_factory) -> Path:
    """The inputs that Middlebury's own program was run on."""
    out = tmp_path_factory.mktemp("golden") / "middlebury"
    script = REPOSITORY / "tests" / "golden" / "middlebury" / "make_inputs.py"
    subprocess.run([sys.executable, script, out], check=True)
    return out


@pytest.fixture(scope="session")
def capture_session() -> Path:
    """The folder of a small simulated capture session with everything in it. Do not write there.

    It is made once and kept, until the simulator or the parameters change. Copy it to damage it.
    """
    pytest.importorskip("embreex", reason="simulated sessions need Embree: depthgauge[render]")
    pytest.importorskip("mitsuba", reason="passive images need Mitsuba: depthgauge[render]")
    return _kept("session", _SIMULATOR, _photograph)


@pytest.fixture(scope="session")
def labelled_session(capture_session) -> Path:
    """The same session after every step of the pipeline, in its folder `work`. Do not write there.

    Made once and kept as well, until any of the steps changes.
    """

    def label_it(folder: Path) -> None:
        from depthgauge.capture.pipeline import run_steps
        from depthgauge.report.capture.page import draw_step, write_page
        from depthgauge.sessions import open_session

        shutil.copytree(capture_session, folder, dirs_exist_ok=True)
        for step in run_steps(open_session(folder), folder / "work"):
            draw_step(folder / "work", step.name)
        write_page(folder / "work", "session")

    return _kept("labelled", (*_SIMULATOR, *_STEPS), label_it)


@pytest.fixture(scope="session")
def tagged_session() -> Path:
    """A small drawn session with tags on one object, and its work folder. Do not write there.

    Made once and kept as well, until the drawing or any of the steps changes.
    """

    def draw_it(folder: Path) -> None:
        from tests.capture.tags.drawn import POSES, write_drawn

        from depthgauge.capture.tags import capture_tags
        from depthgauge.report.capture.tags_page import draw_objects, write_tags_page

        session = write_drawn(folder)
        run = capture_tags(session, folder / "work", board_pairs=POSES)
        draw_objects(run)
        write_tags_page(run, session.name)

    drawing = "../../tests/capture/tags/drawn.py"
    return _kept("tagged", (drawing, *_STEPS, "sessions", "geometry", "io", "types"), draw_it)


@pytest.fixture(scope="session")
def layered_pairs() -> Path:
    """Two small pairs of rooms with glass, as `make layers` writes them. Do not write there.

    Made once and kept as well, until the generator or the tracer changes.
    """
    pytest.importorskip("embreex", reason="layers need Embree: depthgauge[render]")
    pytest.importorskip("mitsuba", reason="pictures need Mitsuba: depthgauge[render]")
    return _kept("layers", _LAYERS, _render_pairs)


@pytest.fixture(scope="session")
def tag_session() -> Path:
    """A small simulated session with tags: one object, 15 boards. Do not write there.

    Made once and kept as well, until the simulator changes.
    """
    pytest.importorskip("embreex", reason="simulated sessions need Embree: depthgauge[render]")
    return _kept("tags", (*_SIMULATOR, "synth/sets/tag_session"), _photograph_tags)


def _photograph_tags(folder: Path) -> None:
    from depthgauge.synth.sets.tag_session import write_tag_session

    write_tag_session(folder, objects=1, width=320, height=240, samples=3, boards=15)


def _render_pairs(folder: Path) -> None:
    from depthgauge.synth.generators import generate

    generate("layers", folder, pairs=2, width=96, height=72, samples=8, workers=2, seed=3)


_LAYERS = (
    *("synth/sets/layers", "synth/scene", "synth/library", "synth/render", "engine/generating"),
    *("datasets/layered.py", "geometry", "io", "types"),
)


def _photograph(folder: Path) -> None:
    from depthgauge.synth.sets.capture_session import write_capture_session

    write_capture_session(folder, width_px=320, patterns=6, poses=15, illuminations=2, samples=4)


_SIMULATOR = (
    *("synth/sets/capture_session", "synth/scene", "synth/library", "synth/render"),
    *("sessions", "geometry", "io", "types"),
)
_STEPS = ("capture", "report/capture", "report/pictures/colours.py", "regions", "_canonical.py")


def _kept(name: str, sources: tuple[str, ...], make) -> Path:
    """A folder that is made anew only when its sources change; who comes second waits."""
    key = hashlib.sha256(Path(__file__).read_bytes())
    for source in sources:
        place = REPOSITORY / "src" / "depthgauge" / source
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            key.update(path.read_bytes())
    cache = REPOSITORY / ".cache" / "capture"
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"{name}-{key.hexdigest()[:16]}"
    with open(cache / f".{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            for old in cache.glob(f"{name}-*"):
                shutil.rmtree(old)
            beside = folder.with_name(f"{folder.name}.part")
            make(beside)
            beside.rename(folder)
    return folder
