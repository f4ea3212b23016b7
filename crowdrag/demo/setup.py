"""Create the demo study: people, imported texts, and further runs.

The runs: a simulated crowd judges, the local model writes missing responses, and these are judged as well. Each step
starts the next one in the transaction that ends it, so that an interrupted demo continues where it stopped. The model's
work is in the background: it makes way for runs that a person starts.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analysis.analyses import services as analyses_services
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.kinds import Work
from crowdrag.jobs.models import Run
from crowdrag.llm import endpoints
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Participant, Study, User
from crowdrag.studies.study import services as study_services
from writing.corpus import versions
from writing.corpus.imports import importers
from writing.llm_writers import prompts, writer_run
from writing.llm_writers.targets import TopicSelection
from writing.llm_writers.writer import AnswerForm
from writing.models import Style

from . import crowd, judges, simulated_judgments, texts, writers

LOCAL_ENDPOINT = endpoints.LOCAL_NAME
# Some temperature, and a penalty on repetition, which very small models need.
PARAMETERS = {"temperature": 0.4, "frequency_penalty": 0.6, "max_tokens": 900, "seed": 0}


def writing_order(*, study: Study, now: datetime) -> writer_run.Order:
    """Return the order to the local model: the missing responses, in a format that restricts it to its passages."""
    styles = [Style.objects.filter(study=study, name=name).latest("version") for name in texts.STYLES]
    return writer_run.Order(
        endpoint=Endpoint.objects.get(name=LOCAL_ENDPOINT).pk,
        prompt=prompts.ensure(study=study, text=prompts.default_text(study), now=now).pk,
        styles=tuple(style.pk for style in styles),
        form=AnswerForm.STATEMENTS,
        which=TopicSelection.NOBODY,
        parameters=PARAMETERS,
    )


def after_writing(run: Run) -> None:
    """Start the judgments of the written responses."""
    writer_run.finish(run)
    lifecycle.start(study=run.study, kind="demo.judge", by=run.created_by, seed=run.seed)


def simulate_judgments(work: Work) -> Callable[[], None]:
    """Simulate the crowd's judgments of all pairs of responses."""
    topics, expected = simulated_judgments.responses(work.run.study)
    simulated = crowd.simulate(
        topics,
        rng=np.random.default_rng(work.run.seed),
        opened_at=work.run.created_at - timedelta(days=7),
        settings=simulated_judgments.CROWD_SETTINGS,
        expected=expected,
    )
    work.report(1, 2, f"{len(simulated.judgments)} judgments")

    def effect() -> None:
        simulated_judgments.store(study=work.run.study, simulated=simulated, now=timezone.now())

    return effect


def after_judging(run: Run) -> None:
    """Start the analysis of the judgments."""
    analyses_services.start(study=run.study, by=run.created_by, seed=run.seed)


SLUG = "demo"
EMAIL = "demo@localhost.localdomain"
DESCRIPTION = (
    "Five everyday questions with twenty passages each. Texts were written for this demo; a local model adds some. "
    "The crowd is simulated, so the results mean nothing."
)
IMPORTS = (
    ("topics", "topics.jsonl"),
    ("questionnaire", "questionnaire.json"),
    ("responses", "responses.jsonl"),
    ("responses", "systems.jsonl"),
)


class DemoError(RuntimeError):
    """The demo could not be set up."""


@dataclass(frozen=True)
class Demo:
    """The demo study and its logins and links."""

    study: Study
    email: str
    password: str
    # The public links for writing and for judging, without the host; empty if closed.
    link: str
    judging: str = ""


def set_up(*, now: datetime | None = None) -> Demo:
    """Create or complete the demo study. Idempotent.

    Raises
    ------
    DemoError
        If an import failed.
    """
    now = now or timezone.now()
    user, password = ensure_login(folder=settings.DATA_DIR)
    study = Study.objects.filter(slug=SLUG).first() or study_services.create(
        slug=SLUG, title="Demo", description=DESCRIPTION, by=user, now=now, is_simulated=True, text_licence="CC0-1.0",
        researchers="Whoever runs this demonstration on their own machine.",
        payment="This is a demonstration: the amounts shown are not paid out.",
        retention="It stays on this machine until the demonstration's folder is deleted.",
        contact="Whoever gave you the link.",
    )  # fmt: skip
    versions.ensure_styles(study=study, names=texts.STYLES, now=now)
    if not study.runs.filter(kind="demo.judge").exists():
        for what, name in IMPORTS:
            _import(study, what, texts.FOLDER / name, user)
        Participant.objects.filter(study=study, external_id__startswith="author-").update(is_simulated=True)
        _begin(study, user, now)
    link = writers.ensure(study=study, user=user, now=now)
    judging = judges.ensure(study=study, user=user, now=now)
    if settings.LLM_URL:
        judges.ask_the_model(study=study, user=user, now=now)
    return Demo(
        study=study,
        email=user.email,
        password=password,
        link=writers.address(link),
        judging=writers.address(judging) if judging else "",
    )


def ensure_login(*, folder: Path) -> tuple[User, str]:
    """Return the demo's user, an operator, and the password, which is stored in a file that only its owner can read."""
    kept = folder / "demo-password"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        kept.touch(mode=0o600)
        kept.write_text(secrets.token_urlsafe(12))
    password = kept.read_text().strip()
    user = User.objects.filter(email=EMAIL).first() or User.objects.create_superuser(EMAIL, password, name="Demo")
    if not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    return user, password


def _import(study: Study, what: str, path: Path, by: User) -> None:
    run = lifecycle.wait(importers.start(study=study, importer=importers.get(what), files={"file": path}, by=by))
    if run.state != RunState.DONE:
        raise DemoError(f"Import of {path.name} ended as {run.get_state_display()}: {run.problems or run.error}")


def _begin(study: Study, user: User, now: datetime) -> None:
    """Start the judgments; if there is a local model, also let it write missing responses, which are then judged."""
    with transaction.atomic():
        lifecycle.start(study=study, kind="demo.judge", by=user)
        if settings.LLM_URL:
            endpoints.ensure_local()
            order = writing_order(study=study, now=now)
            lifecycle.move_to_background(writer_run.start(study=study, order=order, by=user, kind="demo.write"))
