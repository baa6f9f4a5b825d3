"""The oracle's tolerance (METHODS §4): every pattern of agreement is scored as the definition of the metric says.

In a pattern each linking variable agrees completely, or differs completely; none is missing.
"""

from itertools import product


def most_that_differ(variables, suspected):
    """The most variables that differ in a pattern that is suspected; -1 if none is suspected."""
    patterns = sorted(product((False, True), repeat=len(variables)), key=sum, reverse=True)
    return next((sum(differs) for differs in patterns if suspected(differs)), -1)
