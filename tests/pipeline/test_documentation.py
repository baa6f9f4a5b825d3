"""The generated files are what the study model and the declared tables say."""

from pathlib import Path

from reident.pipeline import documentation

ROOT = Path(__file__).parents[2]


def test_the_generated_files_are_what_the_declarations_say():
    generated = documentation.files(ROOT)
    assert len(generated) == 7
    stale = [path for path, text in generated.items() if (ROOT / path).read_text(encoding="utf-8") != text]
    assert stale == [], "run `make docs`"
