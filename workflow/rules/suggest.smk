"""Coarser values of linking variables that bring the rates under the limits, on request (METHODS §6.4).

Reads  results/{study}/prepared/, binned/, strata/, confirmed/
Makes  suggest/suggestions.csv: the sets that were tried, with what they lose; suggest/rates.csv: their rates;
       suggest/variants.yaml: the best sets as variants for the study file; results/suggest.log, one line for each study
"""


rule try_recodings:
    """Run the attack with sets of coarser values, at most 50 times."""
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
        confirmed=PLAN.results("confirm", "confirmed/{metric}.pairs.parquet"),
        functions=PLAN.functions,
    output:
        suggestions="results/{study}/suggest/suggestions.csv",
        rates="results/{study}/suggest/rates.csv",
        variants="results/{study}/suggest/variants.yaml",
        ledger="results/{study}/ledger/try_recodings.json",
    log:
        "results/{study}/logs/try_recodings.log",
    benchmark:
        "results/{study}/benchmarks/try_recodings.tsv"
    conda:
        "../../environment.yml"
    threads: many_threads()
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("try_recodings"),
    script:
        "../scripts/try_recodings.py"


rule suggest:
    """Tell for each study which coarser values bring its rates under its limits, and lose least."""
    input:
        suggestions=PLAN.of_studies("try_recodings", "suggest/suggestions.csv"),
    log:
        "results/suggest.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        studies=[str(members.path) for members in FAMILIES.values()],
        results=lambda wildcards: str(RESULTS),
    script:
        "../scripts/suggest.py"
