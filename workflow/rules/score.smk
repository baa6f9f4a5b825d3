"""Scores, ranks, confirmation, metric by metric (METHODS §4–6).

Reads  results/{study}/binned/ (unicity, taxicab, Fellegi–Sunter) or prepared/ (the others); strata/
Makes  weights/{levels,model}.csv: the weights of Fellegi–Sunter, and calibration.csv: its probabilities against the links;
       scores/{metric}/{scatteritem}.parquet: the pairs that the rank filter may need;
       claims/{metric}/{scatteritem}.parquet: the candidates of the claims, and what follows them;
       suspected/{metric}.parquet: the pairs of all shards with their ranks;
       suspected/{metric}.distribution.csv: records and pairs by stratum and rank;
       confirmed/{metric}.parquet: the suspected pairs by their keys, {metric}.pairs.parquet: by row number;
       confirmed/{metric}.limits.csv: counts at every rank limit;
       surest/{metric}.csv: how many of the claims of a metric are right, the surest first (METHODS §6.7);
       confirmed/{metric}.csv: the suspected pairs by their keys, for a spreadsheet, where the study asks for it

Before confirmation a record is its row number in prepared/, which is in the order of keys.
"""


rule weigh:
    """Estimate the weights of the comparison levels from all pairs."""
    input:
        puf=PLAN.compared("puf"),
        eif=PLAN.compared("eif"),
        iuf=PLAN.known_links,
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
    output:
        levels="results/{study}/weights/levels.csv",
        model="results/{study}/weights/model.csv",
        ledger="results/{study}/ledger/weigh.json",
    log:
        "results/{study}/logs/weigh.log",
    benchmark:
        "results/{study}/benchmarks/weigh.tsv"
    # Each pair is weighed dozens of times: it begins first, and leaves a core to the other metrics, which wait for less.
    priority: 1
    conda:
        "../../environment.yml"
    threads:
        lambda wildcards, input: (
            many_threads()
            if are_many(input.puf, input.eif)
            else max(many_threads() - 1, 1) if is_large(input.puf) or is_large(input.eif) else 1
        )
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("weigh"),
    script:
        "../scripts/weigh.py"


rule score:
    """Compare all pairs of a shard and keep those that the rank filter may need."""
    input:
        puf=PLAN.compared("puf"),
        eif=PLAN.compared("eif"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        strata_eif=PLAN.result("stratify", "strata/eif.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
        functions=PLAN.functions,
        levels=PLAN.weights("levels"),
        model=PLAN.weights("model"),
    output:
        pairs="results/{study}/scores/{metric}/{scatteritem}.parquet",
        claims="results/{study}/claims/{metric}/{scatteritem}.parquet",
        ledger="results/{study}/ledger/score.{metric}.{scatteritem}.json",
    log:
        "results/{study}/logs/score.{metric}.{scatteritem}.log",
    benchmark:
        "results/{study}/benchmarks/score.{metric}.{scatteritem}.tsv"
    conda:
        "../../environment.yml"
    # Small files are compared before a second thread has started.
    threads: lambda wildcards, input: many_threads() if are_many(input.puf, input.eif) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("score"),
    script:
        "../scripts/score.py"


rule rank:
    """Rank the pairs of each record."""
    input:
        pairs=PLAN.all_shards,
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
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
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("rank"),
    script:
        "../scripts/rank.py"


rule confirm:
    """Check the suspected pairs against the true links, and count the right claims, the surest first."""
    input:
        suspected=PLAN.result("rank", "suspected/{metric}.parquet"),
        candidates=PLAN.all_claims,
        puf=PLAN.result("prepare", "prepared/puf.parquet"),
        eif=PLAN.result("prepare", "prepared/eif.parquet"),
        iuf=PLAN.result("prepare", "prepared/iuf.parquet"),
        strata_puf=PLAN.result("stratify", "strata/puf.parquet"),
        manifest=PLAN.result("stratify", "strata/manifest.csv"),
    output:
        confirmed="results/{study}/confirmed/{metric}.parquet",
        positions="results/{study}/confirmed/{metric}.pairs.parquet",
        limits="results/{study}/confirmed/{metric}.limits.csv",
        claims="results/{study}/surest/{metric}.csv",
        ledger="results/{study}/ledger/confirm.{metric}.json",
    log:
        "results/{study}/logs/confirm.{metric}.log",
    benchmark:
        "results/{study}/benchmarks/confirm.{metric}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("confirm"),
    script:
        "../scripts/confirm.py"


rule export_confirmed:
    """Write the suspected pairs by their keys as CSV."""
    input:
        confirmed=PLAN.result("confirm", "confirmed/{metric}.parquet"),
    output:
        pairs="results/{study}/confirmed/{metric}.csv",
        ledger="results/{study}/ledger/export_confirmed.{metric}.json",
    log:
        "results/{study}/logs/export_confirmed.{metric}.log",
    benchmark:
        "results/{study}/benchmarks/export_confirmed.{metric}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("export_confirmed"),
    script:
        "../scripts/export_confirmed.py"


rule calibrate:
    """Compare the match probabilities of the suspected pairs with the share that is right."""
    input:
        pairs=PLAN.result("confirm", "confirmed/fellegi_sunter.pairs.parquet", "fellegi_sunter"),
        model=PLAN.result("weigh", "weights/model.csv"),
    output:
        calibration="results/{study}/weights/calibration.csv",
        ledger="results/{study}/ledger/calibrate.json",
    log:
        "results/{study}/logs/calibrate.log",
    benchmark:
        "results/{study}/benchmarks/calibrate.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("calibrate"),
    script:
        "../scripts/calibrate.py"
