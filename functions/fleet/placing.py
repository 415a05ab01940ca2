"""Where a finding about a driver stands: at the config that it is made from, or at its kernel mappings."""

from krmfn import Field, Result, info

from ..finding import with_words
from ..kmm.module import MAPPINGS
from ..sources import of_field
from .drivers import Driver


def at_mappings(driver: Driver, finding: Result, at: str = "") -> Result:
    """Return the finding about a driver's kernel mappings, or about one of them (`[1]`), placed where it is written."""
    path = f"{MAPPINGS if driver.cluster is None else MAPPINGS.replace('spec.', 'spec.moduleSpec.', 1)}{at}"
    finding = at_config(driver, finding._replace(field=Field(f"spec.kernelMappings{at}" if driver.owner else path)))
    written = driver.origin and driver.origin.moved(info("", field=Field(path)))
    if not (written and written.field):
        return finding
    if written.ref == driver.claim.ref:
        return finding._replace(field=written.field)
    where = f"in {written.ref}, {written.field.path}"
    remedy = f"{finding.remedy} ({where})" if finding.remedy else f"change it {where}"
    place = written.place
    if place and written.ref:
        place = of_field(place, written.ref, written.field.path)
    return finding._replace(remedy=remedy, place=place)


def at_config(driver: Driver, finding: Result) -> Result:
    """Return the finding about a driver, placed at the config that it is made from."""
    pool = f"pool {driver.claim.pool}: " if driver.claim.pool else ""
    return with_words(finding, pool)._replace(ref=driver.claim.ref, place=driver.claim.place)
