"""What the logs of responses tell about their writing (design 7.5)."""

from collections.abc import Sequence

from crowdrag.studies.models import Study
from writing.models import WritingTask

from .. import inputs

#: Names of the measures, in the order in which they are computed; all None where a response has no log.
MEASURES = ("seconds", "active_seconds")


def load(study: Study, responses: Sequence[inputs.Response]) -> tuple[inputs.Process, ...]:
    """Read what is known of the writing of each response that has a log."""
    place = {response.name: i for i, response in enumerate(responses)}
    rows = WritingTask.objects.filter(study=study, response__is_included=True, log__isnull=False)
    columns = ("response__external_id", *MEASURES)
    found = {name: values for name, *values in rows.values_list(*columns)}
    return tuple(
        inputs.Process(place[name], dict(zip(MEASURES, values, strict=True)))
        for name, values in sorted(found.items())
        if name in place
    )
