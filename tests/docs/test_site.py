"""The site has a place for every page; `make site` builds it and finds dead links."""

import pkgutil
import re
from pathlib import Path

import pytest

import depthgauge
from tools import site

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
GROUPS = ["Start", "Score and compare", "Make data", "Reference", "Develop"]


@pytest.fixture(scope="module")
def navigation():
    yaml = pytest.importorskip("yaml", reason="mkdocs.yml is YAML")

    class Loader(yaml.SafeLoader):
        """Reads the file without calling what it names."""

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)
    return yaml.load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"), Loader)["nav"]


def pages(entries):
    for entry in entries:
        for place in entry.values():
            if isinstance(place, str):
                yield place
            else:
                yield from pages(place)


def test_there_are_five_groups(navigation):
    assert [name for group in navigation for name in group] == GROUPS


def test_every_page_has_one_place_in_the_navigation(navigation):
    places = list(pages(navigation))
    assert len(places) == len(set(places))
    ours = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert set(places) == ours | set(site.PAGES.values())


def test_the_api_reference_shows_all_public_names():
    text = (DOCS / "api" / "depthgauge.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: depthgauge\.(\w+)$", text, flags=re.MULTILINE)
    assert sorted(shown) == sorted(set(depthgauge.__all__) - {"__version__"})


def test_everything_that_the_api_reference_names_exists():
    for page in (DOCS / "api").glob("*.md"):
        names = re.findall(r"^::: ([\w.]+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert names
        for name in names:
            assert pkgutil.resolve_name(name) is not None


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("runs.md", "formats.md#runs", "formats.md#runs"),
        ("index.md", "../CONTRIBUTING.md", "contributing.md"),
        ("accuracy.md", "../perf/results.json", "files/perf/results.json"),
        ("benchmarks/hci4d.md", "../../perf/hci4d.json", "../files/perf/hci4d.json"),
        ("benchmarks/hci4d.md", "../metrics.md#mae", "../metrics.md#mae"),
        ("contributing.md", "docs/adding.md", "adding.md"),
        ("contributing.md", "docs/index.md#words", "index.md#words"),
        ("examples.md", "../docs/methods.md#a-toml-file", "methods.md#a-toml-file"),
        ("runs.md", "https://example.org/x.md", "https://example.org/x.md"),
        ("runs.md", "no-such-file.md", "no-such-file.md"),
    ],
)
def test_links_lead_to_where_things_are_in_the_site(page, link, expected):
    assert site.site_links(f"See [this]({link}).", page) == f"See [this]({expected})."


def test_files_that_pages_link_to_are_found():
    text = "[a](../perf/results.json) [b](runs.md) [c](../CONTRIBUTING.md) [d](../no/such.json)"
    assert site.linked_files(text, "docs/index.md") == ["perf/results.json"]


def test_examples_in_docstrings_become_code_blocks():
    pytest.importorskip("griffe", reason="the site is built with depthgauge[docs]")
    from tools.docstrings import fence_examples

    text = "One line.\n\n>>> 1 + 1\n2\n\nMore.\n\n>>> 3\n3"
    assert fence_examples(text) == (
        "One line.\n\n```python\n>>> 1 + 1\n2\n```\n\nMore.\n\n```python\n>>> 3\n3\n```"
    )
    assert fence_examples("No example.") == "No example."


def test_the_build_is_strict():
    """With --quiet, mkdocs does not count warnings, so a dead link would pass."""
    assert "\nstrict: true\n" in (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    recipe = re.search(r"^\t.*mkdocs build.*$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    assert "quiet" not in recipe[0]
    assert "-q" not in recipe[0]


def test_the_readme_is_short():
    assert len((REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()) <= 75
