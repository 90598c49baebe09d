"""Croissant metadata of scenes: the official validator accepts it and reads the records."""

import hashlib
import json
import warnings

import pytest
from tests import rig_scenes

from depthgauge.datasets import stereogenbench as sgb
from depthgauge.datasets._stereogen.writing import baseline_json, write_json
from depthgauge.errors import BadData

CARD = sgb.DatasetCard(
    "rig",
    "Six cameras in a row.",
    url="https://example.org/rig",
    creator="We",
    published="2026-11-16",
    cite="@misc{rig}",
)
RESPONSIBLE = (
    "dataUseCases",
    "dataLimitations",
    "dataBiases",
    "personalSensitiveInformation",
    "dataSocialImpact",
    "dataCollection",
    "dataPreprocessingProtocol",
)


@pytest.fixture
def root(tmp_path):
    """Two scenes without their videos, which metadata do not need."""
    for number in (1, 2):
        record = rig_scenes.record(f"scene_00000{number}")
        folder = tmp_path / record.path
        folder.mkdir(parents=True)
        write_json(folder / "baseline.json", baseline_json(record))
        write_json(folder / "_scene_complete.json", {})
        words = {"short_caption": "A room."}
        write_json(folder / "scene_description_qwen_dataset_level.json", words)
    sgb.write_lists(tmp_path)
    return tmp_path


def test_the_eight_fields_and_the_files_are_there(root):
    path = sgb.write_croissant(root, CARD)
    body = json.loads(path.read_text())
    assert path == root / "croissant.json"
    assert body["conformsTo"][0] == "http://mlcommons.org/croissant/1.1"
    assert all(body[f"rai:{name}"] for name in RESPONSIBLE)
    # The intended and the not recommended uses share a field of the vocabulary.
    assert len(body["rai:dataUseCases"]) == 2
    assert body["rai:dataUseCases"][1].startswith("Not recommended")
    files = {entry["@id"]: entry for entry in body["distribution"]}
    manifest = (root / "metadata/manifest.jsonl").read_bytes()
    assert files["manifest"]["sha256"] == hashlib.sha256(manifest).hexdigest()
    assert files["depth-videos"]["includes"] == "**/cam_*_depth.mkv"
    columns = {field["name"] for field in body["recordSet"][0]["field"]}
    assert columns == set(sgb.read_manifest(root)[0])


def test_a_publisher_says_it_in_other_words(root):
    use = sgb.ResponsibleUse(biases="Only rooms.")
    body = json.loads(sgb.write_croissant(root, sgb.DatasetCard("a", "b", use=use)).read_text())
    assert body["rai:dataBiases"] == "Only rooms."
    assert "url" not in body


def test_without_a_manifest_there_is_no_metadata(tmp_path):
    with pytest.raises(BadData, match=r"manifest\.jsonl: does not exist; write_lists"):
        sgb.write_croissant(tmp_path, CARD)


def loaded(path):
    reason = "the official validator is in the extra: pip install 'depthgauge[metadata]'"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries that it uses
        mlc = pytest.importorskip("mlcroissant", reason=reason)
        return mlc, mlc.Dataset(jsonld=str(path))


def test_the_official_validator_accepts_it_and_reads_the_records(root):
    _, dataset = loaded(sgb.write_croissant(root, CARD))
    issues = dataset.metadata.ctx.issues
    assert (set(issues.errors), set(issues.warnings)) == (set(), set())
    assert dataset.metadata.ctx.conforms_to.value == "http://mlcommons.org/croissant/1.1"
    assert dataset.metadata.data_biases == [sgb.ResponsibleUse().biases]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = list(dataset.records("scenes"))
    assert [record["scenes/scene_id"] for record in records] == [b"scene_000001", b"scene_000002"]
    assert records[0]["scenes/baseline_std_cm"] == pytest.approx(8.336864, abs=1e-6)
    assert records[0]["scenes/baselines_adjacent_cm"] == list(rig_scenes.ADJACENT_CM)


def test_the_official_validator_would_object(root):
    path = sgb.write_croissant(root, CARD)
    mlc, _ = loaded(path)
    body = json.loads(path.read_text())
    del body["distribution"][0]["encodingFormat"]
    path.write_text(json.dumps(body))
    with pytest.raises(mlc.ValidationError, match="encodingFormat"):
        loaded(path)
