"""The app's pages and endpoints."""

from django.urls import URLPattern, URLResolver, include, path

from .api import assignments as assignments_api
from .api import campaigns as api
from .api import designs, judges, judgments, known, launching, measured, model_answers, told
from .api import screening as screening_api
from .views import (
    campaign_drafts,
    campaign_preview,
    campaign_states,
    campaign_texts,
    campaigns,
    checks,
    judging,
    judging_answers,
    model_judges,
    screening,
    screening_decisions,
    training,
)

# One questionnaire in somebody's hands.
QUESTIONNAIRE = [
    path("", judging.questionnaire, name="judging_questionnaire"),
    path("answer/", judging_answers.answer, name="judging_answer"),
    path("check/", judging_answers.check, name="judging_check"),
    path("time/", judging_answers.time, name="judging_time"),
    path("submit/", judging_answers.submit, name="judging_submit"),
    path("return/", judging.give_back, name="judging_return"),
    path("done/", judging.done, name="judging_done"),
]
# What people who judge open; crowdrag/urls.py puts it before all others.
PEOPLE: list[URLPattern | URLResolver] = [
    path("<slug:taking_part>/judging/<int:campaign>/", judging.start, name="judging_start"),
    path("<slug:taking_part>/judging/<int:campaign>/training/", training.training, name="judging_training"),
    path("<slug:taking_part>/judging/<int:campaign>/<str:assignment>/", include(QUESTIONNAIRE)),
]
# One questionnaire that was handed in, before a reviewer.
SCREENED = [
    path("", screening.assignment, name="screening_assignment"),
    path("hold/", screening.hold, name="screening_hold"),
    path("skip/", screening.skip, name="screening_skip"),
    path("decide/", screening_decisions.decide, name="screening_decide"),
    path("include/", screening_decisions.include, name="screening_include"),
    path("pay/", screening_decisions.pay, name="screening_pay"),
    path("reverse/", screening_decisions.reverse_rejection, name="screening_reverse"),
    path("take-up/", screening_decisions.take_up, name="screening_take_up"),
]
# A campaign's checks and its screening.
QUALITY: list[URLPattern | URLResolver] = [
    path("checks/", checks.checks, name="campaign_checks"),
    path("checks/add/", checks.add, name="campaign_checks_add"),
    path("checks/<int:item>/", checks.item, name="campaign_checks_item"),
    path("screening/", screening.screening, name="screening"),
    path("screening/next/", screening.following, name="screening_next"),
    path("screening/accept/", screening.accept_clean, name="screening_accept_clean"),
    path("screening/<str:assignment>/", include(SCREENED)),
]
# Models as judges.
JUDGES = [
    path("", model_judges.judges, name="model_judges"),
    path("new/", model_judges.order, name="model_judges_new"),
    path("measure/", model_judges.measure, name="model_judges_measure"),
    path("<uuid:key>/", model_judges.run, name="model_judges_run"),
]
# A campaign before it is launched.
DRAFT = [
    path("edit/", campaign_drafts.edit, name="campaign_edit"),
    path("edit/questions/", campaign_texts.asked, name="campaign_questions"),
    path("edit/instructions/", campaign_texts.instructions, name="campaign_instructions"),
    path("edit/consent/", campaign_texts.consent, name="campaign_consent"),
    path("edit/items/", campaign_texts.items, name="campaign_items"),
    path("preview/", campaign_preview.preview, name="campaign_preview"),
    path("preview/<int:number>/", campaign_preview.questionnaire, name="campaign_try"),
    path("open/", campaign_drafts.opening, name="campaign_open"),
    path("clone/", campaign_drafts.clone, name="campaign_clone"),
    path("delete/", campaign_drafts.delete, name="campaign_delete"),
]
# A campaign that runs.
RUNNING = [
    path("pause/", campaign_states.pause, name="campaign_pause"),
    path("close/", campaign_states.close, name="campaign_close"),
    path("reopen/", campaign_states.reopen, name="campaign_reopen"),
    path("extend/", campaign_states.extend, name="campaign_extend"),
]
# How it stands.
STANDING = [
    path("", campaigns.campaign, name="campaign"),
    path("moving/", campaigns.moving, name="campaign_moving"),
    path("judges/", campaigns.judges, name="campaign_judges"),
    path("tables/<str:name>.csv", campaigns.table, name="campaign_table"),
]
SCREENING_API = [
    path("", assignments_api.OneAssignment.as_view(), name="api_assignment"),
    path("accept/", screening_api.Accepted.as_view(), name="api_assignment_accept"),
    path("reject/", screening_api.Rejected.as_view(), name="api_assignment_reject"),
    path("inclusion/", screening_api.Included.as_view(), name="api_assignment_inclusion"),
    path("pay/", screening_api.Paid.as_view(), name="api_assignment_pay"),
    path("take-up/", screening_api.TakenUp.as_view(), name="api_assignment_take_up"),
    path("hold/", screening_api.Held.as_view(), name="api_assignment_hold"),
]
API: list[URLPattern | URLResolver] = [
    path("", api.OneCampaign.as_view(), name="api_campaign"),
    path("design/", designs.Designed.as_view(), name="api_campaign_design"),
    path("questions/", designs.Questions.as_view(), name="api_campaign_questions"),
    path("instructions/", told.Instructed.as_view(), name="api_campaign_instructions"),
    path("consent/", told.Consent.as_view(), name="api_campaign_consent"),
    path("checks/", told.Checks.as_view(), name="api_campaign_checks"),
    path("known/", known.KnownItems.as_view(), name="api_known"),
    path("known/<int:item>/", known.OneKnownItem.as_view(), name="api_known_item"),
    path("known-proposals/", known.Proposals.as_view(), name="api_known_proposals"),
    path("forecast/", launching.Forecast.as_view(), name="api_campaign_forecast"),
    path("draw/", launching.Drawn.as_view(), name="api_campaign_draw"),
    path("extension/", launching.Extended.as_view(), name="api_campaign_extension"),
    path("clone/", api.Cloned.as_view(), name="api_campaign_clone"),
    path("open/", api.Opened.as_view(), name="api_campaign_open"),
    path("pause/", api.Paused.as_view(), name="api_campaign_pause"),
    path("close/", api.Closed.as_view(), name="api_campaign_close"),
    path("reopen/", api.Reopened.as_view(), name="api_campaign_reopen"),
    path("assignments/", assignments_api.Assignments.as_view(), name="api_assignments"),
    # Before those by name: no questionnaire in somebody's hands is called `next`, since names are drawn.
    path("assignments/next/", screening_api.Following.as_view(), name="api_assignment_next"),
    path("assignments/<str:assignment>/", include(SCREENING_API)),
    path("accept-clean/", screening_api.Clean.as_view(), name="api_accept_clean"),
]
JUDGES_API = [
    path("", judges.ModelJudges.as_view(), name="api_model_judges"),
    path("estimate/", judges.ModelJudgesEstimated.as_view(), name="api_model_judges_estimate"),
    path("measure/", judges.JudgesMeasured.as_view(), name="api_model_judges_measure"),
    path("measure/estimate/", judges.MeasuringEstimated.as_view(), name="api_model_judges_measure_estimate"),
    path("runs/<uuid:key>/answers/", model_answers.JudgeAnswers.as_view(), name="api_model_judges_answers"),
    path("runs/<uuid:key>/measured/", measured.JudgeMeasured.as_view(), name="api_model_judges_measured"),
]
urlpatterns = [
    path("api/v1/studies/<slug:study>/judges/", include(JUDGES_API)),
    path("api/v1/studies/<slug:study>/campaigns/", api.Campaigns.as_view(), name="api_campaigns"),
    path("api/v1/studies/<slug:study>/campaigns/<int:campaign>/", include(API)),
    path("api/v1/studies/<slug:study>/judgments/", judgments.Judgments.as_view(), name="api_judgments"),
    path("studies/<slug:slug>/campaigns/", campaigns.campaigns, name="campaigns"),
    path("studies/<slug:slug>/campaigns/new/", campaign_drafts.new, name="campaign_new"),
    path("studies/<slug:slug>/campaigns/<int:campaign>/", include(DRAFT)),
    path("studies/<slug:slug>/campaigns/<int:campaign_id>/", include(STANDING)),
    path("studies/<slug:slug>/campaigns/<int:campaign>/", include(RUNNING)),
    path("studies/<slug:slug>/campaigns/<int:campaign>/", include(QUALITY)),
    path("studies/<slug:slug>/judges/", include(JUDGES)),
]
