"""Scores, ranks, confirmation, metric by metric (METHODS §4–6).

Reads  results/{study}/binned/ (unicity, taxicab) or prepared/ (the others); strata/
Makes  scores/{metric}/{shard}.parquet: the pairs that the rank filter may need;
       suspected/{metric}.parquet: the pairs of all shards with their ranks;
       suspected/{metric}.distribution.csv: records and pairs by stratum and rank;
       confirmed/{metric}.parquet: the suspected pairs by their keys, {metric}.pairs.parquet: by row number;
       confirmed/{metric}.limits.csv: counts at every rank limit

Before confirmation a record is its row number in prepared/, which is in the order of keys.
"""


rule score:
    """Compare all pairs of a shard and keep those that the rank filter may need."""
    input:
        study=study_file,
        puf=compared("puf"),
        eif=compared("eif"),
        strata_puf=made("stratify", "strata/puf.parquet"),
        strata_eif=made("stratify", "strata/eif.parquet"),
        manifest=made("stratify", "strata/manifest.csv"),
        shards=made("stratify", "strata/shards.csv"),
        functions=own_functions,
    output:
        pairs="results/{study}/scores/{metric}/{shard}.parquet",
        ledger="results/{study}/ledger/score.{metric}.{shard}.json",
    log:
        "results/{study}/logs/score.{metric}.{shard}.log",
    benchmark:
        "results/{study}/benchmarks/score.{metric}.{shard}.tsv"
    conda:
        "../../environment.yml"
    # A small shard is done before a second thread has started.
    threads: lambda wildcards: many_threads() if shard_pairs(wildcards) > LARGE_SHARD else 1
    resources:
        mem_mb=lambda wildcards, input, attempt: int(1000 + 20 * input.size_mb) * attempt,
        runtime=lambda wildcards, attempt: 10 + 60 * attempt * (shard_pairs(wildcards) // 10**11),
    params:
        study=study_digest("score"),
        library=library_digest("score"),
    script:
        "../scripts/score.py"


rule rank:
    """Rank the pairs of each record."""
    input:
        study=study_file,
        pairs=all_shards,
        strata_puf=made("stratify", "strata/puf.parquet"),
        manifest=made("stratify", "strata/manifest.csv"),
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
        mem_mb=lambda wildcards, input, attempt: int(1000 + 4 * input.size_mb) * attempt,
    params:
        study=study_digest("rank"),
        library=library_digest("rank"),
    script:
        "../scripts/rank.py"


rule confirm:
    """Check the suspected pairs against the true links."""
    input:
        study=study_file,
        suspected=made("rank", "suspected/{metric}.parquet"),
        puf=made("prepare", "prepared/puf.parquet"),
        eif=made("prepare", "prepared/eif.parquet"),
        iuf=made("prepare", "prepared/iuf.parquet"),
        strata_puf=made("stratify", "strata/puf.parquet"),
        manifest=made("stratify", "strata/manifest.csv"),
    output:
        confirmed="results/{study}/confirmed/{metric}.parquet",
        positions="results/{study}/confirmed/{metric}.pairs.parquet",
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
        mem_mb=lambda wildcards, input, attempt: int(1000 + 8 * input.size_mb) * attempt,
    params:
        study=study_digest("confirm"),
        library=library_digest("confirm"),
    script:
        "../scripts/confirm.py"
