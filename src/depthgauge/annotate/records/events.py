"""Events that come from elsewhere, for example from a page: as plain data, as records, as lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from depthgauge.annotate.records._lines import header_line, parse_record, record_line
from depthgauge.annotate.records.annotation import Header, Record
from depthgauge.errors import BadFile


def event_from_json(data: Mapping[str, Any], where: str = "this event") -> Record:
    """A record from the fields of its line.

    Args:
        data: The fields, as in a file of records.
        where: What sentences about it begin with.

    Raises:
        BadFile: It is no event of the schema.

    >>> event_from_json({"event": "remove", "id": "s1", "what": "stroke"}).value
    'stroke'
    """
    try:
        text = json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadFile(f"{where}: is no JSON object: {error}.") from None
    return parse_record(where, text.encode())


def event_from_line(line: str) -> Record:
    """A record from its line.

    Raises:
        BadFile: It is no event of the schema.
    """
    return parse_record("this line", line.encode())


def event_line(record: Record) -> str:
    """The line of a record, without its end, exactly as `append_record` writes it.

    Raises:
        Misuse: It could not be read again.
    """
    return record_line(record)


def header_text(header: Header) -> str:
    """The first line of a file, without its end, exactly as `start_records` writes it.

    Raises:
        Misuse: It could not be read again.
    """
    return header_line(header)
