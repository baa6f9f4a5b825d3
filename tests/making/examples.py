"""How many examples of a property a run draws, and of how many variables."""

from hypothesis import settings

FEWEST = 3


def examples(number: int) -> settings:
    """Draw as many examples for a hundred of the profile: half of them in `make test-all`."""
    return settings(max_examples=max(FEWEST, number * settings.default.max_examples // 100))


def few_or_many(few: list[int], many: list[int]) -> list[int]:
    """Choose the cases of a quick run or of `make test-all`, as where each number of variables has its own kernel."""
    return few if settings.default.max_examples < settings.get_profile("many").max_examples else many
