"""Registers the tests' kinds in workers that are started with tests.runs.worker_settings."""

from django.apps import AppConfig


class KindsAppConfig(AppConfig):
    name = "tests.runs.kinds_app"
    label = "runs_test_kinds"

    def ready(self) -> None:
        from . import kinds

        kinds.register_all()
