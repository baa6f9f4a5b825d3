"""Keep what statsmodels and scikit-learn find of two small files: ``python utility_peers.py``.

Makes tests/utility/published.json, which a test reads (METHODS §13): the files, the mean squared propensity scores of a
logistic regression with main effects and with products of two variables, and the coefficients of a linear regression
with their intervals. It needs an environment with both, and nothing of reident runs.
"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
import statsmodels
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression

KEPT = Path(__file__).resolve().parents[1] / "utility" / "published.json"
N = 120
DIGITS = 12


def files() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw made-up people, and the same people with noise, swapped regions and a top code."""
    rng = np.random.default_rng(13)
    age = rng.integers(18, 80, N).astype(float)
    region = rng.choice(["N", "E", "S"], N, p=[0.5, 0.3, 0.2])
    sex = rng.choice(["1", "2"], N)
    income = np.round(200 + 9 * age + 80 * (region == "N") + rng.normal(0, 90, N))
    original = pd.DataFrame({"age": age, "income": income, "region": region, "sex": sex})
    original.loc[rng.random(N) < 0.08, "income"] = np.nan
    released = original.copy()
    released["income"] = np.minimum(np.round(released["income"] + rng.normal(0, 40, N)), 900)
    swapped = rng.random(N) < 0.3
    released.loc[swapped, "region"] = rng.permutation(released.loc[swapped, "region"].to_numpy())
    released.loc[rng.random(N) < 0.1, "region"] = None
    return original, released


def design(original: pd.DataFrame, released: pd.DataFrame, order: int) -> np.ndarray:
    """The terms of the propensity model, without the intercept."""
    both = pd.concat([original, released], ignore_index=True)
    groups = []
    for name in both:
        column = both[name]
        if column.dtype.kind == "f":
            scaled = (column - column.mean()) / column.std(ddof=0)
            parts = [scaled.fillna(0)] + ([column.isna().astype(float)] if column.isna().any() else [])
        else:
            dummies = pd.get_dummies(column.fillna("?")).astype(float)
            parts = [dummies[level] for level in dummies if level != column.fillna("?").mode()[0]]
        groups.append(parts)
    columns = [column for parts in groups for column in parts]
    if order > 1:
        columns += [a * b for one, other in combinations(groups, 2) for a in one for b in other]
    return np.column_stack(columns)


def mean_square(probability: np.ndarray) -> float:
    """Return the mean squared distance of probabilities from one half."""
    return round(float(np.square(probability - 0.5).mean()), DIGITS)


def coefficients(frame: pd.DataFrame) -> list[list[float]]:
    """Regress income on age and region; one line of value, low and high for each coefficient."""
    known = frame.dropna()
    x = np.column_stack([known["age"], *(known["region"] == level for level in ("E", "S"))]).astype(float)
    fit = sm.OLS(known["income"], sm.add_constant(x)).fit(use_t=False)
    return [[round(float(v), 9) for v in line] for line in np.column_stack([fit.params, fit.conf_int()])]


def main() -> None:
    """Write the files and the figures."""
    original, released = files()
    outcome = np.repeat([0, 1], N)
    found = {}
    for order in (1, 2):
        x = design(original, released, order)
        ridge = LogisticRegression(C=1e6, tol=1e-14, max_iter=1000, solver="newton-cholesky").fit(x, outcome)
        found[f"scikit-learn {order}"] = mean_square(ridge.predict_proba(x)[:, 1])
    x = design(original.drop(columns="region"), released.drop(columns="region"), 1)
    plain = sm.Logit(outcome, sm.add_constant(x)).fit(method="newton", tol=1e-14, maxiter=100, disp=False)
    found["statsmodels without region"] = mean_square(plain.predict())
    sides = {"original": original, "released": released}
    kept = {
        "source": f"statsmodels {statsmodels.__version__}, scikit-learn {sklearn.__version__}",
        **{side: {name: [None if pd.isna(v) else v for v in own[name]] for name in own} for side, own in sides.items()},
        "pmse": found,
        "coefficients": {side: coefficients(own) for side, own in sides.items()},
    }
    KEPT.write_text(json.dumps(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
