"""Whatever a step can record in English is known to the report, which says it in its own language.

The sentences are taken from the code that writes them: every text that a warning, a cause of the row account or a
hazard can have, with a made-up value in each of its fields.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
import reident
from reident.linkage.metrics import REGISTRY
from reident.report import language, sentences
from reident.report.recorded import PARTS, TEXT, recorded
from reident.sections.language import DEFAULT_LANGUAGE, LANGUAGES

LIBRARY = Path(reident.__file__).parent
ROOMS = ("intake", "linkage", "verdict", "filerisk", "matching", "microaggregation", "attribution")
"""The rooms of the steps that record something."""

VALUE = "7"
"""Stands for a value that is known only when a step runs; a number, so that no field of words takes it for one."""

PASSES_ON = "Line(severity, warning, self.rows"
"""In the method that makes a warning of its argument; its calls are found as those of ``Line`` are."""

OTHERS = [code for code in LANGUAGES if code != DEFAULT_LANGUAGE]
TEMPLATES = sentences.entries(DEFAULT_LANGUAGE, TEXT.section)


Names = dict[str, list[tuple[ast.expr, "Names"]]]
"""What each name can stand for: expressions, each with what other names stand for in it alone."""


class Module:
    """A module that records sentences, with what its names can stand for."""

    def __init__(self, path: Path) -> None:
        self.name = str(path.relative_to(LIBRARY))
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.outer = _assigned([node for node in self.tree.body if isinstance(node, ast.Assign)])
        self.everywhere = _assigned(self.tree.body)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list
            ):
                # That of a protocol returns nothing.
                for returned in [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)][
                    :1
                ]:
                    self.outer.setdefault(f".{node.name}", []).append((returned, _assigned(node.body)))

    def makers(self) -> Iterator[tuple[ast.Call | ast.Return, Names]]:
        """Yield calls and returns of functions, with what names can stand for; an argument has the caller's name."""
        for function in ast.walk(self.tree):
            if isinstance(function, ast.FunctionDef):
                own = self.outer | _assigned(function.body)
                elsewhere = {} if PASSES_ON in ast.unparse(function) else self.everywhere
                for node in ast.walk(function):
                    if isinstance(node, (ast.Call, ast.Return)):
                        yield node, elsewhere | own

    def texts(self, node: ast.expr, names: Names, seen: frozenset[int] = frozenset()) -> list[str]:
        """Return every text that an expression can have, with :data:`VALUE` for what only a run knows."""
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.JoinedStr(values=parts):
                return ["".join(each) for each in product(*(self.texts(part, names, seen) for part in parts))]
            case ast.FormattedValue(value=inner):
                return self.texts(inner, names, seen)
            case ast.IfExp(body=body, orelse=orelse):
                return self.texts(body, names, seen) + self.texts(orelse, names, seen)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=table), attr="get"), args=[_, other]):
                found = names.get(table, [])
                values = [
                    value for content, _ in found if isinstance(content, ast.Dict) for value in content.values
                ]
                return [text for value in (*values, other) for text in self.texts(value, names, seen)]
            case ast.Name(id=name) | ast.Attribute(attr=name):
                name = name if isinstance(node, ast.Name) else f".{name}"
                if name in names and id(names[name]) not in seen:
                    inner = seen | {id(names[name])}
                    texts = (self.texts(value, names | own, inner) for value, own in names[name])
                    return [text for each in texts for text in each]
        return [VALUE]


def _assigned(body: list[ast.stmt]) -> Names:
    """Return the expressions that each name is assigned; one made of the name itself is made of those before it."""
    found: Names = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                for name, value in _pairs(node.targets[0], node.value):
                    before = found.get(name, [])
                    again = any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))
                    always = again and node is statement
                    found[name] = [*([] if always else before), (value, {name: before} if again else {})]
    return found


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield names with the expressions that they are assigned; both sides may be tuples, or a choice of tuples."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        sides = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        for side in sides:
            if isinstance(side, ast.Tuple):
                for each in zip(target.elts, side.elts, strict=True):
                    yield from _pairs(*each)


def written(group: str) -> dict[str, str]:
    """Return every text that the steps can record of a group of templates, with the module that writes it."""
    found = {}
    for room in ROOMS:
        for path in sorted((LIBRARY / room).glob("*.py")):
            module = Module(path)
            for node, names in module.makers():
                for recorded_ in _recorded_by(node, group):
                    for text in module.texts(recorded_, names):
                        assert text != VALUE or VALUE not in found, f"{module.name}, line {node.lineno}"
                        found[text] = module.name
    return found


def _recorded_by(node: ast.Call | ast.Return, group: str) -> list[ast.expr]:
    """Return what a call or a return records of a group."""
    match group, node:
        case "warnings", ast.Call(func=ast.Name("Line") | ast.Attribute(attr="Line"), args=[_, text, *_]):
            return [text]
        case "warnings", ast.Call(func=ast.Attribute(attr="line"), args=[text]):
            return [text]
        case "causes", ast.Call(
            func=ast.Attribute(value=ast.Name("account"), attr="add"), args=[_, _, left, *_]
        ):
            assert isinstance(left, ast.Dict), "a cause must be in a literal of the call, where it is found"
            return [text for text in left.keys if text is not None]
        case "hazards", ast.Call(func=ast.Attribute(value=ast.Name("hazards"), attr="append"), args=[text]):
            return [text]
        case "hazards", ast.Return(value=ast.List(elts=[ast.JoinedStr() as text])):
            return [text]
    return []


WRITTEN = {group: written(group) for group in ("warnings", "causes", "hazards")}
PASSED_ON = WRITTEN["warnings"].pop(VALUE)


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("group", WRITTEN)
def test_the_report_can_say_everything_that_a_step_records(group, code):
    """A sentence that fails here is new or has changed: correct its template in `recorded.yaml` of each language."""
    with language.use(code):
        unknown = {text: module for text, module in WRITTEN[group].items() if recorded(text, group) == text}
    assert unknown == {}


@pytest.mark.parametrize("group", WRITTEN)
def test_no_template_is_for_a_sentence_that_no_step_records(group):
    with language.use(OTHERS[0]):
        said = {recorded(text, group) for text in WRITTEN[group]}
    unused = {
        key
        for key, template in sentences.entries(OTHERS[0], TEXT.section)[group].items()
        if not any(re.fullmatch(re.sub(r"\\{\w+\\}", ".*", re.escape(template)), text) for text in said)
    }
    assert unused == set()


def test_as_many_sentences_are_found_as_there_are_templates():
    """The search for sentences finds them: at least one for each template, and none that it cannot read."""
    assert PASSED_ON == "intake/warnings.py"
    assert all(len(WRITTEN[group]) >= len(TEMPLATES[group]) for group in WRITTEN)
    modules = {module.split("/")[0] for module in WRITTEN["warnings"].values()}
    assert modules == {"intake", "verdict", "filerisk", "matching", "attribution"}


@pytest.mark.parametrize("code", OTHERS)
def test_the_names_of_metrics_are_those_of_the_report(code):
    """A warning calls a metric as tables and figures do."""
    names = TEMPLATES[PARTS]
    assert {entry.title for entry in REGISTRY.values()} == {
        text for key, text in names.items() if key.startswith("metric_")
    }
    own = sentences.entries(code, TEXT.section)[PARTS]
    shown = sentences.entries(code, "metrics")["titles"]
    assert {key: own[f"metric_{key}"] for key in shown} == dict(shown)
