"""Rates, what an intruder can be sure of, and what the report tells of files and pairs (METHODS §6).

Reads  results/{study}/suspected/, confirmed/, surest/, prepared/, binned/, strata/
Makes  rates.csv: one line per metric and stratum, and for the whole study;
       clusters.csv: the same of clusters, such as households;
       units/{members,sizes}.csv: the members of suspected and confirmed units, and units by size, in a study of units;
       protection/rates.csv: the rates before and after protection;
       description/{variables,agreement,overlap}.csv: aggregates for the report;
       agreement/rates.csv: the rates of the pairs that at least k metrics suspect; surest/agreement.csv: its claims
       (METHODS §6.8); surest/{summary,curve}.csv: aggregates of the surest claims for the report
"""


rule rate:
    """Compute the rates, on a chain of steps that closes, compare the metrics, and describe the linking variables."""
    input:
        unpack(PLAN.files("linked", "source_")),
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
        eif=PLAN.result("prepare", "prepared/eif.parquet"),
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
        binned_puf=PLAN.result("bin", "binned/puf.parquet"),
        binned_eif=PLAN.result("bin", "binned/eif.parquet"),
        clusters=PLAN.result("prepare", "prepared/clusters.parquet"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
        accounts=PLAN.accounts,
        pairs=PLAN.results("confirm", "confirmed/{metric}.pairs.parquet"),
        limits=PLAN.results("confirm", "confirmed/{metric}.limits.csv"),
        suspected=PLAN.results("rank", "suspected/{metric}.parquet"),
        ordered=PLAN.results("confirm", "surest/{metric}.csv"),
        model=PLAN.weights("model"),
    output:
        rates=report(
            "results/{study}/rates.csv",
            caption="../lib/reident/linkage/rates.rst",
            category="{study}",
            labels={"result": "Rates", "format": "CSV"},
        ),
        clusters="results/{study}/clusters.csv",
        variables="results/{study}/description/variables.csv",
        agreement="results/{study}/description/agreement.csv",
        overlap="results/{study}/description/overlap.csv",
        agreement_rates="results/{study}/agreement/rates.csv",
        agreement_claims="results/{study}/surest/agreement.csv",
        surest=report(
            "results/{study}/surest/summary.csv",
            caption="../lib/reident/linkage/surest.rst",
            category="{study}",
            labels={"result": "The surest claims", "format": "CSV"},
        ),
        curve="results/{study}/surest/curve.csv",
        ledger="results/{study}/ledger/rate.json",
    log:
        "results/{study}/logs/rate.log",
    benchmark:
        "results/{study}/benchmarks/rate.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("rate"),
    script:
        "../scripts/rate.py"


rule count_members:
    """Count the members of suspected and confirmed units, and the units by their size."""
    input:
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
        eif=PLAN.result("prepare", "prepared/eif.parquet"),
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
        binned_puf=PLAN.result("bin", "binned/puf.parquet"),
        binned_eif=PLAN.result("bin", "binned/eif.parquet"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
        pairs=PLAN.results("confirm", "confirmed/{metric}.pairs.parquet"),
    output:
        members="results/{study}/units/members.csv",
        sizes="results/{study}/units/sizes.csv",
        ledger="results/{study}/ledger/count_members.json",
    log:
        "results/{study}/logs/count_members.log",
    benchmark:
        "results/{study}/benchmarks/count_members.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("count_members"),
    script:
        "../scripts/count_members.py"


rule compare_protection:
    """Put the rates before and after protection beside each other, on chains of steps that close."""
    input:
        tables=PLAN.listed(
            PLAN.result("rate", "rates.csv"),
            PLAN.result("stratify", "strata/manifest.csv"),
            PLAN.before_protection("rate", "rates.csv"),
            PLAN.before_protection("stratify", "strata/manifest.csv"),
        ),
    output:
        rates=report(
            "results/{study}/protection/rates.csv",
            caption="../lib/reident/protection/rates.rst",
            category="{study}",
            labels={"result": "Rates before and after protection", "format": "CSV"},
        ),
        ledger="results/{study}/ledger/compare_protection.json",
    log:
        "results/{study}/logs/compare_protection.log",
    benchmark:
        "results/{study}/benchmarks/compare_protection.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("compare_protection"),
    script:
        "../scripts/compare_protection.py"
