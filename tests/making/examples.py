"""How many examples of a property a run draws."""

from hypothesis import settings

FEWEST = 5


def examples(number: int) -> settings:
    """Draw so many examples in `make test-all`, and as much fewer or more as the profile of another run says."""
    many = settings.get_profile("many").max_examples
    return settings(max_examples=max(FEWEST, number * settings.default.max_examples // many))
