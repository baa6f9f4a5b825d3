"""Checklists: which files of questions and which answers are refused, and what an answer makes stale."""

import pytest
from making.studies import check, refusal, saved_with
from reident.pipeline import family
from reident.pipeline.steps import wanted
from reident.sections.checklist import BUNDLED
from reident.study import checklists

QUESTIONS = """\
title: Ours
topics:
  - title: First
    questions:
      - {id: smallest-area, text: "How small?", why: It matters., exhibits: [smallest_stratum]}
      - {id: age, text: "How old?", why: It fades.}
"""


def saved(folder, questions=QUESTIONS, **checklist):
    return saved_with(folder, "ours.yaml", questions, checklist={"file": "ours.yaml", **checklist})


@pytest.mark.parametrize("path", sorted(checklists.FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_bundled_checklist_is_complete(path):
    questions = checklists.load(path)
    assert len(questions.all) >= 14
    assert all(question.text.endswith("?") and question.why.endswith(".") for question in questions.all)
    assert path.stem == BUNDLED or all(question.clause for question in questions.all)


def test_the_page_on_regulators_has_the_numbers_of_the_questions():
    page = (checklists.FOLDER.parents[1] / "docs/how-to/regulators.md").read_text(encoding="utf-8")
    for path in checklists.FOLDER.glob("*.yaml"):
        every = checklists.load(path).all
        n = sum(bool(question.exhibits) for question in every)
        assert f"| `{path.stem}` | {len(every)} | {n} | {len(every) - n} |" in page


def test_a_study_asks_the_questions_of_several_checklists(tmp_path):
    names = sorted(path.stem for path in checklists.FOLDER.glob("*.yaml"))
    answers = {"nist-goals": "Research.", "age": "Old."}
    own = QUESTIONS.replace("smallest-area", "own-area")
    path = saved(tmp_path, own, file=names[0], further=[*names[1:], "ours.yaml"], answers=answers)
    check(path)
    (member,) = family.Family(path).members
    files = [file for side, file in family.sources(member.study, path).items() if side.startswith("checklist")]
    table = checklists.table([checklists.load(file) for file in files], member.study.checklist.answers)
    assert table["checklist"].nunique() == len(names) + 1
    assert table["id"].is_unique
    assert dict(table.loc[table["answer"] != "", ["id", "answer"]].to_numpy()) == answers


BAD_QUESTIONS = [
    (("id: age", "id: smallest-area"), "line 1: `smallest-area` is given twice in `id`"),
    (("smallest_stratum", "smallest_area"), "line 5: `topics[1].questions[1].exhibits[1]` must be"),
    (("[smallest_stratum]", "[dis, dis]"), "line 5: `topics[1].questions[1]`: `dis` is given twice"),
    ((", why: It fades.", ""), "line 6: `topics[1].questions[2].why` is missing"),
    (('"How old?"', '"  "'), "line 6: `topics[1].questions[2].text` must have at least 1 character"),
    (("id: age", "id: Age"), "line 6: `topics[1].questions[2].id` must consist of lower-case"),
    (("It fades.}", "It fades., whi: x}"), "`topics[1].questions[2].whi` is not a known key. Did"),
    ((QUESTIONS, "title: Ours\ntopics: []\n"), "line 2: `topics` must have at least 1 item, but has 0"),
    ((QUESTIONS, "- a\n"), "the file must consist of keys such as `title:`"),
    (("title: Ours\n", "title: Ours\ntitle: Ours\n"), "line 2: `title` is given twice"),
    (("why: It fades.}", "why: It fades."), "the file is not valid YAML"),
    (("How old?", "x" * 2001), "must have at most 2000 characters"),
]


@pytest.mark.parametrize(("edit", "message"), BAD_QUESTIONS)
def test_a_mistake_in_the_questions_is_named_with_its_file_and_line(tmp_path, edit, message):
    assert edit[0] in QUESTIONS
    path = saved(tmp_path, QUESTIONS.replace(*edit))
    with refusal(tmp_path / "ours.yaml", message, line=False):
        check(path)


PERSON = {"name": "A. Adams", "role": "chair"}
DECIDED = {"decision": "approved", "date": "2026-03-02", "names": [PERSON]}
BAD_SECTIONS = [
    ({"answers": {"smalest-area": "x"}}, "is not the id of a question of `ours.yaml`. Did you mean `smallest-area`?"),
    ({"answers": {"zzz": "x"}}, "is not the id of a question of `ours.yaml`. Remove it, or correct"),
    ({"answers": {"age": None}}, "`checklist.answers.age` must not be absent or null"),
    ({"answers": {"age": " \n "}}, "`checklist.answers.age` must have at least 1 character"),
    ({"answers": {"age": "x" * 2001}}, "`checklist.answers.age` must have at most 2000 characters"),
    ({"answers": {"age": ["x"]}}, "`checklist.answers.age` must be a single value"),
    ({"file": "federal-disclosure"},
     (f"`checklist.file` must be `{BUNDLED}`, `ico-motivated-intruder`, `ipc-ontario`, `iso-iec-27559`, "
     f"`nist-sp-800-188` or the path of a file that ends in `.yaml`. Did you mean `{BUNDLED}`?")),
    ({"further": ["federal-disclosure"]}, "`checklist.further[1]` must be `federal-disclosure-potential`, "),
    ({"further": ["theirs.yaml"]}, "`checklist.further[1]`: theirs.yaml does not exist"),
    ({"further": ["ours.yaml"]}, "`checklist`: `ours.yaml` is given twice in `further`"),
    ({"further": ["./ours.yaml"]},
     "`checklist.further[1]` must not have the question `smallest-area`, whose id is in another checklist"),
    ({"file": "theirs.yaml"}, "`checklist.file`: theirs.yaml does not exist. Correct the path"),
    ({"decision": {**DECIDED, "decision": "approved with conditions"}},
     "`checklist.decision.conditions` must be given with"),
    ({"decision": {**DECIDED, "conditions": ["x"]}}, "`checklist.decision.conditions` must be given with"),
    ({"decision": {**DECIDED, "names": []}}, "`checklist.decision.names` must have at least 1 item"),
    ({"decision": {**DECIDED, "decision": "maybe"}}, "must be `approved`, `approved with conditions` or `rejected`"),
    ({"decision": {**DECIDED, "date": "2026-02-30"}}, "is not a valid date (YYYY-MM-DD)"),
]  # fmt: skip


@pytest.mark.parametrize(("section", "message"), BAD_SECTIONS)
def test_a_mistake_in_the_section_is_named_with_the_line_of_the_study(tmp_path, section, message):
    path = saved(tmp_path, **section)
    with refusal(path, message):
        check(path)


def test_an_answer_is_one_paragraph_whatever_its_lines(tmp_path):
    path = saved(tmp_path, answers={"age": "one\n\ntwo\t three \n", "smallest-area": "x" * 2000})
    check(path)
    (member,) = family.Family(path).members
    lines = checklists.table([checklists.load(tmp_path / "ours.yaml")], member.study.checklist.answers)
    assert lines["answer"].tolist() == ["x" * 2000, "one two three"]
    assert lines["exhibits"].tolist() == ["smallest_stratum", ""]


def test_an_answer_concerns_the_checklist_and_the_resolved_study_alone(tmp_path):
    """The report reads both of them."""
    before, after = (family.Family(saved(tmp_path, answers={"age": text})) for text in ("old", "new"))
    rules = [step.rule for step in wanted(before.study) if step.rule not in ("score", "confirm")]
    changed = {rule for rule in rules if before.digest("", rule) != after.digest("", rule)}
    assert changed == {"resolve", "checklist"}
    assert {"rate", "report"} <= set(rules)
