"""Matching-based risk of synthetic data (METHODS §8).

Reads  the confidential file and the synthetic files, declared or simulated, and a holdout where there is one
Makes  results/{study}/simulated/{confidential,synthetic_1,…,holdout}.csv where the study simulates them;
       matching/prepared/{confidential,synthetic,holdout}.parquet: typed, row beside row;
       matching/{account,warnings,correspondence}.csv;
       matching/records.parquet: c, T, K, F of every target by file;
       matching/{summary,scenarios,distribution,variables,pooled}.csv: aggregates for the report;
       matching/closest.{parquet,csv}, matching/{premise,nearness,distances}.csv: distances to the closest record (§8.1),
       where wanted
"""


rule synthesize:
    """Draw one file of a simulated release: the confidential survey, a synthetic file of it, or the holdout."""
    output:
        file="results/{study}/simulated/{side}.csv",
        ledger="results/{study}/ledger/synthesize.{side}.json",
    log:
        "results/{study}/logs/synthesize.{side}.log",
    benchmark:
        "results/{study}/benchmarks/synthesize.{side}.tsv"
    wildcard_constraints:
        side=r"confidential|synthetic_\d+|holdout",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("synthesize"),
    script:
        "../scripts/synthesize.py"


rule prepare_matching:
    """Read and type the confidential file and the synthetic files, and put their rows beside each other."""
    input:
        unpack(PLAN.files("matched")),
    output:
        confidential="results/{study}/matching/prepared/confidential.parquet",
        synthetic="results/{study}/matching/prepared/synthetic.parquet",
        holdout="results/{study}/matching/prepared/holdout.parquet",
        account="results/{study}/matching/account.csv",
        warnings="results/{study}/matching/warnings.csv",
        correspondence="results/{study}/matching/correspondence.csv",
        ledger="results/{study}/ledger/prepare_matching.json",
    log:
        "results/{study}/logs/prepare_matching.log",
    benchmark:
        "results/{study}/benchmarks/prepare_matching.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("prepare_matching"),
        sources=PLAN.source_digests,
    script:
        "../scripts/prepare_matching.py"


rule match:
    """Count the synthetic records that match each confidential one, on a chain of steps that closes."""
    input:
        unpack(PLAN.files("matched", "source_")),
        confidential=PLAN.result("prepare_matching", "matching/prepared/confidential.parquet"),
        synthetic=PLAN.result("prepare_matching", "matching/prepared/synthetic.parquet"),
    output:
        records="results/{study}/matching/records.parquet",
        summary=report(
            "results/{study}/matching/summary.csv",
            caption="../lib/reident/matching/summary.rst",
            category="{study}",
            labels={"result": "Matching-based risk", "format": "CSV"},
        ),
        scenarios="results/{study}/matching/scenarios.csv",
        distribution="results/{study}/matching/distribution.csv",
        variables="results/{study}/matching/variables.csv",
        pooled="results/{study}/matching/pooled.csv",
        ledger="results/{study}/ledger/match.json",
    log:
        "results/{study}/logs/match.log",
    benchmark:
        "results/{study}/benchmarks/match.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("match"),
    script:
        "../scripts/match.py"


rule measure_distances:
    """Search the closest confidential record, and the closest of a holdout, for each synthetic one."""
    input:
        unpack(PLAN.files("matched", "source_")),
        confidential=PLAN.result("prepare_matching", "matching/prepared/confidential.parquet"),
        synthetic=PLAN.result("prepare_matching", "matching/prepared/synthetic.parquet"),
        holdout=PLAN.result("prepare_matching", "matching/prepared/holdout.parquet"),
    output:
        records="results/{study}/matching/closest.parquet",
        closest=report(
            "results/{study}/matching/closest.csv",
            caption="../lib/reident/distances/closest.rst",
            category="{study}",
            labels={"result": "Distance to the closest record", "format": "CSV"},
        ),
        premise="results/{study}/matching/premise.csv",
        nearness="results/{study}/matching/nearness.csv",
        distances="results/{study}/matching/distances.csv",
        ledger="results/{study}/ledger/measure_distances.json",
    log:
        "results/{study}/logs/measure_distances.log",
    benchmark:
        "results/{study}/benchmarks/measure_distances.tsv"
    conda:
        "../../environment.yml"
    threads: lambda wildcards, input: many_threads() if are_many(input.confidential, input.synthetic) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("measure_distances"),
    script:
        "../scripts/measure_distances.py"
