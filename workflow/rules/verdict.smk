"""The verdict: every warning of a study, each limit of its `decision`, and what they come to (METHODS §6).

Reads  the warnings and accounts of reading the files, results/{study}/rates.csv, weights/{model,calibration}.csv,
       matching/{scenarios,pooled}.csv, filerisk/{cells,summary,risks,thresholds,judged,scenarios,diversity,population}.csv,
       description/overlap.csv, attribution/summary.csv, as far as the study has them
Makes  verdict/warnings.csv: all warnings, the gravest first; verdict/limits.csv: each limit, for each metric;
       verdict/summary.csv: the verdict. The end of the run shows the graver warnings in the terminal (`onsuccess`)
"""


rule judge:
    """Collect the warnings, compare every limit, and pass the verdict."""
    input:
        tables=PLAN.judged,
    output:
        warnings="results/{study}/verdict/warnings.csv",
        limits="results/{study}/verdict/limits.csv",
        verdict=report(
            "results/{study}/verdict/summary.csv",
            caption="../lib/reident/verdict/summary.rst",
            category="{study}",
            labels={"result": "Verdict", "format": "CSV"},
        ),
        ledger="results/{study}/ledger/judge.json",
    log:
        "results/{study}/logs/judge.log",
    benchmark:
        "results/{study}/benchmarks/judge.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("judge"),
    script:
        "../scripts/judge.py"
