"""A campaign in which a model wrote, every outcome once: rows alone, nothing is asked."""

from django.utils import timezone

from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study
from writing.enums import AnswerOutcome
from writing.llm_writers import outcomes, prompts, targets, writer_run
from writing.models import Topic

SAID = {
    AnswerOutcome.WRITTEN: "The sun's tide adds to the moon's [0]. Harbours far up a funnel see more of it [1].",
    AnswerOutcome.REFUSED: "I'm sorry, but I can't write about harbours.",
    AnswerOutcome.EMPTY: "",
}


def campaign(study: Study) -> Run:
    """Make it, stopped by hand."""
    now = timezone.now()
    endpoint, _made = Endpoint.objects.get_or_create(
        name="a model far away", defaults={"base_url": "https://api.example.org/v1", "model": "m-1", "is_allowed": True}
    )
    order = writer_run.Order(
        endpoint=endpoint.pk,
        prompt=prompts.ensure(study=study, text=prompts.default_text(study), now=now).pk,
        styles=tuple(study.styles.order_by("id").values_list("pk", flat=True)[:1]),
        which="all",
        parameters={"temperature": 0.5},
    )
    run = writer_run.start(study=study, order=order)
    writer = order.writer().participant(study=study, now=now)
    topics = Topic.objects.filter(study=study, retrieved__isnull=False).distinct().order_by("id")
    for topic, (outcome, text) in zip(topics, SAID.items(), strict=False):
        outcomes.store_answer(
            run=run,
            slot=targets.slot_of(topic=topic, style=study.styles.order_by("id")[0]),
            participant=writer,
            outcome=outcomes.Outcome(outcome, text, len(text.split())),
            accept_overlong=False,
            now=now,
        )
    return lifecycle.cancel(run=run)
