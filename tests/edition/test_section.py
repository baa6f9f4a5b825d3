"""The section `release` and its policy: which are refused, with which sentence, and which files they depend on."""

import json
from types import SimpleNamespace

import pytest
import yaml
from making import studies
from making.studies import check, refusal
from pydantic import ValidationError
from reident.archive import changes, collect
from reident.errors import InputError
from reident.ledger.chain import changed_sources, digest
from reident.pipeline import digests, family
from reident.pipeline.plan import Plan, load_families
from reident.sections.release import Policy
from reident.study import model

SEED = "the secret of the tests"
OURS = """\
title: Ours
version: 1
source: Our handbook.
scope: Rounded.
rounding: nearest
small: {below: 10, shown: "<10"}
zero: small
bands: [{up_to: 99, nearest: 10}, {nearest: 50}]
"""


def saved(folder, rules=OURS, variants=None, **release):
    release = {"policy": "ours.yaml", **release}
    return studies.saved_with(folder, "ours.yaml", rules, release=release, variants=variants)


def test_keys_of_policies_for_numbers_that_are_gone_change_nothing():
    old = "cut_points: {significant_digits: 2}\nrates: {decimals: 1}\nextremes: shown\nintervals: absent\n"
    assert Policy.model_validate(yaml.safe_load(OURS + old)) == Policy.model_validate(yaml.safe_load(OURS))


BAD_POLICIES = [
    (("title: Ours\n", ""), "`title` is missing"),
    (("source: Our handbook.\n", ""), "`source` is missing"),
    (("scope: Rounded.\n", ""), "`scope` is missing"),
    (("scope: Rounded.", 'scope: " "'), "line 4: `scope` must have at least 1 character"),
    (("version: 1", "version: 0"), "line 2: `version` must be at least 1"),
    (("version: 1", "version: one"), "line 2: `version` must be an integer"),
    (("nearest\nsmall", "up\nsmall"), "line 5: `rounding` must be `nearest`, `midpoint` or `random`"),
    (("zero: small", "zeros: small"), "line 7: `zeros` is not a known key. Did you mean `zero`?"),
    (("version: 1\n", "version: 1\nversion: 2\n"), "line 3: `version` is given twice"),
    ((OURS, "- a\n"), "the file must consist of keys such as `title:` and `rounding:`"),
    (("below: 10", "below: 1"), "line 6: `small.below` must be at least 2"),
    (('"<10"', '"<15"'), "line 6: `small.shown` must be `<10`, as `below` is 10. Correct one of the two."),
    (('"<10"', "5"), "line 6: `small.shown` must be `<` and an integer, or two"),
    (('"<10"', '"=A1"'), "`small.shown` must be `<` and an integer, or two"),
    (('"<10"', "x"), "`small.shown` must be `<` and an integer, or two or more"),
    (('small: {below: 10, shown: "<10"}\n', ""),
     "line 6: `zero` must be `shown` in a policy without `small`. Correct it, or add `small`."),
    (("bands: [{up_to: 99, nearest: 10}, {nearest: 50}]\n", ""), "`bands` is missing"),
    (("[{up_to: 99, nearest: 10}, {nearest: 50}]", "[]"), "line 8: `bands` must have at least 1 item"),
    (("{nearest: 50}", "{up_to: 999, nearest: 50}"),
     "line 8: `bands` must have `up_to` in every band but the last. Correct the bands."),
    (("{up_to: 99, nearest: 10}", "{nearest: 10}"), "line 8: `bands` must have `up_to` in every band but the last"),
    (("{up_to: 99, nearest: 10}", "{up_to: 99, nearest: 10}, {up_to: 50, nearest: 20}"),
     "line 8: `bands[2].up_to` must be greater than 99, the largest count before it. Correct it."),
    (("up_to: 99", "up_to: 9"), "line 8: `bands[1].up_to` must be greater than 9, the largest count before it"),
    (("{nearest: 50}", "{nearest: 50, significant_digits: 2}"),
     "line 8: `bands[2]` must have exactly one of `nearest` and `significant_digits`"),
    (("nearest: 10}", "}"), "line 8: `bands[1]` must have exactly one of `nearest` and"),
    (("{nearest: 50}", "{nearest: 0}"), "line 8: `bands[2].nearest` must be at least 1"),
    (("up_to: 99", "up_to: 120"),
     "line 8: `bands` must keep the order of counts, but 120 becomes 120 and 121 becomes 100. Correct `up_to`."),
    (('{below: 10, shown: "<10"}', '{below: 5, shown: "<5"}'),
     "line 6: `small.below` must be so large that 5 is not published as 0. Increase it."),
    (("nearest\nsmall", "random\nsmall"),
     "line 8: `bands` must be one band with `nearest` if `rounding` is `random`. Remove the others."),
    (("nearest\nsmall", "exact\nsmall"), "must round: exact counts must not leave, and the internal report has them"),
    (("zero: small", "zero: small\ninternal: true"), "must round: exact counts must not leave"),
    (("nearest: 50}", "nearest: 1}"), "must round every count that is not small, so that no record is certain"),
    (("zero: small", "zero: small\nprotect: {rounded: 1.5}"), "`protect.rounded` must be at most 1"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "message"), BAD_POLICIES)
def test_a_mistake_in_a_policy_is_named_with_its_file_and_line(tmp_path, edit, message):
    assert edit[0] in OURS
    path = saved(tmp_path, OURS.replace(*edit))
    with refusal(tmp_path / "ours.yaml", message, line=False):
        check(path)


BAD_SECTIONS = [
    ({"policy": None}, "`release.policy` must not be absent or null"),
    ({"policy": "census-drp"}, "or the path of a file that ends in `.yaml`. Did you mean `census-drb`?"),
    ({"policy": "theirs.yaml"}, "`release.policy`: theirs.yaml does not exist. Correct"),
    ({"seed": "fifteen letters"}, "`release.seed` must have at least 16 characters"),
    ({"seed": SEED},
     "`release.seed` must not be given with the policy `ours.yaml`, which does not round at random. Remove it."),
    ({"policy": "base-5-random"},
     "`release` must have a `seed`, because the policy `base-5-random` rounds at random. Add one of at least 16"),
    ({"after": ["old", "old"]}, "`old` is given twice in `after`"),
    ({"after": [f"{at}.zip" for at in range(21)]}, "`release.after` must have at most 20 items"),
    ({"after": ["{old}.zip"]}, "contains a brace"),
    ({"known": ["puf"]}, "`release.known` must not be given: an edition now holds against readers who have both files"),
    ({"policy": "none"}, "`release.policy` must not be `none`, which rounds nothing: the internal report has"),
    ({"released_means": "above"}, "`release.released_means` must be `within`"),
    ({"one_to_one": "perhaps"}, "`release.one_to_one` must be `true` or `false`"),
    ({"polici": "opensafely"}, "`release.polici` is not a known key. Did you mean `policy`?"),
]  # fmt: skip


@pytest.mark.parametrize(("section", "message"), BAD_SECTIONS)
def test_a_mistake_in_the_section_is_named_with_the_line_of_the_study(tmp_path, section, message):
    path = saved(tmp_path, **section)
    with pytest.raises(InputError, match=rf"^{path}, line \d+: ") as error:
        check(path)
    assert message in str(error.value)
    assert SEED not in str(error.value)


def test_a_variant_must_not_change_the_release(tmp_path):
    path = saved(tmp_path, variants=[{"set": "release.policy", "values": ["opensafely"]}])
    with pytest.raises(InputError, match=r"variant `policy-opensafely`: `release` must not be changed by a variant"):
        check(path)


def test_the_plan_asks_for_the_files_of_rounding_and_the_report_depends_on_them(tmp_path):
    plan = Plan(load_families([saved(tmp_path)]), tmp_path / "notebook.ipynb", lambda _: tmp_path)
    wildcards = SimpleNamespace(study="plain")
    assert plan.rounding(wildcards) == {"policy": str(tmp_path / "ours.yaml")}
    assert plan.reported(wildcards)["source_policy"] == str(tmp_path / "ours.yaml")
    assert plan.rounding_digests(wildcards) == [digests.sha256(tmp_path / "ours.yaml")]
    assert len(plan.source_digests(wildcards)) == 3


def test_a_changed_policy_or_earlier_edition_breaks_the_chain_of_a_step_that_read_it(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old/edition.json").touch()
    path = saved(tmp_path, after=["old"])
    (member,) = family.Family(path).members
    declared = family.sources(member.study, path)
    read = {side: [{"path": f"source:{file.name}", "sha256": digest(file)}] for side, file in declared.items()}
    assert list(changed_sources({"inputs": read}, declared, digest)) == []
    for side in ("policy", "edition_1"):
        declared[side].write_text("title: Theirs\n", encoding="utf-8")
    found = list(changed_sources({"inputs": read}, declared, digest))
    assert found == [tmp_path / "ours.yaml", tmp_path / "old/edition.json"]


def test_the_seed_is_in_the_resolved_study_and_in_no_text_about_it():
    study = studies.study(release={"policy": "base-5-random", "seed": SEED})
    assert json.loads(model.canonical_json(study))["release"]["seed"] == SEED
    assert SEED not in repr(study)
    with pytest.raises(ValidationError) as error:
        studies.study(release={"policy": "base-5-random", "seed": SEED, "after": 7})
    assert SEED not in str(error.value)


def test_a_comparison_of_releases_says_that_the_seed_changed_and_not_to_what():
    before, after = (
        SimpleNamespace(study=model.plain(studies.study(release={"policy": "base-5-random", "seed": seed})))
        for seed in (SEED, f"{SEED} 2")
    )
    assert changes.options(before, after) == [("study", "release.seed", "(secret)", "(secret)")]


def test_a_seal_has_the_file_of_an_earlier_edition_and_of_a_sealed_one_only_its_digest(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old/edition.json").touch()
    (tmp_path / "older.zip").touch()
    lines = {
        line["path"]: line for line, _ in collect.code_files(family.Family(saved(tmp_path, after=["old", "older.zip"])))
    }
    assert lines["ours.yaml"]["bag"] == "study/ours.yaml"
    assert lines["old/edition.json"]["bag"] == "study/old/edition.json"
    assert lines["older.zip"]["bag"] is None
