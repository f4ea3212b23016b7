"""JavaScript that needs no browser, tested by Node's own test runner."""

import subprocess

from tests.js.node import FOLDER, NODE


def test_modules_that_need_no_browser() -> None:
    command = [NODE, "--test", "--test-reporter=spec", f"{FOLDER}/**/*.test.js"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests 0" not in done.stdout, "no test was found"
