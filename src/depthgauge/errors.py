"""The one exception tree. Everything that depthgauge raises on purpose is in it.

DepthgaugeError             caught by the command line: one sentence, exit 1
├── UnknownName             no metric, region, dataset ... of that name; says the nearest; exit 2
├── DuplicateName           two things claim one name
├── BadDeclaration          a metric, region, method ... is declared wrongly; names the module
├── BadFile                 a file is truncated, misstates its size, or is of another kind
│   ├── UnknownScale        whole numbers of depth whose unit nobody says
│   └── TooLarge            its header claims more than the limit; nothing was allocated
├── DoesNotFit              values that a file format cannot hold
├── WrongShape              two maps, masks or images whose sizes do not go together
│   └── SizesDiffer         estimate and truth differ in size, and nothing says how to resize
├── BadData                 a dataset or estimates folder lacks something or contradicts itself
│   ├── UnreadableInput     an input that a method asked for cannot be read; not its failure
│   │   └── LostSample      the same, in a dataset that leaves such samples out
│   └── MethodChanged       a run has a method of that name with other code or options
├── BadProtocol             a benchmark file has mistakes; all of them are listed
├── Unavailable             this sample lacks what was requested (no mask, no right view ...)
├── BadEstimate             what a method returned cannot be scored
├── MethodFailed            a method crashed, ran too long or ended with an error
├── MissingExtra            an optional dependency is not installed; says what to install
├── Cancelled               work that nobody needs any more was stopped
├── CannotWrite             a file cannot be written: no space, no permission, no such folder
├── WorkerLost              a worker process cannot be started or kept alive
├── CannotCompare           two runs are not of the same protocol, truth or samples
├── NothingScored           there was not one sample that could be scored
├── Refused                 a site does not allow it; carries a code that programs can react to
└── Misuse                  the call itself is wrong; exit 2
    └── BadScoreId          a score id, region expression or option that cannot be parsed
        └── NotGiven        a metric or region needs what came with neither of two maps

DepthgaugeWarning           something was scored that may be meant otherwise; the scores stand
RunWarning                  a file of a run was damaged and is made again, or its data cannot be
                            checked or read
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class DepthgaugeError(Exception):
    """Anything that depthgauge raises on purpose; its text is one sentence for a person."""

    exit_code = 1


class DepthgaugeWarning(UserWarning):
    """Something was scored that may be meant otherwise; the scores stand, and have the note."""


class RunWarning(UserWarning):
    """A file of a run was damaged and is made again, or its data cannot be checked or read."""


class UnknownName(DepthgaugeError, KeyError):
    """No thing of that kind has this name."""

    exit_code = 2

    def __str__(self) -> str:
        # KeyError would show the repr of its argument.
        return Exception.__str__(self)


class DuplicateName(DepthgaugeError):
    """Two things claim the same name."""


class BadDeclaration(DepthgaugeError, TypeError):
    """A metric, region, method or other plug-in is declared wrongly."""


class BadFile(DepthgaugeError, ValueError):
    """A file is truncated, misstates its size, or is not of the expected kind."""


class UnknownScale(BadFile):
    """Whole numbers whose unit nobody says, where several are plausible.

    Args:
        what: The file, or which map of the call.
        quantity: What it is taken for.
        choices: Stored numbers per unit, and what it would then be.
        form: How the caller says a scale: `{per_unit}` or `{factor}` stand for the number.
    """

    def __init__(
        self,
        what: str,
        quantity: str,
        choices: Sequence[tuple[float, str]],
        form: str = "scale={per_unit}",
    ) -> None:
        self.what, self.quantity, self.choices = what, quantity, tuple(choices)
        self.form = form
        said = " or ".join(f"{self._written(n)} ({words})" for n, words in self.choices)
        super().__init__(
            f"{what}: holds whole numbers, and nothing says how many of them are one unit of "
            f"{quantity}; say {said}."
        )

    def _written(self, per_unit: float) -> str:
        factor = f"1/{per_unit:g}" if per_unit == 256 else f"{1 / per_unit:g}"
        return self.form.format(per_unit=f"{per_unit:g}", factor=factor)

    def said_as(self, form: str, what: str = "") -> UnknownScale:
        """The same with what another caller would write."""
        return UnknownScale(what or self.what, self.quantity, self.choices, form)

    def __reduce__(self) -> tuple[type[UnknownScale], tuple[object, ...]]:
        return type(self), (self.what, self.quantity, self.choices, self.form)


class TooLarge(BadFile):
    """A file's header claims more pixels or bytes than the limit."""


class DoesNotFit(DepthgaugeError, ValueError):
    """Values that the file format cannot hold."""


class WrongShape(DepthgaugeError, ValueError):
    """Two maps, masks or images whose sizes do not go together."""


class SizesDiffer(WrongShape):
    """Estimate and truth differ in size, and nothing says how to resize; sizes as WIDTHxHEIGHT."""

    def __init__(self, estimate: str, truth: str) -> None:
        self.estimate = estimate
        self.truth = truth
        self.transposed = estimate.split("x") == truth.split("x")[::-1]
        turned = " (is it transposed?)" if self.transposed else ""
        super().__init__(
            f"the estimate is {estimate}, the truth is {truth}{turned}, and the protocol allows no "
            "resizing; give it at the truth's size, or set estimate_resize (without a benchmark: "
            "--resize) to nearest, block, bilinear, zoom or area"
        )

    def __reduce__(self) -> tuple[type[SizesDiffer], tuple[str, str]]:
        return type(self), (self.estimate, self.truth)


class BadData(DepthgaugeError):
    """A dataset or estimates folder lacks something or contradicts itself."""


class UnreadableInput(BadData):
    """An input that a method asked for cannot be read, which is not the method's failure."""


class LostSample(UnreadableInput):
    """An input is damaged, in a dataset whose damaged samples are left out by name."""


class MethodChanged(BadData):
    """A run has a method of that name with other code or options.

    `code_only` says that only its code changed; `other_label` is how it is given under
    another name.
    """

    def __init__(
        self, where: str, label: str, what: str, other_label: str, code_only: bool
    ) -> None:
        self.where = where
        self.label = label
        self.what = what
        self.other_label = other_label
        self.code_only = code_only
        keep = "keep its finished samples with keep_finished=True, " if code_only else ""
        super().__init__(
            f"{where}: {what}; run it again with again=['{label}'], {keep}or give this one "
            f"another label: {other_label}."
        )

    def __reduce__(self) -> tuple[type[MethodChanged], tuple[str, str, str, str, bool]]:
        given = (self.where, self.label, self.what, self.other_label, self.code_only)
        return type(self), given


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: where it is, what is wrong, and what would be right."""

    where: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}"
        return f"{text} ({self.hint})" if self.hint else text


class BadProtocol(DepthgaugeError):
    """A benchmark file has mistakes; `problems` lists all of them."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        listed = "; ".join(str(p) for p in self.problems)
        super().__init__(f"{source}: {len(self.problems)} mistake(s): {listed}")

    def __reduce__(self) -> tuple[type[BadProtocol], tuple[str, tuple[Problem, ...]]]:
        # Errors travel between processes; the default would call us with the text alone.
        return type(self), (self.source, self.problems)


class Unavailable(DepthgaugeError):
    """This sample lacks what was requested; `needs` names the items that would help."""

    def __init__(self, text: str, needs: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.needs = tuple(needs)

    def __reduce__(self) -> tuple[type[Unavailable], tuple[str, tuple[str, ...]]]:
        return type(self), (str(self), self.needs)


class BadEstimate(DepthgaugeError):
    """What a method returned cannot be scored: another kind of thing, shape or quantity."""


class MethodFailed(DepthgaugeError):
    """A method crashed, ran too long or ended with an error; `details` is its output."""

    def __init__(self, text: str, details: str = "") -> None:
        super().__init__(text)
        self.details = details


class MissingExtra(DepthgaugeError, ImportError):
    """An optional dependency is not installed."""


class Cancelled(DepthgaugeError):
    """The work was stopped because nobody needs it any more."""


class CannotWrite(DepthgaugeError):
    """A file cannot be written; the old file is unchanged."""


class WorkerLost(DepthgaugeError):
    """A worker process cannot be started or kept alive."""


class CannotCompare(DepthgaugeError):
    """Two runs are not of the same protocol, truth or samples."""


class Refused(DepthgaugeError):
    """A site does not allow something.

    Args:
        code: The reason for programs: `login`, `rate`, `forbidden`, `not-found`, `closed`,
            `quota`, `invalid`, `conflict`.
        text: The reason for people: one sentence.
    """

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        super().__init__(text)

    def __reduce__(self) -> tuple[type[Refused], tuple[str, str]]:
        return type(self), (self.code, str(self))


class NothingScored(DepthgaugeError):
    """Not one sample could be scored."""


class Misuse(DepthgaugeError, ValueError):
    """The call itself is wrong."""

    exit_code = 2


class BadScoreId(Misuse):
    """A score id, region expression or option that cannot be parsed."""


class NotGiven(BadScoreId):
    """A metric or region needs what came with neither of two maps; `needs` names the items."""

    def __init__(self, what: str, why: str, needs: Sequence[str] = ()) -> None:
        self.what = what
        self.why = why
        self.needs = tuple(needs)
        advice = f"; give {' and '.join(needs)} in items" if needs else ""
        super().__init__(f"{what} cannot be computed from two maps: {why.rstrip('.')}{advice}.")

    def __reduce__(self) -> tuple[type[NotGiven], tuple[str, str, tuple[str, ...]]]:
        return type(self), (self.what, self.why, self.needs)
