"""A metric has its place in each table, sentence and figure of the report that tells metrics apart."""

import pytest
from reident import language
from reident.linkage.metrics import REGISTRY
from reident.page import style
from reident.page.sentences import Sentences
from reident.report.blocks import choices
from reident.sections.language import LANGUAGES

SENTENCES = [("edition", "metric")]
"""The group of sentences that says what each metric is."""


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(("section", "group"), SENTENCES)
def test_sentences_say_what_each_metric_is(code, section, group):
    with language.use(code):
        assert set(Sentences(section).names(group)) == set(REGISTRY)


def test_each_metric_has_a_look_of_its_own_and_its_choices():
    assert style.LINES.keys() - {"agreement"} == set(REGISTRY)
    assert len(set(style.LINES.values())) == len(style.LINES)
    assert set(choices.BY_METRIC) == set(REGISTRY)
