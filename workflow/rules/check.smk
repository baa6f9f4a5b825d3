"""The walk along the ledger by itself, from the results of every study back to its sources.

Reads  results/{study}/ledger/ and every file that it names, the study files and their sources
Makes  nothing but results/check.log: one line for each study, which the terminal shows too
"""


rule check:
    """Tell for each study whether its chain of steps closes; fail where one does not."""
    input:
        notebook=str(NOTEBOOK),
    log:
        "results/check.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        studies=[str(members.path) for members in FAMILIES.values()],
        results=str(RESULTS),
    script:
        "../scripts/check.py"
