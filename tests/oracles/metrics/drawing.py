"""Options of random studies: a key is absent, or has one of some values."""

from hypothesis import strategies as st

ALPHAS = ["0.5", "1/3", "0.25", "1", "0.1", "0.999", "2/3"]


def options(**choices):
    """A mapping in which each key is absent (the default holds) or has one of its values."""
    return st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in choices.items()})
