"""Key figures of a study."""

from ..agreement import PAGE
from ..method import STUDY, Method
from . import compute, tables

METHOD = Method(
    name="key_figures",
    title="Key figures",
    section=STUDY,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    pages=(PAGE,),
)
