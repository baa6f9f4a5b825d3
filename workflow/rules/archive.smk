"""A finished study as one file that an auditor can hold (METHODS §10). Like `check`, each rule answers a command.

Reads  results/{study}/ and reports/{study}/ of a finished study, or the bag that the command line names
Makes  reports/{study}/sealed/{study}-{digest}.zip, reports/reproduce/{study}/, reports/compare/{before}--{after}/
"""


rule seal:
    """Seal every study of the run: one bag with its code, ledger, tables and report."""
    input:
        notebook=str(NOTEBOOK),
    log:
        "results/seal.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        studies=[str(members.path) for members in FAMILIES.values()],
        notebook=lambda wildcards, input: input.notebook,
        results=str(RESULTS),
    script:
        "../scripts/seal.py"


rule sign:
    """Add a sign-off to a bag, for example the decision of the board."""
    log:
        "results/sign.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **SETTINGS.given("bag", "signoff", "key"),
    script:
        "../scripts/sign.py"


rule verify:
    """Check every byte, manifest and signature of a bag."""
    log:
        "results/verify.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **SETTINGS.given("bag", "signers"),
    script:
        "../scripts/verify.py"


rule reproduce:
    """Verify a bag, compute its study anew, and compare each result."""
    log:
        "results/reproduce.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: many_threads()
    params:
        **SETTINGS.given("bag", "inputs", "trust", "signers", "keep"),
    script:
        "../scripts/reproduce.py"


rule compare:
    """Compare two releases, each a bag or a study file."""
    log:
        "results/compare.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **SETTINGS.given("before", "after", "signers"),
        notebook=str(NOTEBOOK),
        results=str(RESULTS),
    script:
        "../scripts/compare.py"
