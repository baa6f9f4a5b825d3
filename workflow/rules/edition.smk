"""What of a study may leave: a short public statement (METHODS §11).

Reads  the suspected pairs of results/{study}/ and the aggregate tables of its files, the rounding policy, earlier editions,
       the font that the study names
Makes  results/{study}/edition/: the published file and table;
       reports/{study}/releasable/: the same, and the edition as HTML and PDF, made from the published file alone
"""


rule edition:
    """State what may be told of the results, on a chain of steps that closes, and render it."""
    input:
        unpack(PLAN.stated),
        font=PLAN.font,
    output:
        record="results/{study}/edition/edition.json",
        counts="results/{study}/edition/edition.csv",
        html=report(
            "reports/{study}/releasable/edition.html",
            caption="../lib/reident/edition/edition.rst",
            category="{study}",
            labels={"result": "Releasable edition", "format": "HTML"},
        ),
        pdf=report(
            "reports/{study}/releasable/edition.pdf",
            caption="../lib/reident/edition/edition.rst",
            category="{study}",
            labels={"result": "Releasable edition", "format": "PDF"},
        ),
        public_record="reports/{study}/releasable/edition.json",
        public_counts="reports/{study}/releasable/edition.csv",
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
        rounding=PLAN.rounding_digests,
        font=PLAN.font_digest,
    script:
        "../scripts/edition.py"
