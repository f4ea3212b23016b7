"""The run in which a model writes: order, units, work, forecast."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final

from django.utils import timezone

from crowdrag.jobs import lifecycle
from crowdrag.jobs.kinds import InputRejectedError, Work
from crowdrag.jobs.models import Run
from crowdrag.llm import forecasts, gateway
from crowdrag.llm.forecasts import Forecast, UnansweredError
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study, User

from ..models import ModelAnswer, Style, Topic, WritingPrompt
from . import outcomes, targets
from .targets import Slot, TopicSelection
from .writer import AnswerForm, Writer


def register_kind() -> None:
    """Register the run kind; called once when the app is ready."""

    from crowdrag.jobs.enums import Queue
    from crowdrag.jobs.kinds import Kind, register

    from . import queries

    register(
        Kind(
            name=KIND,
            title="Model writer run",
            queue=Queue.LLM,
            plan=plan,
            work=work,
            finish=finish,
            result_url=queries.result_url,
            describe=queries.describe_parameters,
            subjects=queries.run_subjects,
        )
    )


__all__ = ["KIND", "Forecast", "Order", "UnansweredError", "finish", "forecast", "plan", "start", "work"]

KIND: Final = "write.model"
PURPOSE: Final = "write"
# The slots of a unit, as a multiple of the endpoint's concurrency. A new call starts with each answer, so only at the
# end of a unit do calls wait for the slowest one.
ROUNDS: Final = 8


@dataclass(frozen=True)
class Order:
    """The order of a campaign as stored with its run: plain values and keys of rows."""

    endpoint: int
    prompt: int
    styles: tuple[int, ...]
    form: str = AnswerForm.TEXT
    which: str = TopicSelection.NO_MODEL
    topics: tuple[str, ...] = ()
    words: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    overlong: float = outcomes.OVERLONG
    accept_overlong: bool = False

    @classmethod
    def of(cls, run: Run) -> "Order":
        """Return the order of a run."""
        kept = dict(run.parameters)
        return cls(**{**kept, "styles": tuple(kept["styles"]), "topics": tuple(kept["topics"])})

    @property
    def kept(self) -> dict[str, Any]:
        """The order as run parameters."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()} | {
            "form": str(self.form),
            "which": str(self.which),
        }

    @property
    def digest(self) -> str:
        """A digest that identifies the order."""
        return hashlib.sha256(json.dumps(self.kept, sort_keys=True).encode()).hexdigest()[:16]

    def writer(self) -> Writer:
        """Return the writer."""
        return Writer(
            endpoint=Endpoint.objects.get(pk=self.endpoint),
            prompt=WritingPrompt.objects.get(pk=self.prompt),
            form=self.form,
            words=self.words,
            parameters=self.parameters,
        )

    def pairs(self, study: Study) -> list[tuple[Topic, Style]]:
        """Return the topics and styles to write now."""
        styles = sorted(Style.objects.filter(study=study, pk__in=self.styles), key=lambda s: self.styles.index(s.pk))
        return targets.select_slots(study=study, styles=styles, which=self.which, topics=self.topics)


def start(*, study: Study, order: Order, by: User | None = None, kind: str = KIND) -> Run:
    """Start a campaign.

    Raises
    ------
    InputRejectedError
        If there is nothing to write.
    """
    return lifecycle.start(study=study, kind=kind, parameters=order.kept, by=by)


def forecast(*, study: Study, order: Order) -> Forecast:
    """Forecast the cost of a campaign without sending anything."""
    writer = order.writer()
    requests = [writer.request(slot) for slot in targets.slots_of(order.pairs(study))]
    return forecasts.forecast(study=study, endpoint=writer.endpoint, requests=requests, purpose=PURPOSE)


def plan(run: Run) -> Iterable[dict[str, Any]]:
    """Plan units of a few slots each. This fixes the slots, so that a resumed run writes the same ones."""
    order = Order.of(run)
    slots = [[topic.pk, style.pk] for topic, style in order.pairs(run.study)]
    if not slots:
        raise InputRejectedError(
            [{"field": "topics", "message": "There is nothing to write. No topics with passages are left."}]
        )
    run.inputs_digest = hashlib.sha256(json.dumps([order.kept, slots], sort_keys=True).encode()).hexdigest()
    size = Endpoint.objects.get(pk=order.endpoint).slots * ROUNDS
    return [{"slots": slots[at : at + size]} for at in range(0, len(slots), size)]


def work(work: Work) -> None:
    """Let a model write for a few slots. Each answer is stored as soon as it arrives.

    Raises
    ------
    InputRejectedError
        If the endpoint is not allowed or the budget is spent. The run can be resumed after this is changed.
    UnansweredError
        If the server failed; the unit is retried.
    """
    run, order = work.run, Order.of(work.run)
    writer = order.writer()
    slots = _slots(work.unit.payload["slots"])
    total, done = len(slots), 0
    work.report(0, total, forecasts.describe_wait(writer.endpoint))

    def note_answer(answer: gateway.Answer) -> None:
        nonlocal done
        # Store each answer at once: writing takes long, and finished answers must survive a cancelled run.
        if answer.fault not in forecasts.TRANSIENT_FAULTS:
            work.keep(partial(keep, slots[answer.index], answer))
        done += 1
        work.report(done, total, _about(slots))

    def keep(slot: Slot, answer: gateway.Answer) -> None:
        now = timezone.now()
        outcomes.store_answer(
            run=run,
            slot=slot,
            participant=writer.participant(study=run.study, now=now),
            outcome=outcomes.classify(
                answer, slot=slot, form=order.form, words=writer.target(slot.style), overlong=order.overlong
            ),
            accept_overlong=order.accept_overlong,
            now=now,
        )

    try:
        answers = gateway.complete_many(
            endpoint=writer.endpoint,
            requests=[writer.request(slot) for slot in slots],
            study=run.study,
            purpose=PURPOSE,
            on_answer=note_answer,
            check=work.check,
        )
    except gateway.GatewayError as error:
        raise InputRejectedError([{"message": str(error)}]) from error
    forecasts.check_answered(writer.endpoint, answers)


def finish(run: Run) -> None:
    """Store the number of answers by outcome as the run's summary."""
    counted = Counter(ModelAnswer.objects.filter(run=run).values_list("outcome", flat=True))
    summary = {"answers": counted.total(), **{mark.lower(): counted[mark] for mark in sorted(counted)}}
    lifecycle.note(run=run, summary=summary)


def _slots(keys: Sequence[Sequence[int]]) -> list[Slot]:
    topics = Topic.objects.in_bulk({topic for topic, _style in keys})
    styles = Style.objects.in_bulk({style for _topic, style in keys})
    return targets.slots_of([(topics[topic], styles[style]) for topic, style in keys])


def _about(slots: Sequence[Slot]) -> str:
    first = slots[0]
    more = f" +{len(slots) - 1}" if len(slots) > 1 else ""
    return f"{first.topic.title}, {first.style.label}{more}"
