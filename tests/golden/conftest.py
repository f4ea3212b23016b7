"""What golden tests share: the option that accepts changes, and the check of a part of a study."""

from collections.abc import Callable

import pytest

from tests.golden import store
from tests.golden.comparison import message

Check = Callable[[str, str, store.Outputs], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(store.ACCEPT, action="store_true", help="write the golden files anew instead of comparing")


@pytest.fixture
def check(request: pytest.FixtureRequest) -> Check:
    """Compare the outputs of a part of a study with its golden files, or accept them."""
    accepts = request.config.getoption(store.ACCEPT, default=False)

    def checked(study: str, part: str, outputs: store.Outputs) -> None:
        assert outputs, f"{study} has no outputs in {part}"
        if accepts:
            store.accept(study, part, outputs)
        if found := store.compare(study, part, outputs):
            pytest.fail(message(found, store.HOW_TO_ACCEPT), pytrace=False)

    return checked
