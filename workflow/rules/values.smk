"""Confirmation by values: what a released file without records of people tells about persons (METHODS §14).

Reads  the released file, the external file, and the confidential values of people
Makes  values/rates.csv: claims, the confirmed ones, and guesses, by metric, stratum and group of people;
       values/{strata,account,warnings}.csv
"""


rule confirm_values:
    """Link persons to released records with every metric, and compare what is learnt with the values of the persons."""
    input:
        puf=PLAN.source("puf"),
        eif=PLAN.source("eif"),
        iuf=PLAN.source("iuf"),
        functions=PLAN.functions,
    output:
        rates=report(
            "results/{study}/values/rates.csv",
            caption="../lib/reident/values/rates.rst",
            category="{study}",
            labels={"result": "Confirmation by values", "format": "CSV"},
        ),
        strata="results/{study}/values/strata.csv",
        account="results/{study}/values/account.csv",
        warnings="results/{study}/values/warnings.csv",
        ledger="results/{study}/ledger/confirm_values.json",
    log:
        "results/{study}/logs/confirm_values.log",
    benchmark:
        "results/{study}/benchmarks/confirm_values.tsv"
    conda:
        "../../environment.yml"
    # Few records are done before a second thread has started.
    threads: lambda wildcards, input: many_threads() if is_large(input.puf) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("confirm_values"),
        sources=PLAN.source_digests,
    script:
        "../scripts/confirm_values.py"
