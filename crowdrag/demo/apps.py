"""The registration of the demo app."""

from django.apps import AppConfig
from django.urls import reverse


class DemoConfig(AppConfig):
    """The demo study."""

    name = "crowdrag.demo"
    label = "demo"
    verbose_name = "Demo"

    def ready(self) -> None:
        """Register the demo's run kinds."""
        from crowdrag.demo import sample, setup
        from crowdrag.jobs.kinds import Kind, register
        from crowdrag.studies.navigation import StartOffer, register_start
        from writing.llm_writers import queries, writer_run

        register(
            Kind(
                name="demo.write",
                title="Responses by the local model",
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
                title="Judgments by a simulated crowd",
                work=setup.simulate_judgments,
                finish=setup.after_judging,
            )
        )
        register(
            Kind(
                name=sample.KIND,
                title="Sample data",
                work=sample.store_sample,
                finish=sample.after_sample,
                result_url=lambda run: reverse("responses", args=[run.study.slug]),
            )
        )
        register_start(
            StartOffer(
                order=30,
                title="Try with sample data",
                text="Five topics with passages and responses, judged by a simulated crowd and analysed. "
                "The study is marked as simulated, so use another study for your own data.",
                label="Use sample data",
                url_name="copy_sample",
                is_post=True,
            )
        )
