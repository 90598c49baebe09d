"""Pages made from declarations are fresh, and nothing that is registered lacks a heading."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import depthgauge
from depthgauge.benchmarks import BENCHMARKS
from depthgauge.cli import VERBS
from depthgauge.datasets import DATASETS
from depthgauge.io.maps import _READERS
from depthgauge.methods import METHODS
from depthgauge.metrics import METRICS
from depthgauge.perturbations import EFFECTS
from depthgauge.quantities import QUANTITIES
from depthgauge.regions import REGIONS, SHARED_MAPS

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"


def generate(*arguments, cwd=REPOSITORY):
    return subprocess.run(
        [sys.executable, "-m", "tools.generate", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
    )


def headings(page: str) -> list[str]:
    return re.findall(r"^## `([^`]+)`$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)


def test_generated_pages_are_fresh():
    run = generate("--check")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("page", "registry"),
    [
        ("metrics.md", METRICS),
        ("quantities.md", QUANTITIES),
        ("regions.md", [*REGIONS, *SHARED_MAPS]),
        ("datasets.md", DATASETS),
        ("methods.md", METHODS),
    ],
)
def test_everything_registered_has_its_heading(page, registry):
    assert headings(page) == list(registry)


def test_every_benchmark_has_its_heading():
    pages = [f"benchmarks/{path.name}" for path in (DOCS / "benchmarks").glob("*.md")]
    assert sorted(name for page in pages for name in headings(page)) == list(BENCHMARKS)


def test_every_benchmark_page_is_linked():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for path in (DOCS / "benchmarks").glob("*.md"):
        assert f"benchmarks/{path.name}" in index


def test_every_verb_has_its_heading():
    found = headings("cli.md")
    assert [name for name in found if name.count(" ") == 1] == [f"depthgauge {v}" for v in VERBS]


def test_every_map_format_is_described():
    text = (DOCS / "formats.md").read_text(encoding="utf-8").lower()
    for kind in _READERS:
        assert {"netpbm": "pgm"}.get(kind, kind) in text


def test_links_lead_somewhere():
    for page in (REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *DOCS.rglob("*.md")):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]+)?\)", text):
            if "://" in target:
                continue
            other = (page.parent / target) if target else page
            assert other.exists(), f"{page.name} links to {target}"
            if anchor:
                assert anchor[1:] in anchors(other), f"{page.name} links to {target}{anchor}"


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_paper_that_is_cited_is_in_the_references():
    entries = re.split(r"^- ", (DOCS / "references.md").read_text(encoding="utf-8"), flags=re.M)
    registries = (METRICS, REGIONS, SHARED_MAPS, EFFECTS)
    cites = [thing.cite for registry in registries for thing in registry.values()]
    papers = [
        paper for cite in cites for paper in re.findall(r"(\w+)(?: et al\.| & \w+) (\d{4})", cite)
    ]
    assert len(papers) > 20
    for author, year in papers:
        found = [e for e in entries if author in e.partition(year)[0] and f" {year}. " in e]
        assert found, f"{author} {year} is cited but is not in references.md"


def test_citation_and_changes_name_the_version():
    version = depthgauge.__version__
    assert f"\nversion: {version}\n" in (REPOSITORY / "CITATION.cff").read_text()
    assert f"\n## {version}" in (REPOSITORY / "CHANGELOG.md").read_text()


@pytest.fixture
def copy(tmp_path):
    """A copy of the documentation that may be spoiled."""
    program = (REPOSITORY / "tools").glob("*.py")
    for path in [*DOCS.glob("*.md"), *program, *DOCS.glob("benchmarks/*.md")]:
        place = tmp_path / path.relative_to(REPOSITORY)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
    return tmp_path


def test_a_stale_or_lost_page_is_named_and_mended(copy):
    stale = copy / "docs" / "metrics.md"
    stale.write_text(stale.read_text().replace("- Formula: `mean |e|`", "- Formula: `mean e`"))
    lost = copy / "docs" / "benchmarks" / "middlebury.md"
    lost.unlink()
    check = generate("--check", cwd=copy)
    assert check.returncode == 1
    assert "docs/metrics.md: is stale" in check.stdout
    assert "docs/benchmarks/middlebury.md: is stale" in check.stdout
    assert not lost.exists()
    assert generate(cwd=copy).returncode == 0
    assert stale.read_text() == (DOCS / "metrics.md").read_text()
    assert "## `middlebury-toolkit`" in lost.read_text()
    assert generate("--check", cwd=copy).returncode == 0
