"""What an intruder can be sure of: the surest claims and the agreement of metrics (METHODS §6.7, §6.8).

Reads  results/{study}/claims/, suspected/, confirmed/, strata/ and the links in prepared/
Makes  surest/{metric}.csv: how many of the claims of a metric are right, the surest first;
       agreement/rates.csv: the rates of the pairs that at least k metrics suspect; surest/agreement.csv: its claims;
       surest/{summary,curve}.csv: aggregates of the surest claims for the report
"""


rule order_claims:
    """Count the right claims of a metric, the surest first."""
    input:
        candidates=PLAN.all_claims,
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
    output:
        claims="results/{study}/surest/{metric}.csv",
        ledger="results/{study}/ledger/order_claims.{metric}.json",
    log:
        "results/{study}/logs/order_claims.{metric}.log",
    benchmark:
        "results/{study}/benchmarks/order_claims.{metric}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("order_claims"),
    script:
        "../scripts/order_claims.py"


rule compare_metrics:
    """Compute the rates of pairs that several metrics suspect, and summarize the surest claims."""
    input:
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
        clusters=PLAN.result("prepare", "prepared/clusters.parquet"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
        pairs=PLAN.results("confirm", "confirmed/{metric}.pairs.parquet"),
        suspected=PLAN.results("rank", "suspected/{metric}.parquet"),
        ordered=PLAN.results("order_claims", "surest/{metric}.csv"),
    output:
        rates="results/{study}/agreement/rates.csv",
        claims="results/{study}/surest/agreement.csv",
        summary=report(
            "results/{study}/surest/summary.csv",
            caption="../report/surest.rst",
            category="{study}",
            labels={"result": "The surest claims", "format": "CSV"},
        ),
        curve="results/{study}/surest/curve.csv",
        ledger="results/{study}/ledger/compare_metrics.json",
    log:
        "results/{study}/logs/compare_metrics.log",
    benchmark:
        "results/{study}/benchmarks/compare_metrics.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("compare_metrics"),
    script:
        "../scripts/compare_metrics.py"
