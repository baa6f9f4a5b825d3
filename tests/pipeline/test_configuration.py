"""What a run is told beside its studies: which keys and values there are, and which study files it takes."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from reident.errors import InputError
from reident.pipeline import configuration
from reident.study import settings

CHECKOUT = Path(__file__).parents[2]
BUNDLED = yaml.safe_load((CHECKOUT / "config" / "config.yaml").read_text(encoding="utf-8"))
SCHEMA = json.loads((CHECKOUT / "workflow/schemas/config.schema.json").read_text(encoding="utf-8"))

TAKEN = [
    ("as it is", {}),
    ("numbers from the command line", {"shards": "20_000", "threads_on_a_cluster": "1"}),
    ("numbers from a file", {"shards": 10**12}),
    ("booleans", {"shared_results": "True"}),
    ("a study", {"study": "one.yaml,two.yaml"}),
    ("a list of studies", {"study": ["one.yaml", "two,three.yaml"]}),
    ("no study of its own", {"studies": []}),
]


@pytest.mark.parametrize(("sentence", "more"), TAKEN, ids=[case[0] for case in TAKEN])
def test_accepted_settings(sentence, more):
    settings.check({**BUNDLED, **more})
    jsonschema.Draft202012Validator(SCHEMA).validate({**BUNDLED, **more})


REFUSED = [
    ({"shards": "abc"}, "`shards` must be a positive integer. Correct"),
    ({"shards": 0}, "`shards`"),
    ({"shards": "00"}, "`shards`"),
    ({"shards": "-5"}, "`shards`"),
    ({"shards": 2.5}, "`shards`"),
    ({"shards": None}, "`shards`"),
    ({"threads_on_a_cluster": 0}, "`threads_on_a_cluster`"),
    ({"shared_results": "yes"}, "`shared_results` must be `true` or `false`"),
    ({"stduy": "x"}, "config: `stduy` is not a known key. Did you mean `study`?"),
    ({"zzz": "x"}, "config: `zzz` is not a known key. Use one of study, studies, shards"),
]


@pytest.mark.parametrize(("more", "says"), REFUSED)
def test_refused_settings(more, says):
    with pytest.raises(InputError) as caught:
        settings.check({**BUNDLED, **more})
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid({**BUNDLED, **more})
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
    ("a NUL character", {"study": "a\0b.yaml"}, "a?b.yaml contains a NUL character. Correct the path."),
    (
        "a long name",
        {"study": "ä" * 128 + "/s.yaml"},
        "has a name of more than 255 bytes. Rename the file or its folder.",
    ),
]


@pytest.mark.parametrize(("sentence", "config", "says"), NO_STUDIES, ids=[case[0] for case in NO_STUDIES])
def test_refused_lists_of_studies(tmp_path, sentence, config, says):
    with pytest.raises(InputError) as caught:
        configuration.study_files(config, tmp_path)
    assert says in str(caught.value)


COMMAS = [
    ("one file", ["a,b.yaml"], "a,b.yaml", ["a,b.yaml"]),
    ("two files", ["a", "b.yaml"], "a,b.yaml", ["a", "b.yaml"]),
    ("the whole first", ["a", "b.yaml", "a,b.yaml"], "a,b.yaml", ["a,b.yaml"]),
    (
        "a file with a comma among others",
        ["1.yaml", "a,b.yaml"],
        "1.yaml,a,b.yaml,2.yaml",
        ["1.yaml", "a,b.yaml", "2.yaml"],
    ),
    ("files that are not there", [], "a,b.yaml", ["a", "b.yaml"]),
    ("a blank after the comma", ["b.yaml"], "a, b.yaml", ["a", "b.yaml"]),
    ("a list", [], ["a,b.yaml", "c.yaml"], ["a,b.yaml", "c.yaml"]),
]


@pytest.mark.parametrize(("there", "given", "paths"), [case[1:] for case in COMMAS], ids=[case[0] for case in COMMAS])
def test_a_comma_in_the_path_of_a_file_divides_nothing(tmp_path, monkeypatch, there, given, paths):
    monkeypatch.chdir(tmp_path)
    for name in there:
        Path(name).touch()
    assert configuration.study_files({"study": given}, Path()) == [Path(path) for path in paths]
    if isinstance(given, str):  # as `reident validate` and the other commands take them
        assert configuration.named_studies([given, "z.yaml"], Path()) == [Path(path) for path in [*paths, "z.yaml"]]


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A checkout with its configuration, and the working directory of a user."""
    home, here = tmp_path / "checkout", tmp_path / "here"
    (home / "config").mkdir(parents=True)
    (home / "config/config.yaml").write_text("studies: [bundled.yaml]\n", encoding="utf-8")
    here.mkdir()
    monkeypatch.chdir(here)
    return home, here


def read(home, config):
    return [str(path) for path in configuration.read(config, home).study_files]


def test_the_studies_of_the_bundled_file_are_in_the_checkout_and_others_in_the_working_directory(folders):
    home, here = folders
    bundled = {"studies": settings.BUNDLED["studies"]}
    assert configuration.file(home) == str(home / "config/config.yaml")
    assert read(home, bundled) == ["../checkout/config/studies/example.yaml"]
    assert read(home, {"studies": ["one.yaml"]}) == ["one.yaml"], "of --configfile, --config or an importer"
    (here / "config").mkdir()
    (here / "config/config.yaml").write_text("studies: [one.yaml]\n", encoding="utf-8")
    assert configuration.file(home) == "config/config.yaml"
    assert read(home, bundled) == bundled["studies"]


def test_settings_that_are_not_given_have_their_defaults(folders):
    home, _ = folders
    found = configuration.read({"study": "a.yaml"}, home)
    assert (found.shards, found.threads_on_a_cluster, found.shared_results) == (1, 8, False)
    assert BUNDLED == settings.BUNDLED
    assert configuration.read({"study": "a.yaml", "shards": "20"}, home).shards == 20
