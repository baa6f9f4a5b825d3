"""Scores, ranks, confirmation, metric by metric (METHODS §4–6).

Reads  results/{study}/binned/ (unicity, taxicab) or prepared/ (the others); strata/
Makes  scores/{metric}/{shard}.parquet: the pairs that the rank filter may need; {shard}.aside.parquet;
       suspected/{metric}.parquet, suspected/{metric}.distribution.csv;
       confirmed/{metric}.parquet, confirmed/{metric}.limits.csv
"""


rule score:
    """Compare all pairs of a shard and keep those that the rank filter may need."""
    input:
        study=ancient(PLAN.study_file),
        puf=PLAN.compared("puf"),
        eif=PLAN.compared("eif"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
        shards=PLAN.result("stratify", "strata/shards.csv"),
        functions=PLAN.functions,
    output:
        pairs="results/{study}/scores/{metric}/{shard}.parquet",
        aside="results/{study}/scores/{metric}/{shard}.aside.parquet",
        ledger="results/{study}/ledger/score.{metric}.{shard}.json",
    log:
        "results/{study}/logs/score.{metric}.{shard}.log",
    benchmark:
        "results/{study}/benchmarks/score.{metric}.{shard}.tsv"
    conda:
        "../../environment.yml"
    # A small shard is done before a second thread has started.
    threads: lambda wildcards: many_threads() if PLAN.shard_pairs(wildcards) > LARGE_SHARD else 1
    resources:
        mem_mb=lambda wildcards, input, attempt: int(1000 + 20 * input.size_mb) * attempt,
        runtime=lambda wildcards, attempt: 10 + 60 * attempt * (PLAN.shard_pairs(wildcards) // 10**11),
    params:
        study=PLAN.part_digest("score"),
        library=PLAN.library_digest("score"),
    script:
        "../scripts/score.py"


rule rank:
    """Keep, for each record, the best ranks with few pairs: the suspected pairs."""
    input:
        study=ancient(PLAN.study_file),
        pairs=PLAN.all_shards("parquet"),
    output:
        suspected="results/{study}/suspected/{metric}.parquet",
        distribution="results/{study}/suspected/{metric}.distribution.csv",
        ledger="results/{study}/ledger/rank.{metric}.json",
    log:
        "results/{study}/logs/rank.{metric}.log",
    benchmark:
        "results/{study}/benchmarks/rank.{metric}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, input, attempt: int(1000 + 20 * input.size_mb) * attempt,
    params:
        study=PLAN.part_digest("rank"),
        library=PLAN.library_digest("rank"),
    script:
        "../scripts/rank.py"


rule confirm:
    """Check the suspected pairs against the true links."""
    input:
        study=ancient(PLAN.study_file),
        suspected=PLAN.result("rank", "suspected/{metric}.parquet"),
        pairs=PLAN.all_shards("parquet"),
        aside=PLAN.all_shards("aside.parquet"),
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
    output:
        confirmed="results/{study}/confirmed/{metric}.parquet",
        limits="results/{study}/confirmed/{metric}.limits.csv",
        ledger="results/{study}/ledger/confirm.{metric}.json",
    log:
        "results/{study}/logs/confirm.{metric}.log",
    benchmark:
        "results/{study}/benchmarks/confirm.{metric}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, input, attempt: int(1000 + 20 * input.size_mb) * attempt,
    params:
        study=PLAN.part_digest("confirm"),
        library=PLAN.library_digest("confirm"),
    script:
        "../scripts/confirm.py"
