import pytest
from tests.report.views import protocol_of

from depthgauge.report.pictures.kinds import ABOUT, kind_of


@pytest.mark.parametrize(
    ("quantity", "kind"),
    [
        ("normals", "normals"),
        ("boundaries", "boundaries"),
        ("planes", "planes"),
        ("depth", "shapes"),
    ],
)
def test_each_quantity_is_drawn_in_its_own_way(quantity, kind):
    assert kind_of(protocol_of(quantity)) == kind
    assert ABOUT[kind].endswith(".")


def test_depth_that_is_scored_in_metres_is_drawn_as_values():
    scores = [{"metric": "mae", "region": ""}, {"metric": "wkdr", "region": ""}]
    assert kind_of(protocol_of("depth", scores=scores)) == "values"
    assert not ABOUT["values"]
