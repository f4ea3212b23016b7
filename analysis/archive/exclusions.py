"""What an archive leaves out, with the reasons. A test checks that every model is either included or listed here."""

PERSON = "Accounts, names and e-mail addresses belong to the system that the study is run on and never leave it."
ASKED = "Who runs the study on one system, and what was promised to its people there; another system says its own."
SYSTEM = "Belongs to the system that the study is run on: another one has its own."
GATEWAY = (
    "The gateway's own books: endpoints, keys, prices, stored answers are the operator's. What models wrote and judged "
    "is in responses and judgments, with model, prompt and parameters in participants."
)
PLATFORM = (
    "A recruitment platform's account belongs to the operator, and its ids of people and their visits never leave "
    "(docs/adr/0003). What was paid and decided stands with the work itself."
)
TOLD = "Which other systems are told what happens here, and what they were told: settings of one system."
LIVE = "Figures of a campaign that is under way: they follow from its judgments, which are here."

ENCODED = "Computed from the responses, which are here, and can be computed again; a run's snapshot holds what it used."

RELEASED = "Releases were given out by one system, under its address; what they were made of is here."

MODELS: dict[str, str] = {
    "studies.User": PERSON,
    "studies.Membership": PERSON,
    "studies.EntryLink": SYSTEM,
    "studies.Arrival": SYSTEM,
    "studies.ParticipantBlock": "Whom one system gives no further work: a decision that stays where it was made.",
    "studies.ParticipantMessage": "Letters between a participant and the researchers: meant for them alone.",
    "accounts.ApiToken": PERSON,
    "accounts.Grant": PERSON,
    "api.IdempotentReply": "Answers to scripts, kept for a day in case they ask again.",
    "api.RateLimitState": SYSTEM,
    "annotation.LiveAgreement": LIVE,
    "annotation.LiveCompetence": LIVE,
    "annotation.ShownFlag": "What reviewers saw while they decided: it follows from the judgments.",
    "analysis.LogMeasures": "What the writing logs say, computed once: it follows from them, and they are here.",
    "llm.Endpoint": GATEWAY,
    "llm.Call": GATEWAY,
    "llm.Attempt": GATEWAY,
    "llm.StudySpend": GATEWAY,
    "recruitment.PlatformStudy": PLATFORM,
    "recruitment.Submission": PLATFORM,
    "recruitment.PlatformEvent": PLATFORM,
    "recruitment.PlatformAction": PLATFORM,
    "webhooks.Webhook": TOLD,
    "webhooks.Message": TOLD,
    "webhooks.Delivery": TOLD,
    "analysis.Encoder": ENCODED,
    "analysis.Encoding": ENCODED,
    "analysis.SimilarityScore": ENCODED,
    "analysis.UnitResult": "What an experiment found on its way, question by question: its result tables were "
    "made of it.",
    "analysis.PersonalDataFinding": "What of people's texts is released was decided by accounts of one system, for its "
    "own releases; the texts are here.",
    "analysis.CachedOutput": "What a model in a worker wrote, kept so that it is written once: tables were made of it.",
    "analysis.Release": RELEASED,
    "analysis.ReleaseFile": RELEASED,
    "analysis.ReleaseTable": RELEASED,
    "analysis.ReleasePerson": RELEASED,
    "analysis.ReleaseLink": SYSTEM,
    "operations.Backup": SYSTEM,
    "operations.Machine": SYSTEM,
    "operations.Removal": SYSTEM,
    "audit.AccessLogEntry": SYSTEM,
    "accounts.SignInFailure": SYSTEM,
    "jobs.Unit": "How the work of a run was shared out among workers; a finished run needs none of it.",
    "jobs.WorkerHeartbeat": SYSTEM,
    "jobs.ScheduledTask": SYSTEM,
    "jobs.Artifact": "Files that runs made: they follow from the tables, which are here, and can be made again.",
    "jobs.Upload": "Files as they were handed in: what was in them is here as rows.",
}

FIELDS: dict[str, str] = {
    "studies.Study.slug": "The study's address in one system; it stands in the manifest.",
    "studies.Study.llm_budget": "A permission to spend money, given by somebody for one system.",
    "studies.Study.created_by": PERSON,
    "studies.Study.researchers": ASKED,
    "studies.Study.contact": ASKED,
    "studies.Study.payment": ASKED,
    "studies.Study.retention": ASKED,
    "studies.Participant.identity": "The platform's id of a person, encrypted: never leaves (docs/adr/0003).",
    "studies.Participant.identity_hash": "Finds a person again across studies: never leaves (docs/adr/0003).",
    "studies.Participant.erasure_requested_at": "An erasure takes minutes at most and removes archives.",
    "writing.WritingPlan.is_open": "A permission to recruit and to pay, given for one system: a plan comes in closed.",
    "writing.WritingTask.reviewer": PERSON,
    "writing.WritingTask.reviewing_until": "Goes with who has it open for review.",
    "writing.TaskTransition.by": PERSON,
    "writing.TaskPayment.by": PERSON,
    "writing.ModelAnswer.run": "Only analyses' runs are here.",
    "writing.ResponseDecision.decided_by": PERSON,
    "annotation.Assignment.reviewer": PERSON,
    "annotation.Assignment.reviewing_until": "Goes with who has it open for review.",
    "annotation.Assignment.session": "The platform's id of a visit: it leads to the person there (docs/adr/0003).",
    "annotation.AssignmentDecision.decided_by": PERSON,
    "annotation.AssignmentTransition.by": PERSON,
    "annotation.AssignmentPayment.by": PERSON,
    "annotation.JudgingAnswer.run": "Only analyses' runs are here.",
    "jobs.Run.key": "The address of a run in one system; the importing one gives another.",
    "jobs.Run.created_by": PERSON,
    "jobs.Run.cancelled_by": PERSON,
    "jobs.Run.resumed_by": PERSON,
    "jobs.Run.resumed_at": "Goes with who resumed it; the run is finished.",
    "jobs.Run.error": "Only finished runs are here, and they have none.",
    "jobs.Run.problems": "Only finished runs are here, and they have none.",
    "jobs.Run.is_rejected": "Only finished runs are here, and none of them was refused.",
}
