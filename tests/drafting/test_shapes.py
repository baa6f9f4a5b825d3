"""What `reident init` drafts passes `reident validate`, without a warning that it could have seen in the files."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.shapes import SHAPES
from reident.command import main
from reident.validation.run import validate

ANSWERS = (
    (r"type: TODO(.*classification)", r"type: categorical\1"),
    (r"type: TODO", "type: numeric"),
    (r"sampling_fraction: TODO", "sampling_fraction: 0.1"),
    (r"(    \w+): TODO( +# such as \{rel)", r"\1: {relative: 0.1}\2"),
    (r"eif: TODO( +# perhaps `(\w+)`)", r"eif: \2\1"),
    (r"unknown_links_at_most: TODO( +# (\d+))", r"unknown_links_at_most: \2\1"),
)
"""What an analyst replaces in a draft, by the reason beside it."""

TOLD = (
    ("Weights vary by", "the weights vary by"),
    ("that of the EIF is the larger one in", "differ by a trend"),
    ("of the pairs of numbers differ by exactly", "differ by exactly one amount"),
)
"""What the draft itself says, where it can only be said."""


def decided(text: str) -> str:
    """Replace what is to be decided in a draft by what its reasons say."""
    flat = re.sub(r"(?<=\S)\n {10,}# (?=\S)", " ", text)  # a long reason takes several lines
    lines = (answered(line) if "TODO" in line.partition("#")[0] else line for line in flat.splitlines())
    return "\n".join(lines) + "\n"


def answered(line: str) -> str:
    """Replace what is to be decided on a line; codes that may mean missing do."""
    if certain := re.search(r"\(certain: (puf \[.*?\])?(?:, )?(eif \[.*?\])?(\[.*?\])?\)", line):
        both = [item for item in certain.groups()[:2] if item]
        sides = {side: [codes] for side, _, codes in (item.partition(" ") for item in both)}
        for side, more in re.findall(r"(puf|eif): (?:[^:]*?; )?([-\d, ]+?) in [\d,]+ records? may mean missing", line):
            sides.setdefault(side, ["[]"])
            codes = [*yaml.safe_load(sides[side][0]), *more.split(", ")]
            sides[side] = [json.dumps(codes)]
        written = ", ".join(f"{side}: {codes[0]}" for side, codes in sides.items())
        found = certain[3] or f"{{{written}}}"
        return re.sub(r"missing: .*?(?= +#)", f"missing: {found}", line)
    if proposed := re.search(r"write (\{.*?\}+)", line):
        return line.replace("TODO", proposed[1], 1)
    for old, new in ANSWERS:
        text, n = re.subn(old, new, line, count=1)
        if n:
            return text
    return line


def warnings(folder: Path, shape: str, seed: int) -> tuple[str, list[str]]:
    """Return the draft, decided, of the files of a shape, and what `validate` says of it."""
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / "study.yaml"
    out.unlink(missing_ok=True)
    assert main(["init", *SHAPES[shape](folder, np.random.default_rng(seed)), "--out", str(out)]) == 0
    text = decided(out.read_text(encoding="utf-8"))
    out.write_text(text, encoding="utf-8")
    return text, [line for line in validate([out]).lines if line.startswith(("Warning", "Error"))]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_draft_passes_without_a_warning_that_init_could_have_known(shape, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shape")

    @examples(3, fewest=1)
    @given(st.integers(0, 99))
    def check(seed):
        draft, lines = warnings(folder, shape, seed)
        told = [warned for said, warned in TOLD if said in draft]
        assert [line for line in lines if not any(one in line for one in told)] == []

    check()
