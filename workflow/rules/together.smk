"""The intruder who holds several files (METHODS §6.6).

Reads  results/{study}/prepared/, strata/ and confirmed/, and those of results/{study}/variants/{variant}/ with the
       other files
Makes  together/rates.csv: the rates with each file alone, with any, with all, and with exactly 1, 2 … of them
"""


rule join_files:
    """Count what any, all and exactly k of the files find, on chains of steps that close."""
    input:
        puf=PLAN.listed(
            PLAN.result("prepare", "prepared/puf.parquet"),
            PLAN.of_intruders("prepare", "prepared/puf.parquet"),
        ),
        eif=PLAN.of_intruders("prepare", "prepared/eif.parquet"),
        pairs=PLAN.of_intruders("confirm", "confirmed/{metric}.pairs.parquet"),
        clusters=PLAN.result("prepare", "prepared/clusters.parquet"),
        strata=PLAN.result("stratify", "strata/puf.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
    output:
        rates=report(
            "results/{study}/together/rates.csv",
            caption="../lib/reident/together/rates.rst",
            category="{study}",
            labels={"result": "An intruder with several files", "format": "CSV"},
        ),
        ledger="results/{study}/ledger/join_files.json",
    log:
        "results/{study}/logs/join_files.log",
    benchmark:
        "results/{study}/benchmarks/join_files.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("join_files"),
    script:
        "../scripts/join_files.py"
