"""Why records are confirmed: the variables that carry the claims, and what would have prevented them (METHODS §6.3).

Reads  results/{study}/confirmed/, prepared/, binned/, strata/
Makes  why/{metric}.parquet: what carries each confirmed pair (confidential), and as CSV where the study asks for it;
       why/{metric}.recodings.csv: how many confirmed records coarser values of one variable would have prevented;
       why/{metric}.variables.csv: what each linking variable carries
"""


rule explain:
    """Run the attack of a metric on the confirmed records again, with coarser values of one variable at a time."""
    input:
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
        eif=PLAN.result("prepare", "prepared/eif.parquet"),
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
        binned_puf=PLAN.result("bin", "binned/puf.parquet"),
        binned_eif=PLAN.result("bin", "binned/eif.parquet"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
        confirmed=PLAN.results("confirm", "confirmed/{metric}.pairs.parquet"),
        functions=PLAN.functions,
    output:
        pairs="results/{study}/why/{metric}.parquet",
        recodings="results/{study}/why/{metric}.recodings.csv",
        variables="results/{study}/why/{metric}.variables.csv",
        ledger="results/{study}/ledger/explain.{metric}.json",
    log:
        "results/{study}/logs/explain.{metric}.log",
    benchmark:
        "results/{study}/benchmarks/explain.{metric}.tsv"
    conda:
        "../../environment.yml"
    # The attack runs once for each change; on few records it is done before a second thread has started.
    threads: lambda wildcards, input: many_threads() if is_large(input.puf) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("explain"),
    script:
        "../scripts/explain.py"


rule export_why:
    """Write what carries each confirmed pair by its keys as CSV."""
    input:
        pairs=PLAN.result("explain", "why/{metric}.parquet"),
    output:
        table="results/{study}/why/{metric}.csv",
        ledger="results/{study}/ledger/export_why.{metric}.json",
    log:
        "results/{study}/logs/export_why.{metric}.log",
    benchmark:
        "results/{study}/benchmarks/export_why.{metric}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("export_why"),
    script:
        "../scripts/export_why.py"
