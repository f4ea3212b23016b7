"""Contents left out of archives, with reasons. A test checks that every model is either included or listed here."""

PERSON = "Accounts, names and email addresses belong to the server of the study and never leave it."
ASKED = (
    "Who runs the study on this server, and what its participants were promised there. Another "
    "server has its own information."
)
SYSTEM = "Belongs to the server of the study. Another server has its own."
GATEWAY = (
    "Endpoints, keys, prices and stored answers belong to the operator. Responses and judgments by "
    "models are in the archive, with model, prompt and parameters in participants."
)
PLATFORM = (
    "The account on a recruitment platform belongs to the operator. Platform IDs of people and their "
    "visits never leave the server (docs/adr/0003). Payments and decisions are stored with the work "
    "itself."
)
MAIL = "Email addresses of participants and what was sent to them never leave the server."
TOLD = "Webhooks and their deliveries: settings of one server."
PAID_OUT = (
    "Lists of payments that one server's staff made outside CrowdRAG. What participants earned is stored with the work "
    "itself."
)
LIVE = "Statistics of a running campaign. They can be computed from its judgments, which are in the archive."

POSITIONS = "How free slots are laid out for the next draws. What was drawn is in the archive, with its probability."

ENCODED = "Computed from the responses, which are in the archive. A run's snapshot contains what it used."

RELEASED = "Releases were published by one server under its address. Their source data are in the archive."

MODELS: dict[str, str] = {
    "studies.User": PERSON,
    "studies.Membership": PERSON,
    "studies.Invitation": PERSON,
    "studies.EntryLink": SYSTEM,
    "studies.Arrival": SYSTEM,
    "studies.ParticipantBlock": (
        "Participants who get no further work on one server. The decision applies to that server only."
    ),
    "studies.ParticipantMessage": "Private messages between participants and researchers.",
    "studies.StaffNote": "Private notes of staff about participants and their work.",
    "studies.SavedReply": "Texts that the staff of one server use again and again.",
    "accounts.ApiToken": PERSON,
    "payments.PaymentList": PAID_OUT,
    "payments.PaymentListEvent": PAID_OUT,
    "payments.PaymentListLine": PAID_OUT,
    "accounts.Grant": PERSON,
    "api.IdempotentReply": "API responses that are stored for a day for repeated requests.",
    "api.RateLimitState": SYSTEM,
    "annotation.AnswerTally": LIVE,
    "annotation.JudgmentSums": LIVE,
    "annotation.LiveAgreement": LIVE,
    "annotation.LiveCompetence": LIVE,
    "annotation.PolicyState": LIVE,
    "annotation.ProgressFigures": LIVE,
    "annotation.ShownFlag": "Review data. They can be computed from the judgments.",
    "analysis.JudgmentPart": "Copies of judgments, which are in the archive. Runs make them again.",
    "analysis.LogMeasures": "Computed from the writing logs, which are in the archive.",
    "llm.Endpoint": GATEWAY,
    "llm.Call": GATEWAY,
    "llm.Attempt": GATEWAY,
    "llm.StudySpend": GATEWAY,
    "recruitment.PlatformStudy": PLATFORM,
    "recruitment.Submission": PLATFORM,
    "recruitment.PlatformEvent": PLATFORM,
    "recruitment.PlatformAction": PLATFORM,
    "mail.MailAddress": MAIL,
    "mail.Mail": MAIL,
    "webhooks.Webhook": TOLD,
    "webhooks.Message": TOLD,
    "webhooks.Delivery": TOLD,
    "analysis.Encoder": ENCODED,
    "analysis.Encoding": ENCODED,
    "analysis.SimilarityScore": ENCODED,
    "analysis.UnitResult": (
        "Intermediate results of an experiment for each question. Its result tables were computed from them."
    ),
    "analysis.PersonalDataFinding": (
        "Decisions about personal data by accounts of one server, for its own releases. The texts are in the archive."
    ),
    "analysis.CachedOutput": "Cached outputs of a model in a worker. Tables were computed from them.",
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
    "jobs.Unit": "How the work of a run was distributed to workers. A finished run does not need it.",
    "jobs.WorkerHeartbeat": SYSTEM,
    "jobs.ScheduledTask": SYSTEM,
    "jobs.Artifact": "Files created by runs. They can be created again from the tables, which are in the archive.",
    "jobs.Upload": "Uploaded files. The archive contains their data as rows.",
}

FIELDS: dict[str, str] = {
    "studies.Study.slug": "The study's address on one server. It is in the manifest.",
    "studies.Study.llm_budget": "A permission to spend money on one server.",
    "studies.Study.created_by": PERSON,
    "studies.Study.archived_at": SYSTEM,
    "studies.Study.archived_by": PERSON,
    "studies.Study.deletion_requested_at": SYSTEM,
    "studies.Study.deletion_requested_by": PERSON,
    "studies.Study.researchers": ASKED,
    "studies.Study.contact": ASKED,
    "studies.Study.payment": ASKED,
    "studies.Study.retention": ASKED,
    "studies.Participant.identity": (
        "The encrypted platform ID of a person, which never leaves the server (docs/adr/0003)."
    ),
    "studies.Participant.identity_hash": (
        "Identifies a person across studies and never leaves the server (docs/adr/0003)."
    ),
    "studies.Participant.erasure_requested_at": "An erasure takes minutes at most and removes archives.",
    "writing.WritingPlan.is_open": "A permission to recruit and pay on one server. An imported plan is closed.",
    "writing.WritingTask.reviewer": PERSON,
    "writing.WritingTask.assignee": PERSON,
    "writing.WritingTask.reviewing_until": "Belongs to the reviewer who has it open.",
    "writing.TaskTransition.by": PERSON,
    "writing.TaskPayment.by": PERSON,
    "writing.ModelAnswer.run": "The archive contains runs of analyses only.",
    "writing.ResponseDecision.decided_by": PERSON,
    "annotation.Campaign.archived_at": "Which campaigns are left out of lists is up to the members of one server.",
    "annotation.Assignment.reviewer": PERSON,
    "annotation.Assignment.assignee": PERSON,
    "annotation.Assignment.reviewing_until": "Belongs to the reviewer who has it open.",
    "annotation.Assignment.session": "The platform's ID of a visit, which identifies the person there (docs/adr/0003).",
    "annotation.Slot.control_position": POSITIONS,
    "annotation.Slot.unproven_position": POSITIONS,
    "annotation.Slot.trusted_position": POSITIONS,
    "annotation.AssignmentDecision.decided_by": PERSON,
    "annotation.AssignmentTransition.by": PERSON,
    "annotation.AssignmentPayment.by": PERSON,
    "annotation.JudgingAnswer.run": "The archive contains runs of analyses only.",
    "jobs.Run.key": "The address of a run on one server. The importing server assigns a new one.",
    "jobs.Run.created_by": PERSON,
    "jobs.Run.cancelled_by": PERSON,
    "jobs.Run.resumed_by": PERSON,
    "jobs.Run.resumed_at": "Belongs to the person who resumed it. The run is finished.",
    "jobs.Run.error": "The archive contains finished runs only, which have none.",
    "jobs.Run.problems": "The archive contains finished runs only, which have none.",
    "jobs.Run.is_rejected": "The archive contains finished runs only, and none of them was refused.",
    "jobs.Run.is_background": "The archive contains finished runs only, which nothing makes way for.",
}
