"""Annotation records: what people drew, in files that are only ever appended to."""

from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Origin,
    Picture,
    Relation,
    Stroke,
    SurfaceMark,
)
from depthgauge.annotate.records.files import (
    Header,
    History,
    Record,
    annotation_from_lines,
    append_record,
    history,
    lines_from_annotation,
    read_records,
    replayed,
    start_records,
    write_records,
)

__all__ = [
    "Annotation",
    "Focal",
    "Header",
    "History",
    "NormalMark",
    "Origin",
    "Picture",
    "Record",
    "Relation",
    "Stroke",
    "SurfaceMark",
    "annotation_from_lines",
    "append_record",
    "history",
    "lines_from_annotation",
    "read_records",
    "replayed",
    "start_records",
    "write_records",
]
