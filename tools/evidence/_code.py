"""What of the code can change a number: one short hash for each definition at the top of a module.

A definition is a function, a class, an assignment or any other statement of a module. Its hash is
taken of its syntax tree without docstrings, comments, imports, annotations, the texts of raised
messages and other prose (`about=`, `cite=` ...). How an imported thing is reached does not count:
`io.read_map`, `read_map` and `read_map as read` are the same, and so are all names of our own
modules inside strings. So a moved file, a merged module or a reworded message changes no hash; a
changed constant does.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
Code = Counter[str]
"""`name:hash` of each definition, and how often it occurs."""

_PROSE = frozenset({"about", "cite", "citation", "description", "help", "summary", "title"})
"""Keyword arguments whose texts are for people."""
_SORTING = frozenset({"category"})
"""Keyword arguments that only say where a thing stands in a list; as if they were not there."""
_OUR_MODULE = re.compile(r"(?:depthgauge|tools)(?:\.\w+)+(?::(?P<name>\w+))?")
_TYPING = frozenset({"typing", "collections.abc", "numpy.typing"})
_GENERIC = frozenset({"dict", "frozenset", "list", "set", "tuple", "type"})
_IGNORED = frozenset(
    {"annotation", "ctx", "kind", "lineno", "returns", "type_comment", "type_ignores"}
    | {"type_params"}
)
DATA = "(data)"
"""Stands for the name where a source is a data file: files may be renamed."""


@cache
def code_of(path: Path) -> Code:
    """The definitions of a Python file, or the content of a JSON, TOML or other file."""
    if path.suffix == ".py":
        module = ast.parse(path.read_text(encoding="utf-8"))
        return Counter(_definitions(_Imported(module).visit(module)))
    if path.suffix == ".json":
        content = json.dumps(json.loads(path.read_text(encoding="utf-8")), sort_keys=True)
    elif path.suffix == ".toml":
        content = json.dumps(tomllib.loads(path.read_text(encoding="utf-8")), sort_keys=True)
    else:
        content = path.read_bytes().hex()
    return Counter([f"{DATA}:{_short(content)}"])


def total(several: Iterable[Code]) -> Code:
    """All definitions of several files."""
    found = Code()
    for code in several:
        found.update(code)
    return found


def digest(code: Code) -> str:
    """One short hash of all definitions, in any order."""
    return _short(" ".join(sorted(code.elements())))


def changes(recorded: Code, listed: Code, everywhere: Callable[[], Code]) -> list[str]:
    """Names of the recorded definitions that have changed or gone.

    New definitions beside the recorded ones change nothing by themselves: what uses them has
    changed too. A definition that left the listed sources is looked up in all of the code, unless
    the listed sources now define its name differently.
    """
    missing = recorded - listed
    if not missing:
        return []
    redefined = {_name(token) for token in listed - recorded}
    elsewhere = everywhere() - listed if any(_name(t) not in redefined for t in missing) else Code()
    gone = [t for t in missing if _name(t) in redefined or elsewhere[t] < missing[t]]
    return sorted({_name(token) for token in gone})


def _name(token: str) -> str:
    return token.rpartition(":")[0]


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class _Imported(ast.NodeTransformer):
    """Calls imported things by their own names, without the modules of ours that they are in."""

    def __init__(self, module: ast.Module) -> None:
        self.names: dict[str, str] = {}
        self.modules: set[str] = set()
        for node in ast.walk(module):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.names[alias.asname or alias.name] = alias.name
                    if is_ours(alias.name):
                        self.modules.add(alias.asname or alias.name)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.names[alias.asname or alias.name] = alias.name
                    if is_ours(f"{node.module}.{alias.name}"):
                        self.modules.add(alias.asname or alias.name)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # ast's own name
        if isinstance(node.value, ast.Name) and node.value.id in self.modules:
            return ast.Name(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:  # ast's own name
        return ast.Name(self.names.get(node.id, node.id))


def is_ours(name: str) -> bool:
    """Whether a dotted name is a module or package of this repository."""
    return bool(files_of(name))


@cache
def files_of(name: str) -> tuple[Path, ...]:
    """The file of a module, or all Python files of a package; none if there is no such module."""
    for root in (REPOSITORY / "src", REPOSITORY):
        place = root.joinpath(*name.split("."))
        if place.with_suffix(".py").is_file():
            return (place.with_suffix(".py"),)
        if (place / "__init__.py").is_file():
            return tuple(sorted(place.rglob("*.py")))
    return ()


def _definitions(module: ast.Module) -> Iterator[str]:
    typing_names = set(_GENERIC)
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.module in _TYPING:
            typing_names |= {alias.asname or alias.name for alias in node.names}
    for node in _statements(module.body):
        name = _defined(node)
        if name != "__all__" and not _is_type_alias(node, typing_names):
            yield f"{name}:{_short(repr(_tree(node)))}"


def _defined(node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=targets):
            return "=".join(map(ast.unparse, targets)).replace(" ", "")
        case ast.AnnAssign(target=target):
            return ast.unparse(target)
    return f"({type(node).__name__.lower()})"


def _is_type_alias(node: ast.stmt, names: set[str]) -> bool:
    """Whether it gives a name to a type, as annotations use it."""
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in {"TypeVar", "ParamSpec"}
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
        value = value.left
    base = value.value if isinstance(value, ast.Subscript) else None
    return isinstance(base, ast.Name) and base.id in names


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that do something when the module runs."""
    for node in body:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Pass():
                continue
            case ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=[]):
                continue
        yield node


def _tree(node: Any) -> Any:
    """Nested tuples that are the same in every version of Python; empty fields are left out."""
    if isinstance(node, list):
        if node and isinstance(node[0], ast.stmt):
            node = list(_statements(node))
        return [_tree(one) for one in node if not _only_sorts(one)]
    match node:
        case ast.Constant(value=str() as text):
            found = _OUR_MODULE.fullmatch(text)
            return ("str", (found["name"] or "") if found else text)
        case ast.Constant(value=value):
            return (type(value).__name__, repr(value))
        case ast.AnnAssign(target=target, value=value):
            return ("Assign", ("targets", [_tree(target)]), ("value", _tree(value)))
        case ast.Raise(exc=ast.Call(func=func) as call, cause=cause):
            arguments = [_without_texts(a) for a in (*call.args, *call.keywords)]
            return ("Raise", _tree(func), arguments, _tree(cause))
        case ast.JoinedStr(values=values):
            # Python 3.12 adds empty texts to some f-strings.
            full = [v for v in values if not (isinstance(v, ast.Constant) and v.value == "")]
            return ("JoinedStr", ("values", _tree(full)))
        case ast.keyword(arg=name, value=value) if name in _PROSE:
            return ("keyword", name, _without_texts(value))
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = ((name, _tree(value)) for name, value in ast.iter_fields(node) if _counts(name, value))
    return (type(node).__name__, *fields)


def _only_sorts(node: Any) -> bool:
    return isinstance(node, ast.keyword) and node.arg in _SORTING


def _counts(name: str, value: Any) -> bool:
    return name not in _IGNORED and value is not None and value != []


def _without_texts(node: ast.AST) -> Any:
    """The tree of an argument in which every text is the same."""

    class Texts(ast.NodeTransformer):
        def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:  # ast's own name
            return ast.Constant("")

        def visit_Constant(self, node: ast.Constant) -> ast.AST:  # ast's own name
            return ast.Constant("") if isinstance(node.value, str) else node

    return _tree(Texts().visit(node))
