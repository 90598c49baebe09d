"""Ranking studies of a site: who has the link takes part, without an account.

A study is the folder that `depthgauge ranking make` wrote, with its pictures: the web process draws
nothing, and reads no map. Beside them, `on_site.json` has the link and how many people may take
part; `answers/` has one file per person, under a name drawn by lot.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from depthgauge.analysis.rank_study.plan import FILE, RankPlan, read_plan
from depthgauge.errors import BadData, CannotWrite, Misuse, Refused
from depthgauge.io import write_text
from depthgauge.io.text import parse_json
from depthgauge.serve.site import Site

MOST_PEOPLE = 100
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_ABOUT = "on_site.json"
_PICTURES = "pictures"


@dataclass(frozen=True, slots=True)
class SiteStudy:
    """A study of a site."""

    name: str
    folder: Path
    link: str
    """The end of the address that people get; nobody can guess it."""
    most_people: int
    is_open: bool = True

    @property
    def path(self) -> str:
        """The address that people get, after that of the site."""
        return f"studies/{self.name}/join/{self.link}"

    @property
    def plan(self) -> RankPlan:
        """What people are asked."""
        return read_plan(self.folder)


def add_study(site: Site, name: str, folder: Path, most_people: int = MOST_PEOPLE) -> SiteStudy:
    """Opens a study that `depthgauge ranking make` wrote; the site keeps a copy.

    Added again, it keeps its link and its answers, and may be open for more people.

    Args:
        site: The site.
        name: In addresses: small letters, digits and hyphens.
        folder: The study.
        most_people: How many may take part.

    Raises:
        Misuse: That is no name of a study.
        BadData: There is no study in the folder, or the site has another one of this name.
        CannotWrite: The copy cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise Misuse(f"a study is named with small letters, digits and hyphens, not '{name}'.")
    plan, target = read_plan(folder), _root(site) / name
    if (target / _ABOUT).is_file():
        kept = find_study(site, name)
        if kept.plan != plan:
            raise BadData(f"{name}: the site has another study of that name; choose another.")
        return _written(replace(kept, most_people=most_people))
    aside = target.with_name(f".{name}.part")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        # Answers that were given elsewhere stay there: people agreed to that study, on that page.
        shutil.copyfile(folder / FILE, aside / FILE)
        shutil.copytree(folder / _PICTURES, aside / _PICTURES)
        aside.replace(target)
    except (OSError, shutil.Error) as error:
        raise CannotWrite(f"{target}: cannot be written ({error}).") from None
    return _written(SiteStudy(name, target, secrets.token_urlsafe(16), most_people))


def set_open(study: SiteStudy, is_open: bool) -> SiteStudy:
    """Closes a study, so that nobody begins and nobody answers, or opens it again."""
    return _written(replace(study, is_open=is_open))


def renew_link(study: SiteStudy) -> SiteStudy:
    """Gives a study another link. Nobody begins with the old one; who has begun goes on."""
    return _written(replace(study, link=secrets.token_urlsafe(16)))


def studies(site: Site) -> list[SiteStudy]:
    """All studies of a site, by name."""
    root = _root(site)
    names = sorted(path.name for path in root.iterdir()) if root.is_dir() else []
    named = [name for name in names if _NAME.fullmatch(name) and (root / name / _ABOUT).is_file()]
    return [find_study(site, name) for name in named]


def find_study(site: Site, name: str) -> SiteStudy:
    """A study by its name.

    Raises:
        Refused: There is none.
    """
    path = _root(site) / name / _ABOUT
    if not _NAME.fullmatch(name) or not path.is_file():
        raise Refused("not-found", "There is no such study")
    kept = parse_json(path.read_text("utf-8"))
    return SiteStudy(
        name, path.parent, str(kept["link"]), int(kept["most_people"]), bool(kept["open"])
    )


def require_link(study: SiteStudy, link: str) -> None:
    """Requires that somebody has the link of a study.

    Raises:
        Refused: It is another one.
    """
    if not hmac.compare_digest(study.link.encode(), link.encode("utf-8", "surrogatepass")):
        raise Refused("not-found", "There is no such study")


def _written(study: SiteStudy) -> SiteStudy:
    about = {
        "schema": 1,
        "link": study.link,
        "most_people": study.most_people,
        "open": study.is_open,
    }
    write_text(study.folder / _ABOUT, json.dumps(about) + "\n")
    return study


def _root(site: Site) -> Path:
    return site.web / "studies"
