"""The closed list of what authors are told about a submission.

Nothing else that happens while hidden truth is read reaches them: no error text, no path, no
number. What the check says about their own files is separate; it runs without the truth.
"""

from __future__ import annotations

MESSAGES = {
    "": "",
    "dry-run": "The check found no problem. A dry run is not scored and not counted.",
    "archive": "The archive is refused for the problems below. Pack it again and submit it again.",
    "check": "The check found the problems below. Correct them and submit again; this one is not "
    "counted.",
    "sparse": "Some estimates have values inside the allowed range at too few pixels; the samples "
    "are below. Fill them and submit again; this one is not counted.",
    "too-long": "Reading the archive took too long or too much memory. Write plain maps (.npy, "
    ".pfm, 16-bit .png) and submit again; this one is not counted.",
    "not-scored": "The site could not score this submission, and its organisers can see why. "
    "It is counted, since it may have met the truth; ask them before you submit again.",
    "not-rescored": "The benchmark was revised, and the site could not score this entry again; its "
    "organisers can see why. Ask them, or submit again.",
    "late": "The site could not score this submission in time. Submit again; this one is not "
    "counted.",
    "withdrawn": "Withdrawn by its authors.",
}
"""By code; the code is what is stored."""
