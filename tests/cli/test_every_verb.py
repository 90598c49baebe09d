"""What holds for all verbs: --quiet, --json, --help, no colours in pipes. None may be forgotten."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import depthgauge as dg
from depthgauge.analysis.demonstrations import DEMONSTRATIONS
from depthgauge.capture.registry import step_names
from depthgauge.cli import VERBS, depthgauge
from depthgauge.methods.nets._networks import WEIGHTS

NO_DATA = {
    "completion": "prints a script for a shell",
    "serve start": "runs until it is stopped",
    "annotate serve": "runs until it is stopped",
    "capture edit": "runs until it is stopped",
    "ranking serve": "runs until it is stopped",
}
"""Verbs without --json, and why."""


@pytest.fixture
def arguments(
    finished,
    before,
    skip_benchmark,
    work,
    monkeypatch,
    request,
    tmp_path,
):
    """For each verb and subcommand, arguments that make it print something quickly."""
    size, methods = {"width": 64, "height": 48}, ("bm-small=bm:block_size=9", "constant")
    demo = replace(DEMONSTRATIONS["stereo"], options=size, methods=methods)
    monkeypatch.setitem(DEMONSTRATIONS, "stereo", demo)
    tiny = ("--size", "64", "--views", "3", "--scale", "2", "--overwrite")
    truth, estimate = tmp_path / "truth.pfm", tmp_path / "estimate.pfm"
    dg.write_map(truth, np.ones((6, 8)))
    dg.write_map(estimate, np.ones((6, 8)) * 2)
    rescored = tmp_path / "rescored"

    def find(verb: str) -> list[str]:
        session = annotated = tmp_path
        if verb in ("train network", "train export", "fine-tune"):
            pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
        if verb == "capture tags":
            session = request.getfixturevalue("tagged_session")
        elif verb.startswith("capture"):
            session = request.getfixturevalue("labelled_session")
        if verb.startswith("annotate"):
            annotated = request.getfixturevalue("annotated")
        found = {
            "demo": ["--out", tmp_path / "demo", "--workers", "0", "--part", "stereo"],
            "score": ["--estimate", estimate, "--truth", truth],
            "run": work.call("constant")[1:],
            "report": [finished],
            "compare": [before, finished],
            "explain": ["1.0", "--estimate", estimate, "--truth", truth],
            "components": ["--run", _chains(tmp_path / "chains")],
            "suite": _suite(tmp_path / "suite"),
            "rescore": [
                *(finished, "--benchmark", skip_benchmark, "--out", rescored, "--workers", "0")
            ],
            "check": [skip_benchmark, finished / "estimates" / "one"],
            "list": [],
            "show": ["mae"],
            "make stereo-scenes": [
                *("--out", tmp_path / "scenes", "--width", "48", "--height", "32", "--overwrite")
            ],
            "make board": ["--out", tmp_path / "board", "--overwrite"],
            "make patterns": [
                *("--out", tmp_path / "patterns", "--width", "64", "--height", "64", "--patterns"),
                *("1", "--overwrite"),
            ],
            "make stratified": ["--out", tmp_path / "stratified", "--scene", "slant", *tiny],
            "make light-field": ["--out", tmp_path / "fields", "--scene", "fence", *tiny],
            "make capture-session": [
                *("--out", tmp_path / "session", "--width", "160", "--poses", "1", "--patterns"),
                *("1", "--projectors", "1", "--no-passive"),
            ],
            "make tag-session": [
                *("--out", tmp_path / "tags", "--width", "160", "--height", "120"),
                *("--objects", "1", "--samples", "1", "--boards", "1"),
            ],
            "make oasis-like": [
                *("--out", tmp_path / "oasis-like", "--scenes", "1", "--annotators", "0"),
                *("--width", "64", "--height", "64"),
            ],
            "make layers": [
                *("--out", tmp_path / "layers", "--pairs", "1", "--width", "48", "--height", "36"),
                *("--samples", "1", "--flying", "1", "--glass", "0", "--workers", "1"),
            ],
            "make rig": [
                *("--out", tmp_path / "rig", "--scenes", "1", "--width", "96", "--height", "96"),
                *("--frames", "2", "--family", "IPD_Gaussian", "--workers", "1"),
            ],
            "capture assist": [session],
            "capture edit": ["/dev/null/session"],
            "capture masks": [session],
            **_ranking(tmp_path),
            "capture import": [
                *(_cards(tmp_path / "cards"), "--kind", "passive", "--overwrite"),
                *("--out", tmp_path / "imported"),
            ],
            "capture export": [session, "--out", tmp_path / "booster", "--overwrite"],
            "capture split": [_booster(tmp_path / "scenes"), "--seed", "1"],
            "capture distributions": [
                *(_booster(tmp_path / "scenes"), "--picture", tmp_path / "distributions.png")
            ],
            "capture tags": [session, "--board-pairs", "10"],
            **{f"capture {step}": [session] for step in ("run", *step_names())},
            **_annotate(tmp_path, annotated),
            "verify": [finished, "--workers", "0"],
            "dataset verify": [_dataset(tmp_path / "dataset")],
            "data list": [],
            "train network": [
                *("stereo", "--out", tmp_path / "nets", "--steps", "1", "--batch", "1", "--size"),
                *("32", "64", "--pool", "1", "--textures", "1"),
            ],
            "train pack": [
                *("stereo", "--dataset", "folder", "--data", _pairs(tmp_path / "pairs")),
                *("--out", tmp_path / "packs", "--size", "32", "64", "--crops", "1"),
            ],
            "train page": [_curves(tmp_path / "trained")],
            "train plan": [],
            "train average": [WEIGHTS / "flow.safetensors", "--out", tmp_path / "mean"],
            "fine-tune": [
                *("stereo", "--dataset", "folder", "--data", _pairs(tmp_path / "pairs")),
                *("--out", tmp_path / "tuned", "--size", "32", "64", "--steps", "1"),
                *("--batch", "1", "--crops", "1", "--new-pairs", "0"),
            ],
            "train export": [
                *("flow", "--out", tmp_path / "flow.onnx", "--size", "32", "64", "--updates", "1")
            ],
            "new": ["metric", "my_metric", "--package", _gone(tmp_path / "lab")],
            "data get": [_manifest(tmp_path / "set.toml"), "--out", tmp_path / "got", "--accept"],
            "dataset describe": [_dataset(tmp_path / "dataset"), "--no-sift"],
            "dataset audit": [_booster(tmp_path / "scenes"), "--dataset", "booster"],
            **(_serve(tmp_path, request) if verb.startswith("serve") or verb == "submit" else {}),
            **(_submission(tmp_path) if verb == "submit-folder" else {}),
            "study": [_rankings(tmp_path / "rankings.csv")],
            "doctor": [],
            "completion": ["bash"],
        }
        return [*verb.split(), *map(str, found[verb])]

    return find


def _pairs(folder):
    from depthgauge import io

    for name in ("a", "b"):
        for side in ("left", "right"):
            (folder / side).mkdir(parents=True, exist_ok=True)
            io.write_image(folder / side / f"{name}.png", np.zeros((32, 64, 3), np.uint8))
        dg.write_map(folder / f"{name}.pfm", np.ones((32, 64)))
    return folder


def _curves(folder):
    folder.mkdir(exist_ok=True)
    (folder / "curves.jsonl").write_text('{"step": 1, "loss": 2.0, "epe_px": 1.0, "bad2": 3.0}\n')
    return folder


def _suite(folder):
    """A suite with one picture of one member and one method."""
    for place in ("mine/scannet", "rooms"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    depth = np.linspace(1, 5, 48).reshape(6, 8)
    dg.write_map(folder / "rooms" / "0.png", depth, quantity="depth", scale=1000)
    np.save(folder / "mine" / "scannet" / "0.npy", depth.astype(np.float32))
    data = ("--data", f"scannet={folder / 'rooms'}")
    return ["mono-zero-shot", *data, "--estimates", folder / "mine"]


def _serve(folder, request):
    """Arguments of `serve` and `submit`, with a site that has a user, a benchmark and a log."""
    from tests.serve.tiny import archive, write_data

    data, site = folder / "tiny", folder / "site"
    if not site.exists():
        write_data(data)
        request.getfixturevalue("small_site")(site, data)
    at, who = ["--site", site], "ann@example.org"
    folders = ["--data", data / "public", "--hidden", data / "hidden"]
    (folder / "mine").mkdir(exist_ok=True)
    (folder / "mine" / "boxes.npy").write_bytes(archive())
    (folder / "report.html").write_text("<!doctype html>")
    url = request.getfixturevalue("answering_site")
    _photograph(folder / "street")
    return {
        "serve photographs": ["street", folder / "street", *at],
        "serve quiz": ["quiz", *at, "--questions", "1"],
        "serve study": ["asked", folder / "asked", *at],
        "serve start": ["/dev/null/site"],
        "serve add": [data / "tiny.toml", *at, *folders],
        "serve phase": ["stereo", "first", *at, "--opens", "2030-01-01"],
        "serve rescore": ["tiny", *at],
        "serve invite": at,
        "serve log": ["abc", *at],
        "serve report": ["abc", folder / "report.html", *at],
        "serve backup": [folder / "made.tar", *at, "--overwrite"],
        "serve restore": [folder / "site.tar", folder / "again", "--overwrite"],
        "serve user list": at,
        "serve user role": [who, "organiser", *at],
        "serve user reset": [who, *at],
        "submit": [url, "tiny", folder / "mine", "--method", "Mine", "--token", "dg_x"],
    }


@pytest.fixture
def small_site():
    from depthgauge.serve.accounts import links, people
    from depthgauge.serve.backup import back_up
    from depthgauge.serve.site import open_site
    from depthgauge.serve.storage.models import Benchmark, Submission, Team
    from depthgauge.serve.submissions.registry import add_benchmark

    plain = {"title": "", "about": "", "protocol_hash": "", "quantity": "", "added_at": 0}

    def make(root, data):
        site = open_site(root)
        (site.workers / "logs" / "abc.txt").write_text("what happened\n")
        folders = {"data": data / "public", "hidden": data / "hidden"}
        with site.connected() as database:
            with database.begin() as session:
                secret = links.make_link(session, "invitation")
                people.join(session, secret, "ann@example.org", "Ann", "correct horse")
                lists = {"samples": [], "columns": [], "hidden": False}
                session.add(Benchmark(id="stereo", monthly_quota=1, most_bytes=1, **plain, **lists))
                names = {"id": "abc", "benchmark_id": "stereo", "method": "net", "archive": "0"}
                times = {"created_at": 0, "changed_at": 0}
                team = session.query(Team).one()
                entry = {**names, **times, "details": {}, "size": 1, "state": "scored"}
                session.add(Submission(team=team, **entry))
            add_benchmark(site, database, str(data / "tiny.toml"), **folders)
        back_up(site, root.with_suffix(".tar"))

    return make


@pytest.fixture(scope="module")
def answering_site():
    """Says yes to every upload, as a site would."""
    import json
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = {"id": "1", "received": told.get("size"), "piece_bytes": 1}
            if self.path.endswith("submit"):
                body = {"id": "1", "state": "queued", "problems": [], "scores": [], "message": ""}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _photograph(folder):
    """A folder with one photograph."""
    folder.mkdir(exist_ok=True)
    dg.io.write_image(folder / "a.png", np.zeros((8, 8, 3), np.uint8))


def _annotate(folder, annotated):
    """Arguments of `annotate`; `annotated` has records, photographs, a dataset and votes."""
    from depthgauge.annotate.exchange.files import write_document

    record = annotated / "records" / "simulated-1" / "planar-0000.jsonl"
    tiny = ("--annotators", "1", "--width", "64", "--height", "48")
    data, people = annotated / "data", annotated / "estimates"
    images = ("--images", annotated / "images")
    tasks = folder / "tasks.json"
    if annotated != folder:  # not for other verbs
        write_document([record], "label-studio", tasks, overwrite=True, notes=print)
    return {
        "annotate serve": ["/dev/null/photographs"],
        "annotate check": [annotated],
        "annotate repair": [record],
        "annotate reconstruct": [record, "--out", folder / "surfaces", "--preview"],
        "annotate advise": [record],
        "annotate fuse": [record, record, "--out", folder / "fused"],
        "annotate convert": [record, "--to", "coco", "--out", folder / "coco.json", "--overwrite"],
        "annotate import": [
            *(tasks, "--from", "label-studio", "--out", _gone(folder / "imported"))
        ],
        "annotate export": [record, *images, "--out", folder / "exported", "--overwrite"],
        "annotate simulate": ["planar", "--out", folder / "study", *tiny],
        "annotate agreement": [annotated, "--no-rotation", "--size", "64"],
        "annotate statistics": [annotated, "--out", folder / "statistics.html"],
        "annotate votes": [annotated / "votes.jsonl"],
        "annotate human": [
            *("oasis-depth", "--data", data, "--estimates", people, "--focal", "60")
        ],
        "annotate focal": ["oasis-depth", "--data", data, "--estimates", people / "anna"],
    }


def _gone(folder):
    """A folder that a former call may have written."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def _manifest(path):
    """A manifest whose only file is there already, as somebody put it there by hand."""
    place = _gone(path.parent / "got") / "downloads"
    place.mkdir(parents=True, exist_ok=True)
    (place / "a.npy").write_bytes(b"a")
    path.write_text(
        'id = "set"\ntitle = "A set"\nlicence = "CC0-1.0"\nterms = "None."\ncite = "us"\n'
        'homepage = "https://example.org"\n[[files]]\nurls = ["http://example.org/a.npy"]\n'
    )
    return path


def _rankings(path):
    path.write_text("grader,experiment,method,rank\nann,looks,a,1\nann,looks,b,2\n")
    return path


def _ranking(folder):
    """Arguments of `ranking`: a picture, its truth, two estimates; a study with one answer."""
    from depthgauge.report.rank_study import make_rank_study
    from depthgauge.serve.desk.ranking import StudyDesk

    image, truth = np.zeros((24, 32, 3), np.uint8), np.ones((24, 32), np.float32)
    truth[:, 16:] = 5
    dg.io.write_image(folder / "seen.png", image)
    dg.write_map(folder / "near.pfm", truth)
    if not (folder / "asked").exists():
        estimates, questions = {"one": truth, "two": truth + 1}, {"general": "Sort."}
        plan = make_rank_study(
            folder / "asked", image=image, truth=truth, estimates=estimates, questions=questions
        )
        desk = StudyDesk(folder / "asked", plan)
        said = {"kind": "order", "task": 0, "places": [["A"], ["B"]], "seconds": 3}
        desk.person(desk.join())[0].store([{"id": "order-0-0", **said}])
    maps = [f"{name}={folder / 'near.pfm'}" for name in ("one", "two")]
    return {
        "ranking make": [
            *(_gone(folder / "study"), "--image", folder / "seen.png"),
            *("--truth", folder / "near.pfm", "--estimate", maps[0], "--estimate", maps[1]),
            *("--experiment", "general=Sort."),
        ],
        "ranking export": [folder / "asked", "--out", folder / "answers"],
        "ranking serve": ["/dev/null/study"],
    }


def _chains(folder):
    """A run of one method with two options."""
    from depthgauge.datasets import manifest_folder
    from depthgauge.types import Inputs, Sample, Truth

    if not folder.exists():
        flat = np.full((6, 8), 3, np.float32)
        samples = [Sample("one", Inputs({"disparity_range": (0, 9)}), Truth({"disparity": flat}))]
        manifest_folder.write(folder / "data", samples, id="chains", title="", licence="CC0-1.0")
        (folder / "chains.toml").write_text(
            'id = "chains"\nversion = 1\ndataset = "depthgauge"\nquantity = "disparity"\n'
            'pool = "image"\n[[scores]]\nmetric = "mae"\n'
        )
        methods = ["a=constant:value=2", "b=constant:value=4"]
        dg.run(folder / "chains.toml", folder / "data", methods, folder / "run", workers=0)
    return folder / "run"


def _dataset(folder):
    from depthgauge.datasets import manifest_folder
    from depthgauge.types import Inputs, Sample, Truth

    truth = Truth({"disparity": np.ones((3, 4), np.float32)})
    sample = Sample("one", Inputs({}), truth)
    manifest_folder.write(folder, [sample], id="x", title="X", licence="CC0", overwrite=True)
    return folder


def _submission(folder):
    """Arguments of `submit-folder`: a run on one frame of KITTI."""
    from depthgauge.datasets import DATASETS
    from depthgauge.types import Inputs, Sample, Truth

    if not (folder / "kitti").exists():
        maps = {
            "disparity": np.full((6, 8), 5.0, np.float32),
            "visible_mask": np.ones((6, 8), bool),
        }
        image = np.zeros((6, 8, 3), np.uint8)
        images = {"left_image": image, "right_image": image}
        sample = Sample(
            "000000_10", Inputs(images), Truth({**maps, "foreground_mask": maps["visible_mask"]})
        )
        DATASETS["kitti-2015"].write(folder / "kitti", [sample])
        data, run = folder / "kitti", folder / "kitti-run"
        dg.run("kitti-2015-stereo", data, ["constant"], run, workers=0)
    run, out = folder / "kitti-run", folder / "sent"
    return {
        "submit-folder": [*("kitti-2015", run, "--method", "constant", "--out", out), "--overwrite"]
    }


def _cards(folder):
    from depthgauge import io

    for camera in ("left", "right"):
        (folder / camera).mkdir(parents=True, exist_ok=True)
        io.write_image(folder / camera / "a.png", np.full((8, 9, 3), 90, np.uint8))
    return folder


def _booster(folder):
    if folder.is_dir():
        return folder
    from depthgauge.datasets import booster
    from depthgauge.types import Inputs, Sample, Truth

    images = {
        "left_image": np.zeros((3, 4, 3), np.uint8),
        "right_image": np.zeros((3, 4, 3), np.uint8),
    }
    for number in range(3):
        labels = np.full((3, 4), number, np.int32)
        items = {"disparity": np.full((3, 4), 5.0, np.float32), "material_labels": labels}
        name = f"Scene{number}"
        sample = Sample(f"{name}/im0", Inputs(_with_rig(images)), Truth(items), scene=name)
        booster.write(folder, [sample], split="train", overwrite=True)
    return folder


def _with_rig(images):
    from depthgauge.types import Camera, Rig

    camera = Camera((10.0, 10.0), (2.0, 1.0), (4, 3))
    return {**images, "rig": Rig({"left": camera, "right": camera}, 0.08)}


def every_verb() -> list[str]:
    """All verbs, and in place of a group what is below it."""
    context = click.Context(depthgauge)
    return [n for verb in VERBS for n in _names(verb, depthgauge.get_command(context, verb))]


def _names(name: str, command: click.Command) -> list[str]:
    below = getattr(command, "commands", {})
    return [n for sub in below for n in _names(f"{name} {sub}", below[sub])] if below else [name]


@pytest.mark.parametrize("verb", every_verb())
def test_json_is_strict_and_alone_on_stdout(run, arguments, verb):
    if verb in NO_DATA:
        assert run(*arguments(verb), "--json").code == 2
        return
    ran = run(*arguments(verb), "--json")
    assert ran.code in (0, 1)
    assert isinstance(ran.json(), dict)


def spoken_verbs() -> list[Any]:
    """All verbs; those that make or compute much are for the long tests."""
    long = ("demo", "make ", "capture run", "capture tags", "serve quiz")
    marks = {verb: pytest.mark.long if verb.startswith(long) else () for verb in every_verb()}
    return [pytest.param(verb, marks=mark) for verb, mark in marks.items()]


@pytest.mark.parametrize("verb", spoken_verbs())
def test_pipes_get_plain_text_and_quiet_leaves_only_data_and_errors(
    run, arguments, verb, monkeypatch
):
    monkeypatch.setenv("FORCE_COLOR", "1")
    spoken = run(*arguments(verb))
    assert "\x1b" not in spoken.out + spoken.err
    assert not [line for line in spoken.out.splitlines() if line.endswith(" ")]
    assert not spoken.out.startswith("\n")
    require_quiet(run(*arguments(verb), "--quiet"), spoken)


@pytest.mark.parametrize("verb", ["list", "score", "report", "capture split", "annotate agreement"])
def test_quiet_may_stand_before_the_verb(run, arguments, verb):
    call = arguments(verb)
    require_quiet(run("--quiet", *call), run(*call))


def require_quiet(quiet, spoken):
    assert quiet.code == spoken.code
    assert steady(quiet.out) == steady(spoken.out)
    said = quiet.err.splitlines()
    assert all(line.startswith(("failed: ", "error: ")) for line in said), quiet.err
    assert set(said) <= set(spoken.err.splitlines())


def steady(text: str) -> str:
    """Without the size of a page, in which times are written, and without secrets of links."""
    return re.sub(r"\d+\.\d+ MB|(?<=/)(join|reset)/[\w-]+", "", text)


@pytest.mark.parametrize("verb", every_verb())
def test_every_verb_teaches(run, verb):
    ran = run(*verb.split(), "--help")
    assert ran.code == 0
    assert ran.out.startswith("Usage: ")
    assert "--quiet" in ran.out
    assert ("--json" in ran.out) == (verb not in NO_DATA)


def test_every_name_is_shown_as_strict_json(run):
    for kind, names in run("list", "--json").json().items():
        for name in names:
            body = run("show", name.partition(":")[0], "--json").json()
            assert body["name"], (kind, name)


def test_no_verb_is_forgotten():
    folder = Path(__import__("depthgauge.cli").cli.__file__).parent
    files = {path.name.removesuffix("_verb.py") for path in folder.rglob("*_verb.py")}
    assert {name.replace("_", "-") for name in files} == set(VERBS)


# --- terminals ----------------------------------------------------------------------------------


@pytest.fixture
def terminal(command, tmp_path):
    """Runs the real command in a terminal of its own; returns all that it shows."""
    import pty

    def call(*arguments, env=(), columns=100):
        settings = {"COLUMNS": str(columns), "TERM": "xterm-256color", **dict(env)}
        inherited = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [*command, *map(str, arguments)],
            cwd=tmp_path,
            env={**inherited, **settings},
            **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
            start_new_session=True,
        )
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # it has ended
                break
        os.close(ours)
        return process.wait(), shown.decode()

    return call


COLOUR = re.compile("\x1b\\[[0-9;]*m")


def test_a_terminal_sees_bars_and_colours(terminal, work):
    code, shown = terminal(*work.call(work.noisy("one")))
    assert code == 0
    assert "\x1b[?25l" in shown  # the cursor is hidden while a bar is drawn
    assert shown.count("\x1b[?25h") == shown.count("\x1b[?25l")  # and comes back
    assert COLOUR.search(shown)
    assert "10/10" in shown
    assert "badpix:1@all" in shown.rpartition("\x1b[2K")[2]  # the table stands below the bar


@pytest.mark.parametrize("how", ["NO_COLOR", "--quiet"])
def test_a_terminal_can_be_plain(terminal, work, how):
    quiet = how == "--quiet"
    code, shown = terminal(
        *work.call(work.noisy("one")),
        *(["--quiet"] if quiet else []),
        env={} if quiet else {"NO_COLOR": "1"},
    )
    assert code == 0
    assert not COLOUR.search(shown)
    assert ("10/10" in shown) is not quiet
    assert "badpix:1@all" in shown


def test_tables_fit_the_terminal(terminal, finished):
    for columns in (60, 100):
        _, shown = terminal("report", finished, "--text", columns=columns)
        lines = shown.replace("\r", "").splitlines()
        at = next(n for n, line in enumerate(lines) if line.startswith("method "))
        assert all(len(line) <= columns for line in lines[at : at + 5])
        assert re.search(r"\d more scores: ", shown)


def test_labels_are_no_markup(terminal, work):
    code, shown = terminal(*work.call(f"[red]x[bold]={work.noisy('one')}"))
    assert code == 0
    assert "[red]x[bold]: s9" in shown


def test_the_terminal_width_is_asked_for_only_on_a_terminal(run, finished, monkeypatch):
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *a: pytest.fail("no terminal here"))
    assert run("report", finished, "--text").code == 0
