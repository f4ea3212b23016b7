"""The doctor says what is here, what is missing and what to do."""

from .conftest import System


def test_a_running_system_is_well(running: System) -> None:
    said = running.crowdrag("doctor")
    assert "8 services ready" in said
    assert "PostgreSQL      18" in said
    assert "valkey" in said
    assert "up to date" in said
    assert "answers at http://127.0.0.1:" in said
    assert "384 numbers a word" in said
    assert "WRONG" not in said


def test_what_is_missing_is_named_with_its_cure(system: System) -> None:
    said = system.crowdrag(
        "doctor", fails=True, BROKER_URL="redis://127.0.0.1:1/0", CROWDRAG_LLM_URL="http://127.0.0.1:1/v1"
    )
    assert "WRONG  Broker" in said
    assert "WRONG  Language model" in said
    assert "does not run" in said
    assert "crowdrag up" in said
    assert "ok     PostgreSQL" in said
    assert "Traceback" not in said
