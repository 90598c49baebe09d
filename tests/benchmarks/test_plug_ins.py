"""Benchmarks that other packages bring."""

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from depthgauge import benchmarks
from depthgauge._registry import PluginWarning
from depthgauge.benchmarks import lock
from depthgauge.errors import BadProtocol, DuplicateName, UnknownName

TEXT = """
id = "{}"
version = 1
dataset = "folder"
quantity = "disparity"
pool = "image"
[[scores]]
metric = "mae"
"""


@pytest.fixture
def join(tmp_path, monkeypatch):
    """A fresh list of benchmarks with those of some other modules."""
    monkeypatch.syspath_prepend(tmp_path)
    assert set(benchmarks.BENCHMARKS)  # found before others join

    def joined(*modules, group="depthgauge.plugins"):
        points = [EntryPoint(m, m, group) for m in modules]
        monkeypatch.setattr("depthgauge._registry._plug_ins", lambda: EntryPoints(points))
        return benchmarks._Benchmarks()

    return joined


def package(root, name, *ids):
    folder = root / name
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for file in ids:
        (folder / f"{file}.toml").write_text(TEXT.format(file))
    return folder


def test_a_package_brings_the_files_of_its_folder(tmp_path, join):
    package(tmp_path, "gauge_office", "office", "attic")
    found = join("gauge_office")
    assert set(found) == {*benchmarks.BENCHMARKS, "office", "attic"}
    assert len(found) == len(set(found))
    assert "office" in found
    assert found["office"].id == "office"
    assert found["middlebury"].hash == benchmarks.BENCHMARKS["middlebury"].hash
    with pytest.raises(UnknownName, match="Did you mean 'office'"):
        found["ofice"]


def test_other_files_of_a_package_are_no_benchmarks(tmp_path, join):
    folder = package(tmp_path, "gauge_hall", "hall")
    (folder / "settings.toml").write_text("colour = 'blue'\n")
    (folder / "broken.toml").write_text("id = \n")
    assert set(join("gauge_hall")) == {*benchmarks.BENCHMARKS, "hall", "broken"}


def test_a_module_brings_no_files(tmp_path, join):
    (tmp_path / "gauge_barn.py").write_text("")
    (tmp_path / "barn.toml").write_text(TEXT.format("barn"))
    assert set(join("gauge_barn")) == set(benchmarks.BENCHMARKS)


def test_a_package_that_breaks_is_named(tmp_path, join):
    (package(tmp_path, "gauge_ruin", "ruin") / "__init__.py").write_text("import nowhere_at_all")
    found = join("gauge_ruin")
    with pytest.warns(PluginWarning, match=r"'gauge_ruin' \(gauge_ruin\) cannot be used: .*at_all"):
        assert set(found) == set(benchmarks.BENCHMARKS)
    with pytest.raises(UnknownName, match=r"no benchmark 'ruin'.*'gauge_ruin' .* cannot be used"):
        found["ruin"]


def test_in_the_old_group_a_module_brings_the_files_beside_it(tmp_path, join):
    (tmp_path / "gauge_cellar.py").write_text("")
    (tmp_path / "cellar.toml").write_text(TEXT.format("cellar"))
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'cellar'\n")
    found = join("gauge_cellar", group="depthgauge.benchmarks")
    with pytest.warns(DeprecationWarning, match='gauge_cellar = "gauge_cellar" under'):
        assert set(found) == {*benchmarks.BENCHMARKS, "cellar"}


def test_two_of_one_id_are_refused(tmp_path, join):
    package(tmp_path, "gauge_first", "kitchen")
    package(tmp_path, "gauge_second", "kitchen")
    with pytest.raises(DuplicateName, match=r"'kitchen' is defined in .*gauge_first.*gauge_second"):
        list(join("gauge_first", "gauge_second"))
    package(tmp_path, "gauge_third", "middlebury")
    with pytest.raises(DuplicateName, match="'middlebury' is defined in"):
        join("gauge_third")["middlebury"]
    assert "kitchen" in join("gauge_first", "gauge_first")


def test_a_file_is_named_by_its_id(tmp_path, join):
    (package(tmp_path, "gauge_loft") / "loft.toml").write_text(TEXT.format("other"))
    with pytest.raises(BadProtocol, match=r"id: is 'other' but the file is loft\.toml"):
        join("gauge_loft")["loft"]


def test_the_lock_is_for_the_packages_own(tmp_path, join, monkeypatch):
    package(tmp_path, "gauge_shed", "shed")
    monkeypatch.setattr(lock, "BENCHMARKS", join("gauge_shed"))
    assert lock.compare(lock.read_lock()) == []
    lock.update(tmp_path / "LOCK")
    assert "shed" not in lock.read_lock(tmp_path / "LOCK")
