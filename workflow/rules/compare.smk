"""The comparison of a study's variants.

Reads  results/{study}/rates.csv, matching/summary.csv or filerisk/definitions.csv, and those of results/{study}/variants/{variant}/
Makes  comparison/{table}.csv: what each variant found for the whole study, beside what varies
"""


rule compare_variants:
    """Put what the variants of a study found beside each other, on chains of steps that close."""
    input:
        tables=PLAN.compared_tables,
    output:
        comparison=report(
            "results/{study}/comparison/{table}.csv",
            caption="../lib/reident/pipeline/comparison.rst",
            category="{study}",
            labels={"result": "Comparison of variants: {table}", "format": "CSV"},
        ),
        ledger="results/{study}/ledger/compare_variants.{table}.json",
    log:
        "results/{study}/logs/compare_variants.{table}.log",
    benchmark:
        "results/{study}/benchmarks/compare_variants.{table}.tsv"
    wildcard_constraints:
        table="|".join(steps.COMPARED),
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("compare_variants"),
    script:
        "../scripts/compare_variants.py"
