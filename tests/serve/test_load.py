"""A site under load: nothing fails, and readers do not wait."""

import pytest
from perf.serve_load import Size, measure


@pytest.mark.long
def test_readers_and_uploads_at_the_same_time():
    found = measure(Size(methods=20, scenes=6, readers=40, reading_s=5, uploads=4, upload_mb=30))
    assert found["uploads"]["errors"] == []
    for part in ("reading", "reading during uploads"):
        assert found[part]["failed"] == 0, found[part]["errors"]
        assert found[part]["requests"] > 20
    assert found["reading"]["requests"] > 150
    assert found["reading"]["p95, s"] < 0.5
    assert found["publication"]["first reader, s"] < 0.5
