"""A metric has its place in each table, sentence and figure of the report that tells metrics apart."""

import pytest
from reident import language
from reident.linkage.metrics import REGISTRY
from reident.page import style, terms
from reident.report.blocks import choices
from reident.sections.language import LANGUAGES


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("metric", REGISTRY)
def test_words_say_what_each_metric_is(code, metric):
    with language.use(code):
        assert terms.about(metric) != terms.title(metric)


def test_a_metric_of_ones_own_has_the_words_of_its_declaration(monkeypatch):
    monkeypatch.setitem(REGISTRY, "agreements", REGISTRY["taxicab"]._replace(name="agreements", title="Agreements"))
    assert {terms.title("agreements"), terms.about("agreements"), terms.narrow_title("agreements")} == {"Agreements"}


def test_each_metric_has_a_look_of_its_own_and_its_choices():
    assert style.LINES.keys() - {"agreement"} == set(REGISTRY)
    assert len(set(style.LINES.values())) == len(style.LINES)
    assert set(choices.BY_METRIC) <= set(REGISTRY)
