"""Jobs: what executors can do besides estimates of methods, such as making samples of a dataset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to make."""

    id: str
    """The same on every machine."""
    failed: str = ""
    """Set where it ended its process again and again: it is not tried any more."""

    def given_up(self, why: str, details: str = "") -> Job:
        """The same job, not to be tried any more."""
        del details
        return replace(self, failed=why)


class Jobs(ABC):
    """What all jobs share; it travels to the workers, so it must be possible to pickle it."""

    threads: int = 1
    """Threads of each worker."""
    time_limit_s: float = 7200.0
    """For one job."""

    @abstractmethod
    def do(self, job: Job) -> None:
        """Does a job and stores what it makes; may be called again for a job that was cut off.

        Raises:
            DepthgaugeError: It cannot be done; others go on.
        """

    @abstractmethod
    def is_done(self, job: Job) -> bool:
        """Whether everything that the job makes is stored."""
