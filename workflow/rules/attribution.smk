"""Attribute disclosure: what could be learnt about a person from a released file (METHODS §12).

Reads  the original file and the released files, declared or simulated, and a holdout where there is one
Makes  attribution/prepared/{original,released,holdout}.parquet: keys and targets as codes;
       attribution/{categories,account,warnings}.csv;
       attribution/records.parquet: what is disclosed of every original record with the most dangerous set of keys;
       attribution/{summary,targets}.csv: the measures of every set of keys, and the baselines of every target
"""


rule prepare_attribution:
    """Read and type the original file and the released files, and give every key and target a code."""
    input:
        unpack(PLAN.files("attribution")),
    output:
        original="results/{study}/attribution/prepared/original.parquet",
        released="results/{study}/attribution/prepared/released.parquet",
        holdout="results/{study}/attribution/prepared/holdout.parquet",
        categories="results/{study}/attribution/categories.csv",
        account="results/{study}/attribution/account.csv",
        warnings="results/{study}/attribution/warnings.csv",
        ledger="results/{study}/ledger/prepare_attribution.json",
    log:
        "results/{study}/logs/prepare_attribution.log",
    benchmark:
        "results/{study}/benchmarks/prepare_attribution.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("prepare_attribution"),
        sources=PLAN.source_digests,
    script:
        "../scripts/prepare_attribution.py"


rule assess_attribution:
    """Measure what each set of keys tells about each target, on a chain of steps that closes."""
    input:
        unpack(PLAN.files("attribution", "source_")),
        original=PLAN.result("prepare_attribution", "attribution/prepared/original.parquet"),
        released=PLAN.result("prepare_attribution", "attribution/prepared/released.parquet"),
        holdout=PLAN.result("prepare_attribution", "attribution/prepared/holdout.parquet"),
        categories=PLAN.result("prepare_attribution", "attribution/categories.csv"),
    output:
        records="results/{study}/attribution/records.parquet",
        summary=report(
            "results/{study}/attribution/summary.csv",
            caption="../lib/reident/attribution/summary.rst",
            category="{study}",
            labels={"result": "Attribute disclosure", "format": "CSV"},
        ),
        targets="results/{study}/attribution/targets.csv",
        ledger="results/{study}/ledger/assess_attribution.json",
    log:
        "results/{study}/logs/assess_attribution.log",
    benchmark:
        "results/{study}/benchmarks/assess_attribution.tsv"
    conda:
        "../../environment.yml"
    # Few records are done before a second thread has started.
    threads: lambda wildcards, input: many_threads() if is_large(input.original) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("assess_attribution"),
    script:
        "../scripts/assess_attribution.py"
