"""The study, complete.

Reads  a study file, and the checklist of the board where it has one
Makes  results/{study}/study.json, the study with every default filled in;
       results/{study}/checklist.csv, the questions of the board with the answers of the study;
       results/{study}/simulated/{puf,eif,iuf}.csv where the study simulates its files
"""


rule resolve:
    """Fill in every default of a study and write it in its one canonical form."""
    output:
        study="results/{study}/study.json",
        ledger="results/{study}/ledger/resolve.json",
    log:
        "results/{study}/logs/resolve.log",
    benchmark:
        "results/{study}/benchmarks/resolve.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("resolve"),
    script:
        "../scripts/resolve.py"


rule checklist:
    """Put the questions of the board's checklist and the answers of the study into one table."""
    input:
        unpack(PLAN.checklists),
    output:
        questions="results/{study}/checklist.csv",
        ledger="results/{study}/ledger/checklist.json",
    log:
        "results/{study}/logs/checklist.log",
    benchmark:
        "results/{study}/benchmarks/checklist.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("checklist"),
        checklist=PLAN.checklist_digest,
    script:
        "../scripts/checklist.py"


rule simulate:
    """Draw a population, its public use file, an intruder's file and the true links."""
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
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("simulate"),
    script:
        "../scripts/simulate.py"
