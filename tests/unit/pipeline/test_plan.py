"""What a run refuses before it plans jobs: studies that name files which are not there."""

import pytest
import yaml
from making.studies import plain
from reident.errors import InputError
from reident.pipeline import plan


@pytest.fixture
def families(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(plain()), encoding="utf-8")
    return plan.load_families([file])


def test_rules_of_another_workflow_do_not_need_the_sources(families):
    plan.check_files(families, {"deposit"})


@pytest.mark.parametrize("targets", [set(), {"all"}, {"rate"}, {"deposit", "rate"}], ids=sorted)
def test_steps_and_files_need_the_sources(families, targets):
    with pytest.raises(
        InputError, match=r"does not exist. Correct the path, which is relative to the study file"
    ):
        plan.check_files(families, targets)


def test_a_mistake_in_a_variant_is_refused_whatever_the_target(tmp_path):
    file = tmp_path / "study.yaml"
    variants = [{"set": "metrics.taxicab.alpha", "values": ["1/2", "0.5"]}]
    file.write_text(yaml.safe_dump(plain(variants=variants)), encoding="utf-8")
    with pytest.raises(InputError, match="is the same study as"):
        plan.load_families([file])


@pytest.mark.parametrize("targets", [set(), {"all"}, {"rate"}], ids=sorted)
def test_steps_need_a_study(targets):
    with pytest.raises(InputError, match=r"the settings name no study\. Name a study"):
        plan.check_files({}, targets)


def test_what_a_fork_server_imports_is_in_the_order_of_steps_and_has_what_scoring_leads_to(families):
    study = next(iter(families))
    found = plan.Plan(families, plan.RESULTS, lambda _: plan.RESULTS).modules(
        [(rule, study, None) for rule in ("report", "stratify", "resolve", "prepare")]
    )
    modules = [
        "reident.study.model",
        "reident.intake.prepare",
        "reident.linkage.strata",
        "reident.linkage.scoring",
    ]
    modules += ["reident.linkage.ranking", "reident.linkage.rates", "reident.report.figures"]
    assert [name for name in found if name in modules] == modules
    assert {f"reident.linkage.metrics.{name}" for name in families[study].study.chosen} <= set(found)


@pytest.mark.parametrize(
    ("jobs", "served"), [(1, False), (plan.FORKED_FROM - 1, False), (plan.FORKED_FROM, True)]
)
def test_a_fork_server_is_for_many_jobs_also_of_one_kind(families, jobs, served):
    made = plan.Plan(families, plan.RESULTS, lambda _: plan.RESULTS)
    assert bool(made.modules([("rate", next(iter(families)), None)] * jobs)) is served
