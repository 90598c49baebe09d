"""Sessions with tags: objects that were photographed with and without AprilTags on them.

Such a session has the boards of any session and, for each object, eight photographs; simulated
sessions also have the exact places of all tags. The layout is described in docs/capture-tags.md:

    session.json                           name, board, and whether it was simulated
    calibration/{L,R}/<pose>.png           the board in 40 or more poses
    objects/<object>/<time>_<camera>.png   times 0 to 3, cameras 0 (L) and 1 (R); tags in 1 and 2
    objects/<object>/annotations.toml      material and layer of each tag, written by a person
    truth/objects/<object>.json            simulated sessions only
"""

from depthgauge.sessions.tags.annotations import (
    MATERIALS,
    TagNote,
    read_annotations,
    write_annotations,
)
from depthgauge.sessions.tags.bitmaps import TAG_CORNERS, TAG_COUNT, tag_bitmap
from depthgauge.sessions.tags.objects import (
    TAGGED_TIMES,
    TIMES,
    VIEWS,
    TagObject,
    has_tag_objects,
    tag_objects,
)
from depthgauge.sessions.tags.truth import (
    TagSessionTruth,
    TagTruth,
    read_tag_truth,
    tag_truth_file,
    write_tag_truth,
)

__all__ = [
    "MATERIALS",
    "TAGGED_TIMES",
    "TAG_CORNERS",
    "TAG_COUNT",
    "TIMES",
    "VIEWS",
    "TagNote",
    "TagObject",
    "TagSessionTruth",
    "TagTruth",
    "has_tag_objects",
    "read_annotations",
    "read_tag_truth",
    "tag_bitmap",
    "tag_objects",
    "tag_truth_file",
    "write_annotations",
    "write_tag_truth",
]
