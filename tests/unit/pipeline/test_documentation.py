"""The generated files are what the study model and the declared tables say."""

from pathlib import Path

import pytest
from reident.pipeline import documentation

ROOT = Path(__file__).parents[3]
GENERATED = documentation.files(ROOT)


@pytest.mark.parametrize("path", GENERATED)
def test_a_generated_file_is_what_the_declarations_say(path):
    assert (ROOT / path).read_text(encoding="utf-8") == GENERATED[path], "run `make docs`"
