"""What this installation has and what it lacks."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from depthgauge._version import __version__

CORE = ("numpy", "scipy", "numba", "opencv-python-headless", "OpenEXR", "tifffile")
_LIBRARY_FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/opt/llvm/lib")
# Found by trying: Dr.Jit refuses 14, and 15 and 16 end the whole process.
_UNUSABLE_LLVM = {14: "refused by Dr.Jit", 15: "ends the process", 16: "ends the process"}


def examine() -> dict[str, dict[str, Any]]:
    """Versions, threads, extras and libLLVM, by section."""
    return {
        "versions": _versions(),
        "machine": _machine(),
        "extras": _extras(),
        "libLLVM": _llvm(),
    }


def _versions() -> dict[str, str]:
    found = {"depthgauge": __version__, "python": platform.python_version()}
    return found | {name: _version(name) or "not installed" for name in CORE}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _machine() -> dict[str, Any]:
    import numba

    from depthgauge._compiled import threads

    return {
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "threads": threads(),
        "numba cache": numba.config.CACHE_DIR
        or "beside the kernels, or in the user's cache folder",
        "memory": _memory(),
    }


def _memory() -> str:
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{pages * size / 2**30:.1f} GiB"


def _extras() -> dict[str, str]:
    """Each extra of the package: ready, or what to install."""
    wanted: dict[str, list[str]] = {}
    for line in requires("depthgauge") or []:
        found = re.match(r"([A-Za-z0-9_.-]+).*extra == ['\"]([a-z]+)['\"]", line)
        if found and found[1] != "depthgauge":
            wanted.setdefault(found[2], []).append(found[1])
    state = {}
    wanted.pop("all", None)  # the sum of the others
    for extra, names in sorted(wanted.items()):
        lacking = [name for name in names if _version(name) is None]
        advice = f"lacks {', '.join(lacking)}: pip install 'depthgauge[{extra}]'"
        state[extra] = advice if lacking else "ready"
    return state


def _llvm() -> dict[str, str]:
    """The libLLVMs that the renderer could use to run faster."""
    chosen = os.environ.get("DRJIT_LIBLLVM_PATH")
    if chosen:
        return {
            chosen: "set by DRJIT_LIBLLVM_PATH" + ("" if Path(chosen).exists() else ", missing")
        }
    paths = {
        path.resolve()
        for folder in _LIBRARY_FOLDERS
        for path in Path(folder).glob("**/libLLVM*.so*")
    }
    found = {}
    for path in sorted(paths):
        number = re.search(r"libLLVM(?:-|\.so\.)(\d+)", path.name)
        if number:
            major = int(number[1])
            found[str(path)] = f"LLVM {major}: {_UNUSABLE_LLVM.get(major, 'usable')}"
    if not any(text.endswith("usable") for text in found.values()):
        found["none usable"] = "the renderer uses slower scalar code; install libllvm19"
    return found
