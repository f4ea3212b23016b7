"""Key figures of a study."""

from django.utils.translation import gettext_lazy as _

from ..agreement import PAGE
from ..method import STUDY, Method
from . import compute, tables

METHOD = Method(
    name="key_figures",
    title=_("Key figures"),
    section=STUDY,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    pages=(PAGE,),
)
