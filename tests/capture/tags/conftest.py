"""The drawn session with tags, opened, and what step `tags` made of it."""

import pytest
from tests.capture.tags.drawn import POSES

from depthgauge.capture.tags import capture_tags
from depthgauge.sessions import open_session


@pytest.fixture(scope="session")
def drawn(tagged_session):
    """A session with one object `jar`; nobody may change it."""
    return open_session(tagged_session)


@pytest.fixture(scope="session")
def done(drawn):
    """The run of that session; its work folder is `work` in it."""
    return capture_tags(drawn, drawn.folder / "work", board_pairs=POSES)
