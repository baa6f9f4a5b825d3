"""What of a study may leave (METHODS §11).

Reads  the aggregate tables of results/{study}/ whose columns say how they leave, the rounding policy, earlier editions,
       the font that the study names
Makes  results/{study}/release/: the published tables and the record of the rules; audit.csv, which never leaves;
       reports/{study}/releasable/: the same tables and record, and the edition as HTML and PDF, made from them alone
"""


rule release:
    """Round, audit and suppress the numbers of a study, on a chain of steps that closes."""
    input:
        unpack(PLAN.released),
    output:
        attack="results/{study}/release/attack.csv",
        clusters="results/{study}/release/clusters.csv",
        file="results/{study}/release/file.csv",
        matching="results/{study}/release/matching.csv",
        cut_points="results/{study}/release/cut-points.csv",
        limits="results/{study}/release/limits.csv",
        record="results/{study}/release/release.json",
        audit="results/{study}/release/audit.csv",
        ledger="results/{study}/ledger/release.json",
    log:
        "results/{study}/logs/release.log",
    benchmark:
        "results/{study}/benchmarks/release.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("release"),
        rounding=PLAN.rounding_digests,
    script:
        "../scripts/release.py"


rule edition:
    """Make the releasable edition from the published tables alone."""
    input:
        unpack(PLAN.chain_sources),
        attack="results/{study}/release/attack.csv",
        clusters="results/{study}/release/clusters.csv",
        file="results/{study}/release/file.csv",
        matching="results/{study}/release/matching.csv",
        cut_points="results/{study}/release/cut-points.csv",
        limits="results/{study}/release/limits.csv",
        record="results/{study}/release/release.json",
        edition_notebook=str(EDITION),
        font=PLAN.font,
    output:
        notebook="results/{study}/releasable.ipynb",
        html=report(
            "reports/{study}/releasable/edition.html",
            caption="../report/edition.rst",
            category="{study}",
            labels={"result": "Releasable edition", "format": "HTML"},
        ),
        pdf=report(
            "reports/{study}/releasable/edition.pdf",
            caption="../report/edition.rst",
            category="{study}",
            labels={"result": "Releasable edition", "format": "PDF"},
        ),
        attack="reports/{study}/releasable/attack.csv",
        clusters="reports/{study}/releasable/clusters.csv",
        file="reports/{study}/releasable/file.csv",
        matching="reports/{study}/releasable/matching.csv",
        cut_points="reports/{study}/releasable/cut-points.csv",
        limits="reports/{study}/releasable/limits.csv",
        record="reports/{study}/releasable/release.json",
        ledger="results/{study}/ledger/edition.json",
    log:
        "results/{study}/logs/edition.log",
    benchmark:
        "results/{study}/benchmarks/edition.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("edition"),
        notebook=lambda wildcards: sha256(EDITION),
        font=PLAN.font_digest,
    script:
        "../scripts/edition.py"
