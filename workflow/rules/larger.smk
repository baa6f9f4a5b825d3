"""What an intruder with a larger file would confirm (METHODS §6.5).

Reads  results/{study}/prepared/, strata/, suspected/
Makes  larger/{metric}.counts.csv: what the attack makes of the records with random parts of the intruder's file;
       larger/rates.csv: the rates by the size of the file, observed and extrapolated
"""


rule thin:
    """Attack with random parts of the intruder's file."""
    input:
        suspected=PLAN.result("rank", "suspected/{metric}.parquet"),
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
        eif=PLAN.result("prepare", "prepared/eif.parquet"),
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
        functions=PLAN.functions,
    output:
        counts="results/{study}/larger/{metric}.counts.csv",
        ledger="results/{study}/ledger/thin.{metric}.json",
    log:
        "results/{study}/logs/thin.{metric}.log",
    benchmark:
        "results/{study}/benchmarks/thin.{metric}.tsv"
    conda:
        "../../environment.yml"
    # Not by the number of pairs, as scores: a dry run asks before the strata are known.
    threads: lambda wildcards, input: many_threads() if is_large(input.puf) or is_large(input.eif) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("thin"),
    script:
        "../scripts/thin.py"


rule extrapolate:
    """Fit the curve of each metric, and extrapolate it."""
    input:
        counts=PLAN.results("thin", "larger/{metric}.counts.csv"),
    output:
        rates=report(
            "results/{study}/larger/rates.csv",
            caption="../lib/reident/larger/rates.rst",
            category="{study}",
            labels={"result": "A larger intruder", "format": "CSV"},
        ),
        ledger="results/{study}/ledger/extrapolate.json",
    log:
        "results/{study}/logs/extrapolate.log",
    benchmark:
        "results/{study}/benchmarks/extrapolate.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("extrapolate"),
    script:
        "../scripts/extrapolate.py"
