"""Application profiles: which scores matter for an application, and which method is best for it.

A profile is one TOML file (see `_profile.py`); those of this folder follow section 2.2.4 of Honauer
2019, and users can write their own.
"""

from __future__ import annotations

from depthgauge.analysis.profiles._profile import (
    PROFILES,
    Profile,
    Weight,
    find_profile,
    load_profile,
)
from depthgauge.analysis.profiles._result import (
    ProfileRanking,
    ProfileRow,
    Swing,
    UnusedWeight,
    Verdict,
    WeighedScore,
)
from depthgauge.analysis.profiles.ranking import choose_profiles, rank_by_profile

__all__ = [
    "PROFILES",
    "Profile",
    "ProfileRanking",
    "ProfileRow",
    "Swing",
    "UnusedWeight",
    "Verdict",
    "WeighedScore",
    "Weight",
    "choose_profiles",
    "find_profile",
    "load_profile",
    "rank_by_profile",
]
