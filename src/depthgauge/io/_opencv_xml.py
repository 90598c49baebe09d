"""OpenCV storage in XML: `<opencv_storage>` with one child a value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath
from depthgauge.io._opencv_values import MOST_DEPTH, Value, matrix, scalar

# A quoted string ends at its quote, which `&quot;` must not be taken for: it travels as this.
_QUOTE = "\ue000"
_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')


@dataclass(slots=True)
class _Node:
    name: str
    type_id: str = ""
    text: list[str] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)


def parse(path: AnyPath, data: bytes) -> dict[str, Value]:
    """The storage's values; the document type (and with it every entity) is refused."""
    builder = _Builder(path)
    try:
        builder.parser.Parse(data.replace(b"&quot;", _QUOTE.encode()), True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"{path}: expected OpenCV XML, found an error: {error}") from None
    root = builder.root
    if root is None or root.name != "opencv_storage":
        found = root.name[:40] if root else "nothing"
        raise BadFile(f"{path}: expected XML in <opencv_storage>, found <{found}>")
    return {child.name: _value(path, child) for child in root.children}


class _Builder:
    """Collects the nodes that expat reports."""

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self.root: _Node | None = None
        self.open: list[_Node] = []
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def _refuse(self, *_: object) -> None:
        raise BadFile(f"{self.path}: the XML has a DOCTYPE or entities; remove them")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        node = _Node(name, attributes.get("type_id", ""))
        if len(self.open) >= MOST_DEPTH:
            raise BadFile(f"{self.path}: the XML is nested deeper than {MOST_DEPTH} levels")
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)

    def _end(self, _: str) -> None:
        self.open.pop()

    def _text(self, text: str) -> None:
        if self.open:
            self.open[-1].text.append(text)


def _value(path: AnyPath, node: _Node) -> Any:
    if node.children:
        if all(child.name == "_" for child in node.children):
            return [_value(path, child) for child in node.children]
        fields = {child.name: _value(path, child) for child in node.children}
        return matrix(path, node.name, fields) if node.type_id.startswith("opencv-") else fields
    values = [
        (quoted.replace(_QUOTE, '"') if match[0][0] == '"' else scalar(bare.replace(_QUOTE, '"')))
        for match in _WORD.finditer("".join(node.text))
        for quoted, bare in [(match[1], match[2])]
    ]
    return values[0] if len(values) == 1 else values or ""
