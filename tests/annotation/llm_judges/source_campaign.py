"""A people's campaign for models to judge again: pairs of responses of known lengths, some in both orders."""

from typing import Any

from django.utils import timezone

from annotation.enums import Judges
from annotation.llm_judges import judge_run, prompts
from annotation.llm_judges.run_orders import Order
from annotation.models import Campaign, Dimension, Item, Pair
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study
from tests.factories import (
    NOW,
    CampaignDimensionFactory,
    CampaignFactory,
    DimensionFactory,
    ItemFactory,
    PairFactory,
    ResponseFactory,
    StudyFactory,
    TopicFactory,
)
from writing.models import Response

NEITHER = [{"value": -1, "label": "Response A"}, {"value": 0, "label": "Neither"}, {"value": 1, "label": "Response B"}]
FORCED = [NEITHER[0], NEITHER[2]]


def endpoint(server: Any, **fields: Any) -> Endpoint:
    """The server's endpoint, free of charge."""
    return Endpoint.objects.create(
        **{
            "name": "judge",
            "base_url": server.url,
            "model": "m",
            "is_local": True,
            "is_allowed": True,
            "timeout": 10,
            "concurrency": 4,
            "supports_json_schema": True,
            **fields,
        }
    )


def campaign(study: Study | None = None, **fields: Any) -> Campaign:
    """A campaign of people that asks two questions: one with and one without a neutral answer."""
    study = study or StudyFactory()
    made: Campaign = CampaignFactory(study=study, judges=Judges.CROWD, **fields)
    ask(made, "coverage_broad", NEITHER, question="Which response looks at more aspects?", description="Aspects.")
    ask(made, "quality_overall", FORCED, question="Which response is better overall?", description="")
    return made


def ask(campaign: Campaign, name: str, options: list[dict[str, Any]], **fields: Any) -> Dimension:
    """Let a campaign ask one more question."""
    version = Dimension.objects.filter(study=campaign.study, name=name).count() + 1
    dimension: Dimension = DimensionFactory(
        study=campaign.study, name=name, version=version, label=name, options=options, **fields
    )
    CampaignDimensionFactory(campaign=campaign, dimension=dimension, position=campaign.campaign_dimensions.count())
    return dimension


def pair(campaign: Campaign, *, both: bool = True, a: str = "Longer, by far [0].", b: str = "Short.") -> Pair:
    """A pair of the campaign, in both orders or as given alone."""
    topic = TopicFactory(study=campaign.study)
    left, right = (ResponseFactory(topic=topic, text=text) for text in (a, b))
    made: Pair = PairFactory(a=left, b=right)
    ItemFactory(campaign=campaign, pair=made)
    if both:
        ItemFactory(campaign=campaign, pair=PairFactory(a=right, b=left))
    return made


def order(source: Campaign, endpoint: Endpoint, **asked: Any) -> Order:
    """An order for it."""
    text = asked.pop("prompt", prompts.default_text(source.study))
    prompt = prompts.ensure(study=source.study, text=text, now=timezone.now())
    return Order(endpoint=endpoint.pk, prompt=prompt.pk, source=source.pk, **asked)


def judge(source: Campaign, endpoint: Endpoint, **asked: Any) -> Run:
    """Have it judged."""
    return lifecycle.wait(judge_run.start(study=source.study, order=order(source, endpoint, **asked)))


def items(source: Campaign) -> list[Item]:
    """The items of the models' campaign."""
    return list(Item.objects.filter(campaign__source=source).order_by("pk"))


def erase(response: Response) -> None:
    """Erase a response's text, as its writer may wish."""
    Response.objects.filter(pk=response.pk).update(text="", erased_at=NOW, is_included=False)
