"""The disclosure review (METHODS §6, §8; what the sources leave open, §4).

Reads  the aggregate tables of results/{study}/ that the study asks for and its ledger, through workflow/notebooks/disclosure-review.ipynb;
       the font that the study names
Makes  results/{study}/disclosure-review.ipynb: the executed notebook;
       reports/{study}/disclosure-review.{html,pdf}: what the board reads
"""


rule report:
    """Execute the review's notebook on a chain of steps that closes, and render it."""
    input:
        unpack(PLAN.reported),
        resolved="results/{study}/study.json",
        notebook=str(NOTEBOOK),
        font=PLAN.font,
    output:
        notebook="results/{study}/disclosure-review.ipynb",
        html=report(
            "reports/{study}/disclosure-review.html",
            caption="../report/disclosure-review.rst",
            category="{study}",
            labels={"result": "Disclosure review", "format": "HTML"},
        ),
        pdf=report(
            "reports/{study}/disclosure-review.pdf",
            caption="../report/disclosure-review.rst",
            category="{study}",
            labels={"result": "Disclosure review", "format": "PDF"},
        ),
        ledger="results/{study}/ledger/report.json",
    log:
        "results/{study}/logs/report.log",
    benchmark:
        "results/{study}/benchmarks/report.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("report"),
        notebook=lambda wildcards: sha256(NOTEBOOK),
        font=PLAN.font_digest,
    script:
        "../scripts/report.py"
