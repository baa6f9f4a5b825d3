"""What a run is told beside its studies: which keys and values there are, and which study files it takes."""

from pathlib import Path

import pytest
import yaml
from reident.errors import InputError
from reident.pipeline import configuration

BUNDLED = yaml.safe_load((Path(__file__).parents[3] / "config" / "config.yaml").read_text(encoding="utf-8"))

TAKEN = [
    ("as it is", {}),
    ("numbers from the command line", {"pairs_per_shard": "20_000", "threads_on_a_cluster": "1"}),
    ("numbers from a file", {"pairs_per_shard": 10**12}),
    ("booleans", {"shared_results": "True"}),
    ("a study", {"study": "one.yaml,two.yaml"}),
]


@pytest.mark.parametrize(("sentence", "more"), TAKEN, ids=[case[0] for case in TAKEN])
def test_accepted_settings(sentence, more):
    configuration.check({**BUNDLED, **more})


REFUSED = [
    (
        "a word for a number",
        {"pairs_per_shard": "abc"},
        "`pairs_per_shard` must be a positive integer. Correct",
    ),
    ("zero pairs in a shard", {"pairs_per_shard": 0}, "`pairs_per_shard`"),
    ("zero as text", {"pairs_per_shard": "00"}, "`pairs_per_shard`"),
    ("a negative number", {"pairs_per_shard": "-5"}, "`pairs_per_shard`"),
    ("a fraction of a pair", {"pairs_per_shard": 2.5}, "`pairs_per_shard`"),
    ("an absent number", {"pairs_per_shard": None}, "`pairs_per_shard`"),
    ("zero processors", {"threads_on_a_cluster": 0}, "`threads_on_a_cluster`"),
    (
        "a value that is not a boolean",
        {"shared_results": "yes"},
        "`shared_results` must be `true` or `false`",
    ),
    ("an unknown key", {"stduy": "x"}, "config: `stduy` is not a known key. Did you mean `study`?"),
    (
        "a key unlike any other",
        {"zzz": "x"},
        "config: `zzz` is not a known key. Use one of study, studies, pairs_per",
    ),
]


@pytest.mark.parametrize(("sentence", "more", "says"), REFUSED, ids=[case[0] for case in REFUSED])
def test_refused_settings(sentence, more, says):
    with pytest.raises(InputError) as caught:
        configuration.check({**BUNDLED, **more})
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_studies_of_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = configuration.study_files({"study": "one.yaml,in/two.yaml", "studies": ["x"]}, tmp_path)
    assert found == [Path("one.yaml"), Path("in/two.yaml")]
    assert configuration.study_files({"studies": ["a.yaml"]}, tmp_path / "home") == [Path("home/a.yaml")]


NO_STUDIES = [
    ("a brace in the folder", {"study": "in{a}/s.yaml"}, "in{a}/s.yaml contains a brace"),
    ("half a brace in a listed one", {"studies": ["a}.yaml"]}, "Rename the file or its folder."),
    ("one text for a list", {"studies": "a.yaml"}, "`studies` must be a list of study files"),
    ("no study", {}, "name a study with `--config study=PATH`"),
]


@pytest.mark.parametrize(("sentence", "config", "says"), NO_STUDIES, ids=[case[0] for case in NO_STUDIES])
def test_refused_lists_of_studies(tmp_path, sentence, config, says):
    with pytest.raises(InputError) as caught:
        configuration.study_files(config, tmp_path)
    assert says in str(caught.value)
