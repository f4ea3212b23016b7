"""What a web process holds when it begins to answer."""

import subprocess
import sys

import pytest

_HELD = """
import gc, sys
from crowdrag import wsgi
print(gc.get_freeze_count(), "annotation.progress.views" in sys.modules)
"""


@pytest.mark.extended
def test_views_are_loaded_and_out_of_the_collectors_way_before_the_first_request() -> None:
    told = subprocess.run([sys.executable, "-c", _HELD], capture_output=True, text=True, check=True, timeout=120)
    frozen, loaded = told.stdout.split()
    assert int(frozen) > 50_000
    assert loaded == "True"
