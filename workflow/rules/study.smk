"""The study, complete.

Reads  a study file
Makes  results/{study}/study.json, the study with every default filled in;
       results/{study}/simulated/{puf,eif,iuf}.csv where the study simulates its files
"""


rule resolve:
    """Fill in every default of a study and write it in its one canonical form."""
    input:
        study=ancient(PLAN.study_file),
    output:
        study="results/{study}/study.json",
        ledger="results/{study}/ledger/resolve.json",
    log:
        "results/{study}/logs/resolve.log",
    benchmark:
        "results/{study}/benchmarks/resolve.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
    params:
        study=PLAN.part_digest("resolve"),
        library=PLAN.library_digest("resolve"),
    script:
        "../scripts/resolve.py"


rule simulate:
    """Draw a population, its public use file, an intruder's file and the true links."""
    input:
        study=ancient(PLAN.study_file),
    output:
        puf="results/{study}/simulated/puf.csv",
        eif="results/{study}/simulated/eif.csv",
        iuf="results/{study}/simulated/iuf.csv",
        ledger="results/{study}/ledger/simulate.json",
    log:
        "results/{study}/logs/simulate.log",
    benchmark:
        "results/{study}/benchmarks/simulate.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
    params:
        study=PLAN.part_digest("simulate"),
        library=PLAN.library_digest("simulate"),
    script:
        "../scripts/simulate.py"
