"""Models as judges: the same questions and texts that people get, asked through the gateway, as a run.

| module | what |
|---|---|
| `prompts` | what a model is told: the study's prompt in versions, its places filled in |
| `judges` | a model as a participant: endpoint, prompt, parameters; what it is asked of an item |
| `outcomes` | what an answer comes to: judged, refused, empty, cut, of no use |
| `choosing` | which of a campaign's items are judged, in which orders |
| `campaigns` | the campaign that a model's judgments stand in, with its items |
| `keeping` | storing answers and the judgments that come of them |
| `orders` | what is asked for, and what it would come to |
| `judging` | the run that judges |
| `attacks`, `injecting` | texts that tell a judge what to say; the run that plants them |
| `measured` | what that found |
| `listing` | what pages show |
| `telling` | what a run was asked for, in words |
"""


def register() -> None:
    """Add judging to the kinds of runs; called once, when the app is ready."""
    from django.utils.translation import gettext_lazy as _

    from crowdrag.jobs.enums import Queue
    from crowdrag.jobs.kinds import Kind, register

    from . import injecting, judging, listing, telling  # not at the top: the models are not there yet

    register(
        Kind(
            name=judging.KIND,
            title=_("A model judges"),
            queue=Queue.LLM,
            plan=judging.plan,
            work=judging.work,
            finish=judging.finish,
            result_url=listing.url_of,
            told=telling.told,
        )
    )
    register(
        Kind(
            name=injecting.KIND,
            title=_("Texts that tell a model what to judge"),
            queue=Queue.LLM,
            plan=injecting.plan,
            work=injecting.work,
            finish=injecting.finish,
            result_url=listing.url_of,
            told=telling.told,
        )
    )
