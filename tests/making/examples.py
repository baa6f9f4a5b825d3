"""Cases of tables, and how many examples of a property a run draws."""

from collections.abc import Iterable

import pytest
from hypothesis import settings

FEWEST = 2


def cases(table: Iterable[tuple]) -> list:
    """Return the rows of a table as cases of a test, each named by its first cell."""
    return [pytest.param(*row, id=name) for name, *row in table]


def examples(number: int, *, many: int = 0, fewest: int = FEWEST) -> settings:
    """Draw as many examples for a hundred of the profile: half of them in `make test-all`, or at least `many`."""
    drawn = max(fewest, number * settings.default.max_examples // 100)
    return settings(max_examples=max(drawn, many) if is_many() else drawn)


def few_or_many(few: list[int], many: list[int]) -> list[int]:
    """Choose the cases of a quick run or of `make test-all`, as where each number of variables has its own kernel."""
    return many if is_many() else few


def is_many() -> bool:
    """Whether this run draws many examples, as `make test-all` does."""
    return settings.default.max_examples >= settings.get_profile("many").max_examples
