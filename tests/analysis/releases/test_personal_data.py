"""Personal data in texts: found, decided on, blacked out or left out; what nobody decided on is not released."""

from datetime import timedelta

import pytest

from analysis.enums import PersonalKind, PersonalVerdict, TextSource
from analysis.models import PersonalDataFinding
from analysis.releases.choices import Choices, Logs, Timing
from analysis.releases.contents import selection
from analysis.releases.contents.log_tables import LOGS
from analysis.releases.personal_data import detection, redaction, services
from annotation.models import Assignment, Judgment
from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants import identity, withdrawal
from tests.analysis.releases.consents import EVENTS, all_agree, person, study
from tests.analysis.releases.release_files import read
from tests.factories import NOW
from writing.models import Passage, Response

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_transaction")]
FULL = {"logs": Logs.FULL, "timing": Timing.EXACT, "comments": True}
PHONE = "+44 20 7946 0123"
TEXT = f"Leaves fall [0]. Call {PHONE} in Ashby."
LATER = NOW + timedelta(hours=1)


def looked(made: Study, **choices) -> dict[tuple[str, str], PersonalDataFinding]:
    detection.look(study=made, choices=Choices(**FULL | choices), now=LATER)()
    return {(each.source, each.kind): each for each in PersonalDataFinding.objects.filter(study=made)}


def decided(made: Study, verdict: PersonalVerdict, *findings: PersonalDataFinding, reason: str = "") -> int:
    chosen = [each.pk for each in findings or PersonalDataFinding.objects.filter(study=made)]
    return services.decide(study=made, findings=chosen, verdict=verdict, reason=reason, now=LATER)


def test_what_is_found_is_shown_where_it_stands_and_kept_without_its_text() -> None:
    made = all_agree(study(text=TEXT))
    found = looked(made)
    assert set(found) == {(TextSource.RESPONSE, PersonalKind.PHONE), (TextSource.RESPONSE, PersonalKind.ANSWER)}
    (shown,) = services.shown([found[TextSource.RESPONSE, PersonalKind.PHONE]])
    assert (shown.before, shown.match, shown.after) == ("Leaves fall [0]. Call ", PHONE, " in Ashby.")
    assert PHONE not in repr(list(PersonalDataFinding.objects.values()))
    assert services.undecided(made, detection.sources(Choices())) == 2


def test_what_nobody_decided_on_is_left_out_with_what_is_about_it() -> None:
    made = all_agree(study(text=TEXT))
    tables, layout, _left_out = read(made, **FULL)
    assert PHONE not in repr((tables, layout))  # nor what was not looked for yet
    looked(made)
    tables, layout, left_out = read(made, **FULL)
    assert PHONE not in repr((tables, layout))
    assert left_out == {
        (selection.JUDGMENTS, selection.ON_WITHHELD): 2, (selection.RESPONSES, redaction.UNDECIDED): 1,
    }  # fmt: skip


def test_what_is_blacked_out_leaves_every_other_character_where_it_was() -> None:
    made = all_agree(study(text=TEXT))
    looked(made)
    assert decided(made, PersonalVerdict.REDACT) == 2
    tables, layout, left_out = read(made, **FULL)
    assert PHONE not in repr((tables, layout))
    assert "Ashby" not in repr((tables["responses"], layout))
    row = tables["responses"][0]
    black = "█" * len(PHONE)
    assert (row["text"], row["is_redacted"]) == (f"Leaves fall [0]. Call {black} in █████.", True)
    assert layout["raw/study1_responses_human"][-1]["text"] == row["text"]
    # The log holds the text key by key: it cannot be released any more.
    assert left_out == {(LOGS, redaction.IN_TEXT): 1}


def test_what_is_released_or_kept_for_a_reason_is_as_it_was_written() -> None:
    made = all_agree(study(text=TEXT))
    looked(made)
    with pytest.raises(services.VerdictError):
        decided(made, PersonalVerdict.KEEP, reason=" ")
    for verdict in (PersonalVerdict.RELEASE, PersonalVerdict.KEEP):
        decided(made, verdict, reason="it is the number of a museum")
        tables, _layout, left_out = read(made, **FULL)
        assert tables["responses"][0]["text"] == TEXT
        assert left_out == {}


def test_a_decision_holds_when_it_is_looked_again_and_goes_with_the_place() -> None:
    made = all_agree(study(text=TEXT))
    found = looked(made)
    decided(made, PersonalVerdict.RELEASE)
    detection.look(study=made, choices=Choices(**FULL), now=LATER + timedelta(hours=1))()
    assert set(PersonalDataFinding.objects.values_list("verdict", flat=True)) == {PersonalVerdict.RELEASE}
    Response.objects.filter(external_id="human").update(text="", erased_at=LATER)
    detection.look(study=made, choices=Choices(**FULL), now=LATER + timedelta(hours=2))()
    assert not PersonalDataFinding.objects.filter(pk__in=[each.pk for each in found.values()]).exists()


@pytest.mark.extended
def test_what_was_typed_and_deleted_again_stands_in_the_log() -> None:
    events = [list(event) for event in EVENTS]
    events[1][4] = f"Call {PHONE}"
    events[3][3] = len(events[1][4])
    made = all_agree(study(events=events))
    found = looked(made)
    (finding,) = found.values()
    assert (finding.source, finding.kind) == (TextSource.LOG, PersonalKind.PHONE)
    (shown,) = services.shown([finding])
    assert shown.match == PHONE
    tables, _layout, left_out = read(made, **FULL)
    assert [row["response"] for row in tables["responses"]] == ["human", "model"]
    assert tables["log_events"] == []
    assert [what for what, _reason in left_out] == [LOGS]
    with pytest.raises(services.VerdictError):
        decided(made, PersonalVerdict.REDACT)
    decided(made, PersonalVerdict.LEAVE_OUT)
    assert read(made, **FULL)[2] == {(LOGS, redaction.DECIDED): 1}
    # Without states of the text nothing of it is told.
    assert len(read(made, logs=Logs.MEASURES)[0]["log_measures"]) == 1


def test_reasons_and_comments_and_answers_are_looked_through_each_for_itself() -> None:
    made = all_agree(study())
    Judgment.objects.filter(assignment__participant__external_id="judge-0").update(justification="Ask a@example.org.")
    Assignment.objects.filter(participant__external_id="judge-1").update(comment="I am on https://github.com/judge1")
    answers = made.writing_tasks.get().survey_answers.get()
    answers.answers["town"] = "12 Maple Street, Ashby"
    answers.save()
    found = looked(made)
    assert {source for source, _kind in found} == {TextSource.JUSTIFICATION, TextSource.COMMENT, TextSource.SURVEY}
    tables, _layout, left_out = read(made, **FULL)
    assert [row["justification"] for row in tables["judgments"]] == [None, "It is better."]
    assert [row["comment"] for row in tables["questionnaires"]] == ["Thank you", None]
    assert [row["question"] for row in tables["survey_answers"]] == ["worker_knowledge"]
    assert len(left_out) == 3
    decided(made, PersonalVerdict.REDACT)
    tables, _layout, _left_out = read(made, **FULL)
    assert tables["judgments"][0]["justification"] == "Ask █████████████."
    said = {row["question"]: row["answer"] for row in tables["survey_answers"]}
    assert said == {"worker_knowledge": 3, "town": "███████████████, Ashby"}


def test_a_platforms_id_is_found_wherever_somebody_wrote_it() -> None:
    made = all_agree(study(text="Leaves fall [0]. My worker name is Wombat_77 there."))
    Participant.objects.filter(pk=person(made, "judge-0").pk).update(
        identity=identity.encrypt("wombat_77"), identity_hash=identity.identity_hash("wombat_77")
    )
    assert set(looked(made)) == {(TextSource.RESPONSE, PersonalKind.PLATFORM)}


def test_what_stands_in_a_passage_too_is_marked() -> None:
    made = study(text=f"Leaves fall [0]. The museum's number is {PHONE}.")
    museum = Passage.objects.create(study=made, external_id="museum", text=f"Call {PHONE}.")
    made.topics.get().retrieved.create(passage=museum, rank=1)
    (finding,) = looked(all_agree(made)).values()
    assert finding.in_passages


def test_an_erasure_takes_what_was_found_in_somebodys_texts_and_nothing_is_kept_behind_its_back() -> None:
    made = all_agree(study(text=TEXT))
    keep = detection.look(study=made, choices=Choices(**FULL), now=LATER)
    looked(made)
    assert PersonalDataFinding.objects.filter(study=made).count() == 2
    withdrawal.erase(participant=person(made, "writer"), now=LATER)
    assert not PersonalDataFinding.objects.filter(study=made).exists()
    keep()  # a search that had read the text before
    assert not PersonalDataFinding.objects.filter(study=made).exists()


def test_findings_of_another_study_are_not_decided_on() -> None:
    made = all_agree(study(text=TEXT))
    looked(made)
    other = study(slug="other")
    assert services.decide(
        study=other, findings=list(PersonalDataFinding.objects.values_list("pk", flat=True)),
        verdict=PersonalVerdict.RELEASE,
    ) == 0  # fmt: skip
    assert PersonalDataFinding.objects.undecided().count() == 2
