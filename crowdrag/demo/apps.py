"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class DemoConfig(AppConfig):
    """The demo study."""

    name = "crowdrag.demo"
    label = "demo"
    verbose_name = _("Demo")

    def ready(self) -> None:
        """Register what the demo does for long."""
        from crowdrag.demo import setup
        from crowdrag.jobs.kinds import Kind, register
        from writing.llm_writers import queries, writer_run

        register(
            Kind(
                name="demo.write",
                title=_("Responses by the local model"),
                queue="llm",
                plan=writer_run.plan,
                work=writer_run.work,
                finish=setup.after_writing,
                result_url=queries.result_url,
                describe=queries.describe_parameters,
            )
        )
        register(
            Kind(
                name="demo.judge",
                title=_("Judgments by a simulated crowd"),
                work=setup.simulate_judgments,
                finish=setup.after_judging,
            )
        )
