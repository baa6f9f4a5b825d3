"""The attacks at hand: what an intruder finds who is not bound to the metrics of the study (METHODS §6.10).

Reads  results/{study}/prepared/, binned/, strata/, weights/, confirmed/, rates.csv, agreement/, surest/
Makes  attacks.csv: the declared and the standard metrics, the agreement of metrics, joins on exact values, and metrics
       without a variable
"""


rule challenge:
    """Try the attacks at hand that the study does not declare, and put all into one table."""
    input:
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
        eif=PLAN.result("prepare", "prepared/eif.parquet"),
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
        clusters=PLAN.result("prepare", "prepared/clusters.parquet"),
        binned_puf=PLAN.result("bin", "binned/puf.parquet"),
        binned_eif=PLAN.result("bin", "binned/eif.parquet"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
        pairs=PLAN.results("confirm", "confirmed/{metric}.pairs.parquet"),
        rates=PLAN.result("rate", "rates.csv"),
        agreement=PLAN.result("rate", "agreement/rates.csv"),
        agreeing=PLAN.result("rate", "surest/agreement.csv"),
        summary=PLAN.result("rate", "surest/summary.csv"),
        functions=PLAN.functions,
        levels=PLAN.weights("levels"),
        model=PLAN.weights("model"),
    output:
        attacks=report(
            "results/{study}/attacks.csv",
            caption="../lib/reident/challenge/attacks.rst",
            category="{study}",
            labels={"result": "Attacks at hand", "format": "CSV"},
        ),
        ledger="results/{study}/ledger/challenge.json",
    log:
        "results/{study}/logs/challenge.log",
    benchmark:
        "results/{study}/benchmarks/challenge.tsv"
    # The verdict waits for it, and nothing for what else is ready then.
    priority: 1
    conda:
        "../../environment.yml"
    threads: many_threads()
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("challenge"),
    script:
        "../scripts/challenge.py"
