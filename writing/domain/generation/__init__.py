"""Models as writers: the same instructions and passages that people get, asked through the gateway, as a run.

| module | what |
|---|---|
| `prompts` | what a model is told: the study's prompt in versions, its places filled in |
| `writers` | a model as a participant: endpoint, prompt, form of the answer, parameters; what it is asked for a slot |
| `slots` | which topics in which styles are to be written |
| `outcomes` | what an answer comes to: written, too long, empty, refused, broken, of no use |
| `campaigns` | the run: its order, units, work; what it would cost |
| `keeping` | storing answers, and the responses that come of them |
| `parameter_display` | what a run was asked for, in words |
| `listing` | what pages show of campaigns and answers |
"""


def register() -> None:
    """Add campaigns to the kinds of runs; called once, when the app is ready."""
    from django.utils.translation import gettext_lazy as _

    from crowdrag.jobs.enums import Queue
    from crowdrag.jobs.kinds import Kind, register

    from . import campaigns, listing, parameter_display

    register(
        Kind(
            name=campaigns.KIND,
            title=_("A model writes"),
            queue=Queue.LLM,
            plan=campaigns.plan,
            work=campaigns.work,
            finish=campaigns.finish,
            result_url=listing.url_of,
            told=parameter_display.describe,
        )
    )
