"""The walk along the ledger by itself, from the results of every study back to its sources; and studies before a run.

Reads  results/{study}/ledger/ and every file that it names, the study files and their sources
Makes  nothing but results/check.log, one line for each study, and results/validate.log, one for each error and warning
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


rule validate:
    """Tell every error and every warning of the studies and their files, before anything is computed."""
    log:
        "results/validate.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        studies=[str(path) for path in SETTINGS.study_files],
    script:
        "../scripts/validate.py"
