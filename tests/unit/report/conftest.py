"""Results that several tests of the report share."""

import pytest
from making.report import Shape, write_results
from reident.report.results import Results


@pytest.fixture
def results(tmp_path):
    """Return a function that makes the results of a shape."""
    return lambda **shape: Results(write_results(tmp_path / "results", Shape(**shape)))
