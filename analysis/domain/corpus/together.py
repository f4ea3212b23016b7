"""What must hold of an archive's rows together, when all of them are in."""

from django.db.models import F, Q

from annotation.enums import HOLDING
from annotation.models import Assignment
from crowdrag.studies.models import Study
from writing.corpus.imports.problems import Problems

from . import tables
from .columns import Places


def check(study: Study, places: Places, problems: Problems) -> None:
    """Note every assignment that should hold a place and holds none, or holds one and should not."""
    needs = Q(state__in=HOLDING)
    wrong = Assignment.objects.filter(
        Q(place__isnull=True) & needs | Q(place__isnull=False) & ~needs,
        questionnaire__campaign__study=study,
        questionnaire__campaign__has_places=True,
    )
    file = next(table.file for table in tables.TABLES if table.model is Assignment)
    for pk, state, place in wrong.order_by("pk").values_list("pk", "state", F("place")):
        holds = "holds a place" if place else "holds no place"
        expected = f"a place for assignments that are {', '.join(HOLDING)}, and for no others"
        problems.add(
            file=file, line=places.find("assignments", pk) or 0, field="state", expected=expected,
            message=f"is {state} and {holds}",
        )  # fmt: skip
