"""What protection does to the data (METHODS §13).

Reads  results/{study}/prepared/puf.parquet, and that of results/{study}/variants/before-protection/
Makes  results/{study}/utility/summary.csv: the measures of the whole study; variables.csv, pairs.csv: of each variable
       and pair of variables; estimates.csv: means, shares and coefficients with their intervals
"""


rule measure_utility:
    """Compare the released records with the same records before protection, on chains of steps that close."""
    input:
        tables=PLAN.listed(
            PLAN.before_protection("prepare", "prepared/puf.parquet"),
            PLAN.result("prepare", "prepared/puf.parquet"),
        ),
    output:
        summary=report(
            "results/{study}/utility/summary.csv",
            caption="../lib/reident/utility/summary.rst",
            category="{study}",
            labels={"result": "Utility", "format": "CSV"},
        ),
        variables="results/{study}/utility/variables.csv",
        pairs="results/{study}/utility/pairs.csv",
        estimates="results/{study}/utility/estimates.csv",
        ledger="results/{study}/ledger/measure_utility.json",
    log:
        "results/{study}/logs/measure_utility.log",
    benchmark:
        "results/{study}/benchmarks/measure_utility.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("measure_utility"),
    script:
        "../scripts/measure_utility.py"
