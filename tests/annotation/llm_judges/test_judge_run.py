"""Models as judges, against a server that judges by a rule: what is asked, what is stored, what becomes of the rest."""

import pytest
from django.db import transaction
from django.utils import timezone

from analysis.stats.judgments import canonical
from annotation.enums import AssignmentState, Inference, Judges, JudgingOutcome
from annotation.judging import erasure, questionnaire_content
from annotation.llm_judges import judge, judge_run, outcomes, prompts, queries, stimuli
from annotation.llm_judges.stimuli import ItemSelection
from annotation.models import Assignment, Campaign, JudgingAnswer, Judgment
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.kinds import InputRejectedError
from crowdrag.llm import erasure as calls_erasing
from crowdrag.llm import gateway
from crowdrag.llm.models import Call
from crowdrag.studies.enums import ParticipantKind
from tests.annotation.llm_judges import source_campaign
from tests.annotation.llm_judges.judge_fixtures import endpoint, server, source, without_waiting
from tests.annotation.llm_judges.judge_server import judging as served
from tests.annotation.open_campaign import SCALE
from tests.factories import (
    CampaignDimensionFactory,
    CampaignFactory,
    DimensionFactory,
    InstructionsFactory,
    ItemFactory,
    PairFactory,
    ParticipantFactory,
    ResponseFactory,
)
from writing.models import Response

__all__ = ["endpoint", "server", "source", "without_waiting"]

pytestmark = pytest.mark.django_db(transaction=True)


def values(name):
    rows = Judgment.objects.filter(dimension__name=name).order_by("item_id", "repeat")
    return [(row.item.pair.a.text[:5], row.value) for row in rows]


def test_both_orders_are_judged_and_stored_as_they_were_presented(source, endpoint, server):
    """The same two responses in both orders: the longer one wins on either side, so the votes are -1 and 1.

    By hand: in the canonical orientation (lower id first) both votes are for the longer response, which was made first:
    -1 and -1. They agree, though as presented they are opposite.
    """
    shown = source_campaign.pair(source)
    run = source_campaign.judge(source, endpoint)
    assert run.state == RunState.DONE, (run.error, run.problems)
    for name in ("quality_overall", "coverage_broad"):
        assert values(name) == [("Longe", -1), ("Short", 1)]
    rows = Judgment.objects.filter(dimension__name="quality_overall").order_by("pk")
    turned = canonical([row.item.pair.a_id for row in rows], [row.item.pair.b_id for row in rows])
    assert shown.a_id < shown.b_id
    assert turned.signed([row.value for row in rows]).tolist() == [-1, -1]
    # What the model saw stood in the order of the pair that the judgment points to.
    texts = ("Longer, by far [0].", "Short.")
    assert sorted(one.texts for one in server.seen) == sorted([texts, texts[::-1]])
    # The judgments are stored like anyone's, in a pool of their own.
    campaign = Campaign.objects.get(judges=Judges.MODEL)
    assert (campaign.source, campaign.inference, campaign.has_slots) == (source, Inference.COMBINED, False)
    names = campaign.campaign_dimensions.order_by("position").values_list("dimension__name", flat=True)
    assert list(names) == ["coverage_broad", "quality_overall"]
    assignment = Assignment.objects.get()
    assert (assignment.state, assignment.is_included) == (AssignmentState.ACCEPTED, True)
    assert assignment.transitions.count() == 1
    participant = assignment.participant
    assert (participant.kind, participant.specification["model"]) == (ParticipantKind.MODEL, "m")
    assert participant.specification["parameters"] == {"temperature": 0}
    assert [Judgment.objects.pool(pool).count() for pool in (Judges.MODEL, Judges.CROWD)] == [4, 0]
    assert run.summary == {"answers": 2, "judged": 2}
    assert {call.purpose for call in Call.objects.all()} == {"judge"}


def test_a_model_is_asked_what_people_are_asked(source, endpoint, server):
    words = (
        "Read both.\n\n- Do not use a language model.\n- Judge the text, not its length. Press a key for each answer."
    )
    instructions = InstructionsFactory(study=source.study, text=words)
    Campaign.objects.filter(pk=source.pk).update(instructions=instructions)
    source_campaign.pair(source)
    source_campaign.judge(source, endpoint)
    seen = server.seen[0]
    for question in questionnaire_content.questions(Campaign.objects.get(pk=source.pk)):
        assert question.text in seen.prompt
        assert question.description in seen.prompt
    options = ["Response A", "Neither", "Response B"]
    assert seen.options == {"q1": options, "q2": options[::2]}
    shown = [words in seen.prompt for words in ("Judge the text, not its length.", "language model", "Press")]
    assert shown == [True, False, False]
    assert seen.is_fenced
    assert seen.schema["properties"]["q2"] == {"type": "string", "enum": options[::2]}
    assert server.bodies[0]["temperature"] == 0


def test_one_by_one_each_question_is_a_call_of_its_own_of_the_same_participant(source, endpoint, server):
    source_campaign.pair(source)
    source_campaign.judge(source, endpoint)
    source_campaign.judge(source, endpoint, inference=Inference.INDIVIDUAL)
    assert len(server.seen) == 2 + 4
    assert all(set(seen.options) == {"q1"} for seen in server.seen[2:])
    assert Campaign.objects.filter(source=source).count() == 2
    assert Assignment.objects.values("participant").distinct().count() == 1
    answers = JudgingAnswer.objects.filter(item__campaign__inference=Inference.INDIVIDUAL)
    assert sorted(answers.values_list("dimension__name", flat=True)) == ["coverage_broad"] * 2 + ["quality_overall"] * 2
    assert set(values("quality_overall")) == {("Longe", -1), ("Short", 1)}


@pytest.mark.parametrize(
    ("which", "asked", "expected"),
    [
        (ItemSelection.BOTH_ORDERS, {}, {"ab", "ba"}),
        (ItemSelection.ALL, {"both": False}, {"ab", "ba", "cd"}),
        (ItemSelection.ALL, {"both": True}, {"ab", "ba", "cd", "dc"}),
    ],
)
def test_which_pairs_in_which_orders(source, which, asked, expected):
    both, alone = source_campaign.pair(source), source_campaign.pair(source, both=False)
    names = {both.a_id: "a", both.b_id: "b", alone.a_id: "c", alone.b_id: "d"}
    things = stimuli.select_stimuli(source=source, which=which, n=None, seed=0, **{"both": True, **asked})
    assert {"".join(names[pk] for pk in thing.responses) for thing in things} == expected
    assert len(things) == len(expected)


def test_a_sample_is_of_pairs_and_follows_from_the_seed(source):
    for _pair in range(12):
        source_campaign.pair(source)
    drawn = [
        stimuli.select_stimuli(source=source, which=ItemSelection.SAMPLE, n=4, both=True, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len({thing.unordered for thing in drawn[0]}) == 4
    assert len(drawn[0]) == 8


def test_what_was_left_out_or_erased_is_not_judged(source, endpoint, server):
    kept, erased, left_out = (source_campaign.pair(source) for _pair in range(3))
    source_campaign.erase(erased.a)
    Response.objects.filter(pk=left_out.b_id).update(is_included=False)
    run = judge_run.start(study=source.study, order=source_campaign.order(source, endpoint))
    assert len(run.units.get().payload["items"]) == 2
    source_campaign.erase(kept.b)  # after it was planned
    assert lifecycle.wait(run).state == RunState.DONE
    assert not server.seen
    assert not Judgment.objects.exists()
    with pytest.raises(InputRejectedError):  # nothing is left
        judge_run.start(study=source.study, order=source_campaign.order(source, endpoint))


# What a model says, what becomes of it, and how often it is asked.
WORDS = {
    "good": (JudgingOutcome.JUDGED, 1),
    "prose": (JudgingOutcome.INVALID, 5),
    "other": (JudgingOutcome.INVALID, 5),
    "blank": (JudgingOutcome.EMPTY, 5),
    "sorry": (JudgingOutcome.REFUSED, 5),
    "refuse": (JudgingOutcome.REFUSED, 1),
    "cut": (JudgingOutcome.CUT, 5),
    "later": (JudgingOutcome.JUDGED, 4),
}


def odd(seen):
    word = seen.texts[0].split()[0]
    match word:
        case "prose":
            return "I would say Response A."
        case "other":
            return {"q1": "Response C", "q2": "Response A"}
        case "blank":
            return ""
        case "sorry":
            return "I'm sorry, but I can't compare these."
        case "refuse":
            return {"content": None, "refusal": "No."}
        case "cut":
            return {"content": '{"q1": "Respon', "finish_reason": "length"}
        case "later" if seen.turn < 3:
            return "Let me think."
    return seen.every(0)


@pytest.mark.parametrize("supports", [True, False])
def test_what_does_not_fit_is_asked_five_times_and_recorded_never_guessed(source, supports):
    with served(odd) as server:
        endpoint = source_campaign.endpoint(server, supports_json_schema=supports)
        for word in WORDS:
            source_campaign.pair(source, both=False, a=f"{word} text", b="Other.")
        run = source_campaign.judge(source, endpoint, which=ItemSelection.ALL, both=False)
    assert run.state == RunState.DONE, run.error
    answers = {row.item.pair.a.text.split()[0]: row for row in JudgingAnswer.objects.all()}
    assert {word: (row.outcome, row.attempts) for word, row in answers.items()} == WORDS
    assert Judgment.objects.count() == 2 * 2
    assert run.summary["invalid"] == 2
    assert (server.seen[0].schema is not None) == supports
    shown = {row.answer.item.pair.a.text.split()[0]: row for row in queries.with_verdicts(queries.answers(run))}
    assert shown["prose"].said == "I would say Response A."
    assert [verdict.option for verdict in shown["good"].verdicts] == ["Response A", "Response A"]
    assert not shown["prose"].verdicts


def test_justifications_are_kept_where_the_question_or_the_researcher_asks(source):
    source_campaign.ask(source, "why", source_campaign.FORCED, asks_justification=True)
    source_campaign.pair(source, both=False)

    def rule(seen):
        assert seen.schema is not None
        return {
            key: {"answer": words[0], "justification": f"because of {key}\0"}
            if "justification" in str(seen.schema["properties"][key])
            else words[0]
            for key, words in seen.options.items()
        }

    with served(rule) as server:
        endpoint = source_campaign.endpoint(server)
        source_campaign.judge(source, endpoint, which=ItemSelection.ALL, both=False)
        given = dict(Judgment.objects.values_list("dimension__name", "justification"))
        assert given == {"coverage_broad": "", "quality_overall": "", "why": "because of q3\ufffd"}
        source_campaign.judge(source, endpoint, which=ItemSelection.ALL, both=False, justify=True)
    justified = Judgment.objects.exclude(assignment__participant__specification__justify=False)
    assert sorted(justified.values_list("justification", flat=True)) == [f"because of q{n}\ufffd" for n in (1, 2, 3)]


def test_single_responses_are_judged_on_their_scales():
    source = CampaignFactory(kind="POINTWISE")
    dimension = DimensionFactory(study=source.study, options=SCALE)
    CampaignDimensionFactory(campaign=source, dimension=dimension, position=0)
    response = ResponseFactory(topic__study=source.study, text="A text.")
    ItemFactory(campaign=source, pair=None, response=response, topic=response.topic)
    with served(lambda seen: seen.every(2)) as server:
        run = source_campaign.judge(source, source_campaign.endpoint(server), which=ItemSelection.ALL)
    assert run.state == RunState.DONE, run.error
    judgment = Judgment.objects.get()
    assert (judgment.value, judgment.item.response) == (1, response)
    assert server.seen[0].texts == ("A text.",)


def test_asked_twice_the_first_counts(source, endpoint, server):
    source_campaign.pair(source)
    source_campaign.judge(source, endpoint, repeats=2)
    assert len(server.seen) == 4
    assert sorted(Judgment.objects.values_list("repeat", flat=True)) == [0] * 4 + [1] * 4
    assert Judgment.objects.pool(Judges.MODEL).count() == 4


def test_a_model_that_wrote_one_of_the_responses_judges_and_is_marked(source, endpoint):
    mine, other = source_campaign.pair(source, both=False), source_campaign.pair(source, both=False)
    writer = ParticipantFactory(
        study=source.study, kind=ParticipantKind.MODEL, external_id="m/1234", specification={"model": "m"}
    )
    own = ResponseFactory(topic=mine.a.topic, participant=writer, text="Written by m.")
    ItemFactory(campaign=source, pair=PairFactory(a=mine.a, b=own))
    source_campaign.judge(source, endpoint, which=ItemSelection.ALL, both=False)
    marked = dict(JudgingAnswer.objects.values_list("item__pair__b", "is_own"))
    assert marked == {mine.b_id: False, other.b_id: False, own.pk: True}
    assert [row.own for row in queries.judges(source.study)] == [1]


def test_when_a_text_is_erased_the_words_about_it_go_with_the_calls_and_the_votes_stay(source, endpoint):
    shown = source_campaign.pair(source, a="A secret text of somebody.")
    run = source_campaign.judge(source, endpoint)
    calls_erasing.erase_containing([shown.a.text])
    source_campaign.erase(shown.a)
    assert {row.said for row in queries.with_verdicts(queries.answers(run))} == {None}
    assert Judgment.objects.count() == 4
    model = Assignment.objects.get().participant
    with transaction.atomic():
        erasure.erase(model, timezone.now())  # nobody asks for it, but it must not fail
    assert Judgment.objects.count() == 4


@pytest.mark.parametrize("text", ["Judge.", "{query} {questions} {form}", "{query} {questions} {form} {responses} {x}"])
def test_a_prompt_that_does_not_say_what_is_asked_is_refused(source, text):
    with pytest.raises(prompts.BadPromptError):
        prompts.ensure(study=source.study, text=text, now=timezone.now())


def test_texts_that_hold_places_and_marks_stay_what_they_are(source):
    source_campaign.pair(source, a="{query} {form} <<<END 00>>>", b="{responses}")
    things = stimuli.select_stimuli(source=source, which=ItemSelection.ALL, n=None, both=False, seed=0)
    shown = stimuli.show_stimuli(things)[things[0]]
    told = judge.questions_of_campaign(source)
    text = prompts.fill(prompts.DEFAULT, shown=shown, instructions="", questions=told.questions, justify=False)
    assert "{query} {form} <<<END 00>>>" in text
    assert text.count("{responses}") == 1
    assert "{instructions}" not in text


def test_an_answer_is_read_only_in_the_form_that_was_asked_for():
    answer = gateway.Answer(index=0, call=1, text="{}", fault="INVALID", finish_reason="stop")
    assert outcomes.classify(answer, questions=()).outcome == JudgingOutcome.INVALID
    rejected = gateway.Answer(index=0, call=1, fault="REJECTED", error="too long")
    assert outcomes.classify(rejected, questions=()).outcome == JudgingOutcome.FAILED
    # Options with one label are told apart.
    options = [{"value": 1, "label": "yes"}, {"value": 2, "label": "yes"}]
    question = questionnaire_content.question(DimensionFactory.build(options=options, study=None))
    assert list(prompts.options_of(question).values()) == [1, 2]
