"""Plain NumPy versions of every metric, written from the formulas alone."""

from __future__ import annotations

import numpy as np


def errors(estimate, truth, region, kind=None):
    """Float64 estimate, truth and signed float32 error of the pixels that count; and missing.

    Of vectors that are compared by length, estimate and truth are the truth's length; with the kind
    "vectors" they are the vectors.
    """
    known = np.isfinite(truth).reshape(*truth.shape[:2], -1).all(-1) & region
    here = known & np.isfinite(estimate).reshape(*truth.shape[:2], -1).all(-1)
    x, g = estimate[here], truth[here]
    e = x - g
    if truth.ndim == 3 and truth.shape[2] == 3 and kind in (None, "angle"):
        return x, g, angles(x, g), int(known.sum() - here.sum())
    if truth.ndim == 3:
        e = np.linalg.norm(e, axis=-1)
        if kind == "vectors":
            return x.astype(np.float64), g.astype(np.float64), e, int(known.sum() - here.sum())
        x = g = np.linalg.norm(g, axis=-1).astype(np.float64)
    return x.astype(np.float64), g.astype(np.float64), e, int(known.sum() - here.sum())


def angles(x, g):
    """Degrees between vectors, by half the distance of their tips."""
    x, g = (v.astype(np.float64) for v in (x, g))
    x, g = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (x, g))
    half = np.minimum(np.linalg.norm(x - g, axis=-1) / 2, 1)
    return np.degrees(2 * np.arcsin(half)).astype(np.float32)


def positive(x, g, e, missing):
    """For logarithms: an estimate that is not positive is missing."""
    ok = x > 0
    return x[ok], g[ok], e[ok], missing + int((~ok).sum())


def bad_share(flags, missing):
    n = flags.size + missing
    return 100.0 * (flags.sum() + missing) / n if n else np.nan


def mean(values):
    return float(np.mean(values, dtype=np.float64)) if values.size else np.nan


def mae(x, g, e, m):
    return mean(np.abs(e))


def rms(x, g, e, m):
    return np.sqrt(mean(e.astype(np.float64) ** 2))


def mse(x, g, e, m, factor=1.0):
    return factor * mean(e.astype(np.float64) ** 2)


def bias(x, g, e, m):
    return mean(e)


def bias_deviation(x, g, e, m):
    return float(np.std(e.astype(np.float64))) if e.size else np.nan


def badpix(x, g, e, m, threshold=1.0):
    return bad_share(np.abs(e) > np.float32(threshold), m)


def mean_angle(x, g, e, m):
    n = e.size + m
    return (np.sum(e, dtype=np.float64) + 180.0 * m) / n if n else np.nan


def within(x, g, e, m, degrees=11.25):
    return 100.0 - bad_share(~(e < np.float32(degrees)), m)


npx = badpix
epe = mae


def d1(x, g, e, m, threshold=3.0, share=0.05):
    size = np.abs(e).astype(np.float64)
    return bad_share((np.abs(e) > np.float32(threshold)) & (size > share * np.abs(g)), m)


fl = d1


def flow_angle(x, g, e, m, step=1.0):
    x, g = (np.column_stack([v, np.full(len(v), step)]) for v in (x, g))
    n = len(e) + m
    return (np.sum(angles(x, g), dtype=np.float64) + 180.0 * m) / n if n else np.nan


flow_angle.takes_vectors = True


def wauc(x, g, e, m, threshold=5.0):
    """As Spring's server computes it: a loop over 100 thresholds."""
    n = e.size + m
    if not n:
        return np.nan
    total = weights = 0.0
    for i in range(1, 101):
        weight = 1 - (i - 1) / 100
        total += weight * np.count_nonzero(e <= np.float32(i * threshold / 100)) / n
        weights += weight
    return 100.0 * total / weights


def scene_outliers(x, g, e, m, threshold=0.3, share=0.1):
    return bad_share((e > np.float32(threshold)) | (e.astype(np.float64) > share * g), m)


def scene_accuracy(x, g, e, m, threshold=0.05, share=0.05):
    good = (e < np.float32(threshold)) | (e.astype(np.float64) < share * g)
    return 100.0 - bad_share(~good, m)


def sparsity(x, g, e, m):
    return 100.0 * m / (e.size + m) if e.size + m else np.nan


def density(x, g, e, m):
    return 100.0 * e.size / (e.size + m) if e.size + m else np.nan


def absrel(x, g, e, m):
    return mean(np.abs(e).astype(np.float64) / np.abs(g))


def sqrel(x, g, e, m):
    return mean(e.astype(np.float64) ** 2 / g)


def rmse_log(x, g, e, m):
    x, g, e, m = positive(x, g, e, m)
    return np.sqrt(mean((np.log(x) - np.log(g)) ** 2))


def silog(x, g, e, m):
    x, g, e, m = positive(x, g, e, m)
    return 100.0 * float(np.std(np.log(x) - np.log(g))) if x.size else np.nan


def log10(x, g, e, m):
    x, g, e, m = positive(x, g, e, m)
    return mean(np.abs(np.log10(x) - np.log10(g)))


def delta(x, g, e, m, ratio=1.25):
    x, g, e, m = positive(x, g, e, m)
    return 100.0 - bad_share(~(np.maximum(x / g, g / x) < ratio), m)


def quantile(x, g, e, m, percent=50.0, rule="linear"):
    errors = np.sort(np.abs(e))
    if not errors.size:
        return np.nan
    if rule == "linear":
        return float(np.percentile(errors.astype(np.float64), percent))
    n = errors.size
    at = n * percent / 100.0 if rule == "floor" else np.float32(n) * np.float32(percent / 100.0)
    return float(errors[min(int(np.floor(at)), n - 1)])


def same_side(x, g, e, m, threshold=3.0):
    return 100.0 - bad_share((x <= threshold) ^ (g <= threshold), m)


def wrongly_near(x, g, e, m, threshold=3.0):
    return bad_share(np.array([a <= threshold < b for a, b in zip(x, g, strict=True)], bool), m)


def wrongly_far(x, g, e, m, threshold=3.0):
    return wrongly_near(g, x, -e, m, threshold)
