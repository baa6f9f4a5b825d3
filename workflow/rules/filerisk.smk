"""Risk of one file: sample uniques, DIS, SUDA, DIS-SUDA (METHODS §7).

Reads  the file, and its population and its records before perturbation where there are any, declared or simulated
Makes  results/{study}/simulated/{survey,population}.csv where the study simulates them;
       filerisk/prepared/{file,population,original}.parquet: the key as codes; filerisk/{categories,account,warnings}.csv;
       filerisk/records.parquet: uniqueness, SUDA and DIS-SUDA of every record;
       filerisk/{summary,definitions,hazards,cells,sizes,variables,levels,scores,classes,coarser,conventions}.csv:
       aggregates;
       filerisk/individual.parquet: individual risk of every record; filerisk/{population,individual_classes}.csv:
       estimates of models of the population;
       filerisk/{scenarios,diversity,set_variables}.csv: several keys at once;
       filerisk/{risks,thresholds,judged}.csv: the risk of the records beside the thresholds of regulators;
       filerisk/{by_sample,by_class,by_tenth}.csv: samples of the population beside it
"""


rule populate:
    """Draw the census of two local authorities and a survey of it."""
    output:
        survey="results/{study}/simulated/survey.csv",
        population="results/{study}/simulated/population.csv",
        ledger="results/{study}/ledger/populate.json",
    log:
        "results/{study}/logs/populate.log",
    benchmark:
        "results/{study}/benchmarks/populate.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("populate"),
    script:
        "../scripts/populate.py"


rule prepare_filerisk:
    """Read and type the file, its population and its original records, and give every value of the key a code."""
    input:
        unpack(PLAN.files("risk")),
    output:
        file="results/{study}/filerisk/prepared/file.parquet",
        population="results/{study}/filerisk/prepared/population.parquet",
        original="results/{study}/filerisk/prepared/original.parquet",
        categories="results/{study}/filerisk/categories.csv",
        account="results/{study}/filerisk/account.csv",
        warnings="results/{study}/filerisk/warnings.csv",
        ledger="results/{study}/ledger/prepare_filerisk.json",
    log:
        "results/{study}/logs/prepare_filerisk.log",
    benchmark:
        "results/{study}/benchmarks/prepare_filerisk.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(5),
        runtime=minutes,
    params:
        **PLAN.params("prepare_filerisk"),
        sources=PLAN.source_digests,
    script:
        "../scripts/prepare_filerisk.py"


rule assess_file:
    """Find the minimal sample uniques of every record and what they come to, on a chain of steps that closes."""
    input:
        unpack(PLAN.files("risk", "source_")),
        file=PLAN.result("prepare_filerisk", "filerisk/prepared/file.parquet"),
        population=PLAN.result("prepare_filerisk", "filerisk/prepared/population.parquet"),
        original=PLAN.result("prepare_filerisk", "filerisk/prepared/original.parquet"),
        categories=PLAN.result("prepare_filerisk", "filerisk/categories.csv"),
    output:
        records="results/{study}/filerisk/records.parquet",
        summary=report(
            "results/{study}/filerisk/summary.csv",
            caption="../lib/reident/filerisk/summary.rst",
            category="{study}",
            labels={"result": "Risk of one file", "format": "CSV"},
        ),
        definitions="results/{study}/filerisk/definitions.csv",
        hazards="results/{study}/filerisk/hazards.csv",
        cells="results/{study}/filerisk/cells.csv",
        sizes="results/{study}/filerisk/sizes.csv",
        variables="results/{study}/filerisk/variables.csv",
        levels="results/{study}/filerisk/levels.csv",
        scores="results/{study}/filerisk/scores.csv",
        classes="results/{study}/filerisk/classes.csv",
        coarser="results/{study}/filerisk/coarser.csv",
        conventions="results/{study}/filerisk/conventions.csv",
        ledger="results/{study}/ledger/assess_file.json",
    log:
        "results/{study}/logs/assess_file.log",
    benchmark:
        "results/{study}/benchmarks/assess_file.tsv"
    conda:
        "../../environment.yml"
    # A small file is done before a second thread has started.
    threads: lambda wildcards, input: many_threads() if is_large(input.file) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("assess_file"),
    script:
        "../scripts/assess_file.py"


rule model_population:
    """Estimate the risk in the population by models, beside the truth where the population is known."""
    input:
        unpack(PLAN.files("risk", "source_")),
        file=PLAN.result("prepare_filerisk", "filerisk/prepared/file.parquet"),
        population=PLAN.result("prepare_filerisk", "filerisk/prepared/population.parquet"),
    output:
        individual="results/{study}/filerisk/individual.parquet",
        population_models="results/{study}/filerisk/population.csv",
        individual_classes="results/{study}/filerisk/individual_classes.csv",
        ledger="results/{study}/ledger/model_population.json",
    log:
        "results/{study}/logs/model_population.log",
    benchmark:
        "results/{study}/benchmarks/model_population.tsv"
    conda:
        "../../environment.yml"
    # A table of interactions has up to 10 million cells.
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("model_population"),
    script:
        "../scripts/model_population.py"


rule assess_scenarios:
    """Measure the risk of the file for each scenario and each set of key variables."""
    input:
        unpack(PLAN.files("risk", "source_")),
        file=PLAN.result("prepare_filerisk", "filerisk/prepared/file.parquet"),
        population=PLAN.result("prepare_filerisk", "filerisk/prepared/population.parquet"),
    output:
        scenarios="results/{study}/filerisk/scenarios.csv",
        diversity="results/{study}/filerisk/diversity.csv",
        set_variables="results/{study}/filerisk/set_variables.csv",
        ledger="results/{study}/ledger/assess_scenarios.json",
    log:
        "results/{study}/logs/assess_scenarios.log",
    benchmark:
        "results/{study}/benchmarks/assess_scenarios.tsv"
    conda:
        "../../environment.yml"
    threads: lambda wildcards, input: many_threads() if is_large(input.file) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("assess_scenarios"),
    script:
        "../scripts/assess_scenarios.py"


rule measure_thresholds:
    """Compare the risk of every record with the thresholds that regulators use, on a chain of steps that closes."""
    input:
        unpack(PLAN.files("risk", "source_")),
        file=PLAN.result("prepare_filerisk", "filerisk/prepared/file.parquet"),
        population=PLAN.result("prepare_filerisk", "filerisk/prepared/population.parquet"),
        categories=PLAN.result("prepare_filerisk", "filerisk/categories.csv"),
    output:
        risks="results/{study}/filerisk/risks.csv",
        thresholds="results/{study}/filerisk/thresholds.csv",
        judged="results/{study}/filerisk/judged.csv",
        ledger="results/{study}/ledger/measure_thresholds.json",
    log:
        "results/{study}/logs/measure_thresholds.log",
    benchmark:
        "results/{study}/benchmarks/measure_thresholds.tsv"
    conda:
        "../../environment.yml"
    threads: lambda wildcards, input: many_threads() if is_large(input.file) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("measure_thresholds"),
    script:
        "../scripts/measure_thresholds.py"


rule assess_units:
    """Measure the risk of units, such as households, by the values of all their members."""
    input:
        unpack(PLAN.files("risk", "source_")),
        file=PLAN.result("prepare_filerisk", "filerisk/prepared/file.parquet"),
    output:
        units="results/{study}/filerisk/units.csv",
        ledger="results/{study}/ledger/assess_units.json",
    log:
        "results/{study}/logs/assess_units.log",
    benchmark:
        "results/{study}/benchmarks/assess_units.tsv"
    conda:
        "../../environment.yml"
    threads: lambda wildcards, input: many_threads() if is_large(input.file) else 1
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("assess_units"),
    script:
        "../scripts/assess_units.py"


rule sample_population:
    """Draw samples of the population and set their DIS and DIS-SUDA beside it."""
    input:
        unpack(PLAN.files("risk", "source_")),
        population=PLAN.result("prepare_filerisk", "filerisk/prepared/population.parquet"),
    output:
        by_sample="results/{study}/filerisk/by_sample.csv",
        by_class="results/{study}/filerisk/by_class.csv",
        by_tenth="results/{study}/filerisk/by_tenth.csv",
        ledger="results/{study}/ledger/sample_population.json",
    log:
        "results/{study}/logs/sample_population.log",
    benchmark:
        "results/{study}/benchmarks/sample_population.tsv"
    conda:
        "../../environment.yml"
    threads: many_threads()
    resources:
        mem_mb=memory(40),
        runtime=minutes,
    params:
        **PLAN.params("sample_population"),
    script:
        "../scripts/sample_population.py"
