"""The three files, typed by the study (METHODS §1).

Reads  results/{study}/study.json; the public use file, the external intruder file, the true links; the keys of
       the public use file before protection
Makes  results/{study}/prepared/{puf,eif}.parquet: keys as text, linking variables by their study
       names, null where missing, in the order of keys;
       prepared/iuf.parquet: the links as row numbers in these two tables;
       prepared/clusters.parquet: the cluster of each record of the public use file;
       prepared/account.csv: the row account; prepared/warnings.csv: what the analyst should look at
"""


rule prepare:
    """Read and type the source files, compare their codes, check keys and links."""
    input:
        unpack(PLAN.original),
        puf=PLAN.source("puf"),
        eif=PLAN.source("eif"),
        iuf=PLAN.source("iuf"),
    output:
        puf="results/{study}/prepared/puf.parquet",
        eif="results/{study}/prepared/eif.parquet",
        iuf="results/{study}/prepared/iuf.parquet",
        clusters="results/{study}/prepared/clusters.parquet",
        account="results/{study}/prepared/account.csv",
        warnings="results/{study}/prepared/warnings.csv",
        ledger="results/{study}/ledger/prepare.json",
    log:
        "results/{study}/logs/prepare.log",
    benchmark:
        "results/{study}/benchmarks/prepare.tsv"
    conda:
        "../../environment.yml"
    # Both files of records are worked on at once.
    threads: lambda wildcards, input: min(2, many_threads()) if is_large(input.puf) and is_large(input.eif) else 1
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("prepare"),
        sources=PLAN.source_digests,
    script:
        "../scripts/prepare.py"
