"""What each table of an archive holds, and what each of its columns means. A test checks that none is missing."""

from . import meanings_of_writing

ID = "The row's line in its file, from 1; other tables refer to it by this."
COMMON = {
    "name": "What it is called in this study; all versions of it have this name.",
    "version": "Counts up from 1; a version never changes.",
    "created_at": "When it came into the system.",
    "is_simulated": "Whether it is simulated: no person stands behind it.",
    "is_included": "What the latest decision on inclusion says: whether it counts in analyses.",
    "about": "What was decided: PAY (is it paid?) or INCLUDE (does it count?). Neither follows from the other.",
    "holds": "Which way it was decided.",
    "reason": "Why.",
    "evidence": "What the decision rests on.",
    "decided_at": "When it was decided; the latest decision on a question holds.",
}

TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "study": (
        "The study: one row.",
        {
            "title": "Its title.",
            "description": "What it is about.",
            "language": "Of its texts, as a BCP 47 tag.",
            "text_licence": "The licence under which its texts are released.",
            "currency": "Of all amounts of money in it, as an ISO 4217 code.",
        },
    ),
    "participants": (
        "Whoever writes or judges, by pseudonym.",
        {
            "external_id": "The study's pseudonym of a person (no platform's id), or the name of a model or system.",
            "kind": "CROWD (crowd worker), EXPERT, MODEL (language model) or SYSTEM (RAG system).",
            "specification": "Of a model: which version, with which prompt and parameters.",
            "platform_facts": "What the platform said of a person, its ids taken out.",
            "withdrawn_at": "When the person took part no further; null: they did not withdraw.",
            "erased_at": "When what is known of the person was erased; null: it was not.",
        },
    ),
    "consent_texts": (
        "What people were asked to agree to, by version.",
        {
            "text": "The text, in Markdown.",
            "text_licence": "The licence under which texts are released.",
            "log_licence": "The licence under which writing logs are released; empty: they are not.",
            "timing_licence": "The licence under which timing is released; empty: it is not.",
        },
    ),
    "consents": (
        "Who agreed to what.",
        {
            "participant": "Who.",
            "text": "To which text.",
            "given_at": "When.",
            "releases_text": "Whether the person's texts may be released.",
            "releases_log": "Whether the person's writing logs may be released.",
            "releases_timing": "Whether the person's timing may be released.",
            "withdrawn_at": "When the consent was withdrawn; null: it holds.",
        },
    ),
    **meanings_of_writing.TABLES,
    "dimensions": (
        "Questions asked of each item, by version.",
        {
            "question": "The question.",
            "label": "What readers see.",
            "description": "What it means.",
            "options": "Its answers from the lowest value up: value and label; -1, 0, 1 stand for A, N, B.",
            "asks_justification": "Whether a justification is asked for.",
        },
    ),
    "instructions": ("What judges read before they judge, by version.", {"text": "The text, in Markdown."}),
    "campaigns": (
        "Collections of judgments.",
        {
            "name": "Its name, which is unique in the study.",
            "kind": "PAIRWISE, POINTWISE or EXPERT: what is judged at once, and by whom.",
            "judges": "CROWD, EXPERT or MODEL: whose judgments these are.",
            "inference": "How a model was asked: COMBINED (all dimensions at once) or INDIVIDUAL; empty for people.",
            "k": "Judgments asked for per item and dimension.",
            "instructions": "What the judges read.",
            "state": "DRAFT, OPEN, PAUSED or CLOSED.",
            "pay": "Pay for one questionnaire, in minor units of the study's currency.",
            "fee": "The platform's fee for one questionnaire, likewise.",
            "tax": "Tax for one questionnaire, likewise.",
        },
    ),
    "campaign_dimensions": (
        "The dimensions that a campaign asks.",
        {"campaign": "Which campaign.", "dimension": "Which dimension.", "position": "Where it stands on the page."},
    ),
    "pairs": (
        "Two responses to one topic in the order in which they are shown; the reverse order is another pair.",
        {"a": "The left response.", "b": "The right response."},
    ),
    "items": (
        "What a campaign has judged: a pair, or in pointwise campaigns a response.",
        {
            "campaign": "Which campaign.",
            "pair": "The pair, in pairwise campaigns.",
            "response": "The response, in pointwise campaigns.",
            "topic": "On which topic.",
            "external_id": "What the source called it, where it named no response of this study.",
        },
    ),
    "questionnaires": (
        "Items that one person answers in one go.",
        {"campaign": "Of which campaign.", "external_id": "The study's id of the questionnaire."},
    ),
    "questionnaire_items": (
        "Items in the order in which they are shown.",
        {"questionnaire": "In which questionnaire.", "item": "Which item.", "position": "Where."},
    ),
    "assignments": (
        "Questionnaires given to participants.",
        {
            "questionnaire": "Which questionnaire.",
            "participant": "To whom.",
            "external_id": "What the source called it, if it named it.",
            "state": "ASSIGNED, SUBMITTED, ACCEPTED, REJECTED, RETURNED, TIMED_OUT or SURPLUS.",
            "assigned_at": "When it was given.",
            "submitted_at": "When it was submitted.",
            "seconds": "How long it took.",
            "lease_until": "Until when it is held for the participant.",
        },
    ),
    "assignment_transitions": (
        "How assignments changed their state; none is ever changed.",
        {
            "assignment": "Which assignment.",
            "before": "Its state before; empty: it was new.",
            "after": "Its state after.",
            "cause": "What changed it.",
            "at": "When.",
        },
    ),
    "assignment_decisions": (
        "Decisions about assignments; none is ever changed.",
        {"assignment": "About which assignment."},
    ),
    "judgments": (
        "Answers to one dimension of one item, as presented: nothing is turned round.",
        {
            "assignment": "In which assignment.",
            "item": "Of which item.",
            "dimension": "To which dimension.",
            "value": "The answer: on a pair -1 is A (left), 0 neither, 1 is B (right).",
            "repeat": "Counts up where the same was asked again; 0 counts.",
            "justification": "Why, in the judge's words.",
            "judged_at": "When.",
            "external_id": "What the source called the answer that this is part of.",
        },
    ),
    "platform_submissions": (
        "A platform's own record of submissions.",
        {
            "campaign": "To which campaign.",
            "external_id": "The submission's id.",
            "participant": "Whose; null: not known.",
            "seconds": "How long it took, as the platform measured it.",
            "approvals": "How many submissions of the person had been approved before.",
        },
    ),
    "runs": (
        "Finished analyses.",
        {
            "kind": "What was computed.",
            "queue": "Which workers did it.",
            "state": "DONE.",
            "parameters": "What was asked for.",
            "seed": "Where its randomness began.",
            "inputs_digest": "SHA-256 of what it was computed from.",
            "code_version": "The code that computed it.",
            "environment": "Python, platform and versions of packages.",
            "summary": "The result at a glance.",
            "created_at": "When it was asked for.",
            "started_at": "When it began.",
            "finished_at": "When it was done.",
            "stale_at": "When its inputs changed (were erased, say); null: they did not.",
            "stale_reason": "How they changed.",
        },
    ),
    "result_tables": (
        "Tables of results.",
        {"run": "Of which run.", "name": "Its name (docs/results.md).", "rows": "Its rows: a list of objects."},
    ),
    "snapshots": (
        "The exact judgments and responses that a run used.",
        {
            "run": "Which run.",
            "pool": "Whose judgments were analysed.",
            "digest": "SHA-256 of the payload without row ids.",
            "judgments": "How many judgments.",
            "responses": "How many responses.",
            "mark": "Whether these are still the judgments and responses that count, and how many counted.",
            "payload": "The inputs, packed; judgments go by their id here, 0: it is gone.",
            "created_at": "When they were read.",
        },
    ),
}


def of(table: str, column: str) -> str:
    """Return what a column means."""
    return TABLES[table][1].get(column) or COMMON[column]
