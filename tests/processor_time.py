"""The processor time of each file of tests, listed after a run that lists its slowest tests.

Counted are the process of the tests and the children it waited for, not the database's processes and browsers.
"""

import os
from collections import Counter
from collections.abc import Generator

import pytest

KEY, LISTED = "processor time", 25


def spent() -> float:
    """Return the seconds of processor time of this process and of its children so far."""
    return sum(os.times()[:4])


class ProcessorTime:
    """A plugin: workers measure each phase of a test, and whoever started them adds up."""

    def __init__(self) -> None:
        self.last = spent()
        self.seconds: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add to the report of a phase what it took, with what stood between it and the phase before."""
        report = yield
        now = spent()
        report.user_properties = [*report.user_properties, (KEY, now - self.last)]
        self.last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count it for the file."""
        file = report.nodeid.partition("::")[0]
        self.seconds[file] += sum(seconds for name, seconds in report.user_properties if name == KEY)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the files that took the most."""
        if terminalreporter.config.getoption("durations"):
            total = sum(self.seconds.values())
            terminalreporter.section(f"most processor time, of {total:.0f} s in {len(self.seconds)} files")
            for file, seconds in self.seconds.most_common(LISTED):
                terminalreporter.write_line(f"{seconds:6.2f}s {file}")
