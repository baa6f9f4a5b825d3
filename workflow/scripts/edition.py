"""Adapter of the rule `edition`."""

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

from reident import ledger
from reident.edition import make, publish
from reident.ledger.stored import encoded
from reident.pipeline import release
from reident.study import editions, rounding

with ledger.step(snakemake) as step, ThreadPoolExecutor(1) as beside:
    # What renders pages takes a second to import.
    page = beside.submit(import_module, "reident.report.edition")
    step.check_chain()
    tables = {name: step.read(name) for name in make.READ if name in step.inputs}
    tables |= {name: step.path(name) for name in make.HASHED if name in step.inputs}
    tables["pairs"] = [pairs.read(columns=make.PAIRS) for pairs in step.open_all("pairs")]
    earlier = [editions.read(step.path(name)) for name in make.earlier(step.inputs)]
    made = make.make(step.settings, rounding.load(step.path("policy")), tables, earlier, release.version() or "")
    record, counts = publish.text(made), publish.table(made)
    font = next(iter(step.inputs["font"]), None)
    pages = page.result().render(made, font, step.say)
    step.write_all({"record": record, "counts": counts, **pages._asdict()})
    step.write_all({"public_record": record, "public_counts": encoded(counts, step.outputs["counts"])})
