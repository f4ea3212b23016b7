"""The guide's example, run as it stands, against a server and by another process."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from crowdrag.api.domain import tokens
from crowdrag.api.domain.tokens import LONGEST
from crowdrag.api.enums import Scope
from crowdrag.runs.domain import running
from crowdrag.runs.models import Run
from tests.factories import UserFactory

TOPIC = '{"topic": "1", "query": "Why do leaves fall?", "passages": [{"id": "a", "text": "So."}]}\n'
GUIDE = Path(__file__).parents[2] / "docs/guides/api.md"


@pytest.mark.django_db(transaction=True)
def test_the_guides_example_does_what_it_says(live_server: Any, tmp_path: Path) -> None:
    found = re.search(r"<!-- example -->\n```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert found is not None
    (tmp_path / "example.py").write_text(found.group(1))
    (tmp_path / "topics.jsonl").write_text(TOPIC)
    scopes = [Scope.CREATE, Scope.WRITE]
    _token, text = tokens.issue(by=UserFactory(), name="example", scopes=scopes, studies=None, lasts=LONGEST)
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
        running.wait(run)
    assert script.communicate(timeout=120)[0] == "1 Why do leaves fall?\n"
    assert script.returncode == 0
