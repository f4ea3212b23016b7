"""The guide's examples, run as they stand, against a server and by another process."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache

from crowdrag.accounts import tokens
from crowdrag.accounts.enums import Scope
from crowdrag.accounts.tokens import MAX_LIFETIME
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import User
from tests.annotation.llm_judges import source_campaign
from tests.factories import MembershipFactory, StudyFactory, UserFactory
from tests.pages.llm_judge_rows import SAID, furnish_model_judges
from tests.submitted_responses import submitted, typed
from writing.enums import TaskState
from writing.models import WritingTask

TOPIC = '{"topic": "1", "query": "Why do leaves fall?", "passages": [{"id": "a", "text": "So."}]}\n'
GUIDE = Path(__file__).parents[2] / "docs/guides/api.md"


def example(mark: str) -> str:
    """An example of the guide."""
    found = re.search(rf"<!-- {mark} -->\n```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert found is not None
    return found.group(1)


@pytest.mark.django_db(transaction=True)
def test_the_guides_example_does_what_it_says(live_server: Any, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(example("example"))
    (tmp_path / "topics.jsonl").write_text(TOPIC)
    scopes = [Scope.CREATE, Scope.WRITE]
    _token, text = tokens.issue(by=UserFactory(), name="example", scopes=scopes, studies=None, lasts=MAX_LIFETIME)
    script = subprocess.Popen(
        [sys.executable, "example.py"],
        cwd=tmp_path,
        env=os.environ | {"CROWDRAG": live_server.url, "CROWDRAG_TOKEN": text},
        stdout=subprocess.PIPE,
        text=True,
    )
    while script.poll() is None and not Run.objects.exists():
        time.sleep(0.1)
    for run in Run.objects.all():
        lifecycle.wait(run)
    assert script.communicate(timeout=120)[0] == "1 Why do leaves fall?\n"
    assert script.returncode == 0


def ran(mark: str, folder: Path, server: str, by: User, *scopes: Scope, **variables: str) -> list[str]:
    """Run an example as this person; return the lines that it printed."""
    (folder / "example.py").write_text(example(mark))
    _token, text = tokens.issue(by=by, name="example", scopes=scopes, studies=None, lasts=MAX_LIFETIME)
    env = os.environ | {"CROWDRAG": server, "CROWDRAG_TOKEN": text} | variables
    command = [sys.executable, "example.py"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.django_db(transaction=True)
def test_the_guides_example_of_review_accepts_what_nothing_stands_out_of(live_server: Any, tmp_path: Path) -> None:
    cache.clear()
    study = StudyFactory(slug="leaves")
    plain = submitted(study, minutes=9, events=typed("All of this was typed by hand, letter by letter."))
    copied = submitted(study)
    reviewer = MembershipFactory(study=study, role=Role.REVIEWER).user
    lines = ran("example of review", tmp_path, live_server.url, reviewer, Scope.READ, Scope.WRITE)
    assert [line.split()[0] for line in lines] == [plain.response.external_id, copied.response.external_id]
    states = [WritingTask.objects.get(pk=each.pk).state for each in (plain, copied)]
    assert states == [TaskState.ACCEPTED, TaskState.SUBMITTED]


@pytest.mark.django_db(transaction=True)
def test_the_guides_example_of_answers_prints_what_was_answered_instead(live_server: Any, tmp_path: Path) -> None:
    study = StudyFactory(slug="leaves")
    source = source_campaign.campaign(study)
    for _pair in range(3):
        source_campaign.pair(source)
    run, _measured = furnish_model_judges(source)
    editor = MembershipFactory(study=study, role=Role.EDITOR).user
    lines = ran("example of answers", tmp_path, live_server.url, editor, Scope.READ, RUN=str(run.key))
    others = run.judging_answers.exclude(outcome="JUDGED").order_by("pk")
    counted = dict.fromkeys(run.judging_answers.order_by("pk").values_list("outcome", flat=True), 1)
    assert lines == [*(f"{one.item.topic.external_id} {one.outcome} {SAID}" for one in others), str(counted)]
