"""What somebody did not agree to release is not in a release, and is counted with the reason."""

from datetime import timedelta

import pytest

from analysis.releases.choices import Logs, Timing
from analysis.releases.contents import permissions, selection
from analysis.releases.contents.log_tables import LOGS
from analysis.releases.contents.selection import JUDGMENTS, QUESTIONNAIRE_TIMES, RESPONSE_TIMES, RESPONSES
from crowdrag.studies.participants import withdrawal
from tests.analysis.releases.consents import agrees, all_agree, person, study
from tests.analysis.releases.release_files import read
from tests.factories import NOW

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_transaction")]
FULL = {"logs": Logs.FULL, "timing": Timing.EXACT, "comments": True}


def test_where_everybody_agreed_nothing_is_left_out() -> None:
    tables, layout, left_out = read(all_agree(study()), **FULL)
    assert left_out == {}
    assert [row["response"] for row in tables["responses"]] == ["human", "model"]
    assert len(tables["judgments"]) == len(tables["questionnaires"]) == 2
    assert tables["judgments"][0]["justification"] == "It is better."
    assert [row["event"] for row in tables["log_events"]] == ["a", "s", "k", "s", "s", "q", "s"]
    assert layout["raw/study1_responses_human"][-1]["text"] == tables["responses"][0]["text"]


def test_who_was_never_asked_is_left_out_and_what_is_about_them_too() -> None:
    made = study()
    agrees(made, "writer", to="judging")  # which says nothing of what they wrote
    tables, layout, left_out = read(made, **FULL)
    assert [row["response"] for row in tables["responses"]] == ["model"]
    assert layout["raw/study1_responses_human"] == []
    assert left_out[RESPONSES, permissions.NEVER_ASKED] == 1
    assert left_out[JUDGMENTS, selection.ON_WITHHELD] == 2


def test_a_text_that_is_not_to_be_released_takes_its_judgments_along() -> None:
    made = all_agree(study())
    agrees(made, "writer", to="writing again", given_at=NOW + timedelta(days=1), releases_text=False)  # the last counts
    tables, _layout, left_out = read(made, **FULL)
    assert left_out == {(RESPONSES, permissions.NOT_AGREED): 1, (JUDGMENTS, selection.ON_WITHHELD): 2}
    assert {row["participant"] for row in tables["participants"]} == {"m-1"}
    assert tables["log_events"] == tables["questionnaires"] == tables["survey_answers"] == []


def test_a_text_without_its_log_and_without_its_times() -> None:
    made = study()
    agrees(made, "writer", releases_log=False, releases_timing=False)
    tables, layout, left_out = read(made, **FULL)
    assert left_out[LOGS, permissions.NOT_AGREED] == left_out[RESPONSE_TIMES, permissions.NOT_AGREED] == 1
    assert tables["log_events"] == tables["log_measures"] == []
    (row, _model) = tables["responses"]
    assert (row["submitted_at"], row["seconds"], row["active_seconds"]) == (None, None, None)
    (state,) = layout["raw/study1_responses_human"]
    assert (state["timestamp"], state["text"]) == (0, row["text"])


def test_a_log_without_its_times_is_events_in_their_order_and_has_no_minutes() -> None:
    made = study()
    agrees(made, "writer", releases_timing=False)
    tables, _layout, _left_out = read(made, **FULL)
    assert [row["event"] for row in tables["log_events"]] == ["a", "s", "s", "s", "q", "s"]  # no timing of keys
    assert {row["ms"] for row in tables["log_events"]} == {None}
    (measures,) = tables["log_measures"]
    assert measures["produced"] is not None
    assert {value for name, value in measures.items() if "second" in name or "rate" in name} == {None}
    tables, _layout, left_out = read(made, logs=Logs.MINUTES, timing=Timing.MINUTE)
    assert tables["log_states"] == []
    assert left_out[LOGS, permissions.NOT_AGREED] == 1


@pytest.mark.extended
def test_other_terms_than_the_release_has_are_none_but_free_ones_are() -> None:
    made = study()
    agrees(made, "writer", licence="CC BY NC 4.0")
    _tables, _layout, left_out = read(made)
    assert left_out[RESPONSES, permissions.OTHER_TERMS.format(licence="CC BY NC 4.0")] == 1
    tables, _layout, left_out = read(made, licence="cc-by-nc-4.0")
    assert [row["licence"] for row in tables["responses"]] == ["CC BY NC 4.0", "cc-by-nc-4.0"]
    free = study(slug="free")
    agrees(free, "writer", licence="CC0-1.0")
    tables, _layout, left_out = read(free, licence="CC-BY-SA-4.0")
    assert tables["responses"][0]["licence"] == "CC0-1.0"
    assert not [what for what, _reason in left_out if what == RESPONSES]


def test_judges_who_withdrew_or_keep_their_words_to_themselves() -> None:
    made = all_agree(study())
    gone, quiet = (person(made, f"judge-{n}").consents.get() for n in range(2))
    gone.withdrawn_at = NOW
    gone.save()
    quiet.releases_text = quiet.releases_timing = False
    quiet.save()
    tables, _layout, left_out = read(made, **FULL)
    assert left_out == {(JUDGMENTS, permissions.WITHDRAWN): 1, (QUESTIONNAIRE_TIMES, permissions.NOT_AGREED): 1}
    _tables, _layout, without_times = read(made, timing=Timing.ABSENT)
    assert QUESTIONNAIRE_TIMES not in {what for what, _reason in without_times}
    (judgment,), (sheet,) = tables["judgments"], tables["questionnaires"]
    assert (judgment["value"], judgment["justification"], judgment["judged_at"]) == (-1, None, None)
    assert (sheet["comment"], sheet["seconds"], sheet["submitted_at"]) == (None, None, None)


def test_of_who_had_everything_erased_there_is_nothing() -> None:
    made = all_agree(study())
    before, _layout, _left_out = read(made, **FULL)
    withdrawal.erase(participant=person(made, "writer"), now=NOW + timedelta(days=1))
    tables, layout, left_out = read(made, **FULL)
    assert left_out[RESPONSES, permissions.ERASED] == 1
    gone = before["responses"][0]
    rows = repr(([*tables.values()], [*layout.values()]))
    for word in (gone["participant"], "writer", "'human'", gone["text"], "Ashby"):
        assert word not in rows


def test_simulated_people_and_those_of_other_collections_need_not_be_asked() -> None:
    made = study()
    made.is_simulated = True
    made.save()
    tables, _layout, left_out = read(made)
    assert left_out == {}
    assert all(row["is_simulated"] for row in tables["participants"])
    elsewhere = all_agree(study(slug="elsewhere"))
    elsewhere.writing_tasks.update(is_imported=True)
    person(elsewhere, "writer").consents.all().delete()
    tables, _layout, left_out = read(elsewhere)
    assert (left_out, len(tables["responses"])) == ({}, 2)
