"""Show the board's checklist with its answers and exhibits, and the form or the record of its decision."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import date as Date
from typing import Any, NamedTuple

from reident import language
from reident.outcomes import VERDICT
from reident.page.layout import Piece, Text, block, box, items, paragraphs
from reident.page.sentences import Sentences
from reident.page.wording import NO_BREAK, day, listed, whole
from reident.report.blocks.exhibits import EXHIBITS
from reident.report.blocks.front import verdict_in_words
from reident.report.results import RESOLVED, Results

TEXT = Sentences("checklist")
ANNEX = Sentences("annex")
CHECKLIST = "checklist.csv"
N_SIGNATURES = 3


class Question(NamedTuple):
    """A question as the report shows it: its number, list and topic, Markdown for it and for each of its answers."""

    number: int
    checklist: str
    topic: str
    text: str
    answers: list[str]


def questions(results: Results) -> Iterator[Question]:
    """Yield the questions of the checklist with their answers."""
    for at, line in enumerate(results.table(CHECKLIST).itertuples(), start=1):
        why = whole(str(line.why))
        if clause := getattr(line, "clause", ""):  # not in a bag of an earlier release
            why = TEXT("clause", why=why, clause=whole(str(clause)))
        text = TEXT("question", number=at, text=whole(str(line.question)), why=why)
        answers = [whole(str(line.answer))] if line.answer else []
        names = str(line.exhibits).split(", ") if line.exhibits else []
        yield Question(at, str(line.checklist), str(line.topic), text, [*answers, *_exhibits(results, names)])


def _exhibits(results: Results, names: list[str]) -> Iterator[str]:
    """Yield the answers by the results, each with the table that it comes from."""
    for name in names:
        if text := EXHIBITS[name](results):
            tables = [read for read in EXHIBITS[name].reads if read != RESOLVED]
            source = f"`{tables[0]}`" if tables else TEXT("study_file")
            yield TEXT("exhibit", text=text, source=source)


def checklist_topics(results: Results) -> list[Piece]:
    """Return a subsection for every topic of the checklist, below its title where there are several; none without."""
    if not results.has(CHECKLIST):
        return []
    with language.use(results.language):
        entries = list(questions(results))
    lists = {title: list(group) for title, group in itertools.groupby(entries, lambda question: question.checklist)}
    if len(lists) == 1:
        return _topics(entries)
    return [(Text(whole(title)), *_topics(group)) for title, group in lists.items()]


def _topics(entries: list[Question]) -> list[Piece]:
    topics = dict.fromkeys(question.topic for question in entries)
    return [_topic(topic, [question for question in entries if question.topic == topic]) for topic in topics]


def _topic(topic: str, entries: list[Question]) -> Piece:
    def text(_: Results) -> str:
        return paragraphs(*(box("question", q.text, *(q.answers or [TEXT("not_assessed")])) for q in entries))

    return (Text(whole(topic)), block(CHECKLIST)(text))


def _open(results: Results) -> list[str]:
    return [str(question.number) for question in questions(results) if not question.answers]


@block(CHECKLIST)
def checklist(results: Results) -> str:
    """Name each checklist, count its questions and name those that are not assessed."""
    entries = list(questions(results))
    texts = []
    for title, group in itertools.groupby(entries, lambda question: question.checklist):
        answers = {str(question.number): bool(question.answers) for question in group}
        open_ = [number for number, is_answered in answers.items() if not is_answered]
        fields = {"answered": len(answers) - len(open_), "open": len(open_)}
        text = TEXT("summary", title=whole(title), questions=len(answers), **fields)
        texts.append(f"{text} {TEXT('open_numbers', n=len(open_), numbers=listed(open_))}" if open_ else text)
    return paragraphs(*texts)


@block(RESOLVED, VERDICT)
def sign_off(results: Results) -> str:
    """Return the box in which the board decides and signs, or its decision where the study records one."""
    decision = (results.study.get("checklist") or {}).get("decision")
    result = ANNEX("decision.result", verdict=verdict_in_words(results))
    n_open = len(_open(results)) if results.has(CHECKLIST) else 0
    note = f"{result} {TEXT('open', n=n_open)}" if n_open else result
    lines = _decided(results, decision) if decision else _undecided(results)
    return box(
        "decision", f"# {ANNEX('decision.heading')} {{.brief}}", note, *lines, box("foot", ANNEX("decision.foot"))
    )


def _undecided(results: Results) -> list[str]:
    signature = [*ANNEX.group("decision.signature").values()]
    return [
        ANNEX("decision.text", released=_released(results)),
        box("options", *ANNEX.group("decision.options").values()),
        box("lines", *(text for line in ANNEX.group("decision.lines").values() for text in (line, NO_BREAK))),
        box("signatures", *N_SIGNATURES * signature),
    ]


def _released(results: Results) -> str:
    released = ANNEX.group("decision.released")
    default = released.pop("other")
    return listed([name for section, name in released.items() if results.study.get(section)]) or default


def _decided(results: Results, decision: dict[str, Any]) -> Iterator[str]:
    """Yield the decision of the board, its conditions, and a line for the signature of each of its members."""
    board = whole(decision["board"]) if decision["board"] else ANNEX("decision.board")
    yield ANNEX(
        "decision.decided", board=board, date=day(Date.fromisoformat(decision["date"])), released=_released(results)
    )
    marked = {"approved": "release", "approved with conditions": "conditions", "rejected": "refuse"}
    options = ANNEX.group("decision.options")
    options[marked[decision["decision"]]] = options[marked[decision["decision"]]].replace("☐", "☒")
    conditions = [whole(text) for text in decision["conditions"]]
    yield box("options", *options.values())
    if conditions:
        yield ANNEX("decision.conditions")
        yield items(conditions)
    signature = ANNEX.group("decision.signature")
    for person in decision["names"]:
        name = f"{whole(person['name'])}, {whole(person['role'])}"
        yield box("signatures", name, signature["date"], signature["signature"])
