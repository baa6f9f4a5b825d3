"""Whether files and links are described as they are (METHODS §1.1).

Reads  the PUF and the EIF, results/{study}/prepared/, strata/, binned/
Makes  plausibility.csv: what each check measured of a linking variable, of the links or of a file;
       description/exact.csv: people whom exact values of one variable, or of two, name without any metric;
       description/without.csv: what each metric finds without each linking variable
"""


rule check_description:
    """Compare the two records of true links with strangers, variable by variable and as a whole."""
    input:
        source_puf=PLAN.source("puf"),
        source_eif=PLAN.source("eif"),
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
        eif=PLAN.result("prepare", "prepared/eif.parquet"),
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
        account=PLAN.result("prepare", "prepared/account.csv"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        strata_account=PLAN.result("stratify", "strata/account.csv"),
    output:
        checks="results/{study}/plausibility.csv",
        exact="results/{study}/description/exact.csv",
        ledger="results/{study}/ledger/check_description.json",
    log:
        "results/{study}/logs/check_description.log",
    benchmark:
        "results/{study}/benchmarks/check_description.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("check_description"),
        sources=PLAN.source_digests,
    script:
        "../scripts/check_description.py"


rule leave_out:
    """Run the attack once more without each of the linking variables, and count what each metric finds."""
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
        functions=PLAN.functions,
    output:
        without="results/{study}/description/without.csv",
        ledger="results/{study}/ledger/leave_out.json",
    log:
        "results/{study}/logs/leave_out.log",
    benchmark:
        "results/{study}/benchmarks/leave_out.tsv"
    conda:
        "../../environment.yml"
    # On few records it is done before a second thread has started.
    threads: lambda wildcards, input: many_threads() if is_large(input.puf) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("leave_out"),
    script:
        "../scripts/leave_out.py"
