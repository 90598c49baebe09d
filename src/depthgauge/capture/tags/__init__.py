"""Step `tags`: correspondences through glass from photographs of tagged objects."""

from depthgauge.capture.tags.detect import FoundTag, find_tags
from depthgauge.capture.tags.export import ExportedTags, TagExportOptions, export_tags
from depthgauge.capture.tags.one_object import read_points
from depthgauge.capture.tags.points import ObjectPoints, TagPoints
from depthgauge.capture.tags.session import DoneObject, TagOptions, TagRun, capture_tags
from depthgauge.capture.tags.truth import compare_with_truth

__all__ = [
    "DoneObject",
    "ExportedTags",
    "FoundTag",
    "ObjectPoints",
    "TagExportOptions",
    "TagOptions",
    "TagPoints",
    "TagRun",
    "capture_tags",
    "compare_with_truth",
    "export_tags",
    "find_tags",
    "read_points",
]
