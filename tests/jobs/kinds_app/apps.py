"""Registers the tests' kinds in workers that are started with tests.jobs.worker_settings."""

from django.apps import AppConfig


class KindsAppConfig(AppConfig):
    name = "tests.jobs.kinds_app"
    label = "runs_test_kinds"

    def ready(self) -> None:
        from tests.jobs.kinds_app import kinds

        kinds.register_all()
