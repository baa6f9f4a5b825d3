"""Micro-aggregation of a file and its attack by itself (METHODS §9).

Reads  the file of the section `microaggregate`, declared or simulated; results/{study}/confirmed/winkler.pairs.parquet
Makes  results/{study}/simulated/original.csv where the study simulates it;
       microaggregation/{puf,eif,iuf}.csv: the masked sample, what the intruder holds, the links between them;
       microaggregation/{variables,account}.csv: what was done to each variable, and the row account;
       agreements.csv: the rates by the smallest number of variables that agree
"""


rule simulate_amounts:
    """Draw a file of skewed positive amounts."""
    output:
        original="results/{study}/simulated/original.csv",
        ledger="results/{study}/ledger/simulate_amounts.json",
    log:
        "results/{study}/logs/simulate_amounts.log",
    benchmark:
        "results/{study}/benchmarks/simulate_amounts.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("simulate_amounts"),
    script:
        "../scripts/simulate_amounts.py"


rule microaggregate:
    """Mask a file by micro-aggregation, sample it, and keep what the intruder holds and the truth."""
    input:
        original=PLAN.source("original"),
    output:
        puf="results/{study}/microaggregation/puf.csv",
        eif="results/{study}/microaggregation/eif.csv",
        iuf="results/{study}/microaggregation/iuf.csv",
        variables="results/{study}/microaggregation/variables.csv",
        account="results/{study}/microaggregation/account.csv",
        ledger="results/{study}/ledger/microaggregate.json",
    log:
        "results/{study}/logs/microaggregate.log",
    benchmark:
        "results/{study}/benchmarks/microaggregate.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("microaggregate"),
        sources=PLAN.source_digests,
    script:
        "../scripts/microaggregate.py"


rule agreements:
    """Compute the rates for every smallest number of variables that must agree."""
    input:
        pairs=PLAN.result("confirm", "confirmed/winkler.pairs.parquet", "winkler"),
        rates="results/{study}/rates.csv",
    output:
        agreements="results/{study}/agreements.csv",
        ledger="results/{study}/ledger/agreements.json",
    log:
        "results/{study}/logs/agreements.log",
    benchmark:
        "results/{study}/benchmarks/agreements.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("agreements"),
    script:
        "../scripts/agreements.py"
