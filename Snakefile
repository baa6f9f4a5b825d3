"""For `snakemake` in this folder: the workflow is workflow/Snakefile, where other workflows look for it."""

# As `include:`, which would leave the run without a default target.
workflow.include("workflow/Snakefile", overwrite_default_target=True)
