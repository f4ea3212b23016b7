"""The app's pages. Where the editor's events come in stands in crowdrag/urls.py, before all others."""

from django.urls import include, path, register_converter
from django.urls.converters import StringConverter

from .api import imports as importing
from .api import model_answers, reviewing
from .api import models as models_api
from .api import plan as plan_api
from .api import plan_texts as plan_texts_api
from .api import progress as progress_api
from .api import responses as given
from .api import review as review_api
from .api import topics as asked
from .views import (
    editor,
    imports,
    models,
    plan,
    plan_texts,
    progress,
    replay,
    responses,
    review,
    sittings,
    topics,
    work,
)


class IdentifierConverter(StringConverter):
    """An id as it was imported, which may hold slashes. Addresses that go on after an id stand before its own."""

    regex = r"[\s\S]+"


register_converter(IdentifierConverter, "identifier")

# One response that was handed in. What can be done with it stands before it: an id may hold slashes.
REVIEWED = "api/v1/studies/<slug:study>/review/<identifier:task>/"
HANDED_IN = [
    path(REVIEWED + "accept/", reviewing.Accepted.as_view(), name="api_review_accept"),
    path(REVIEWED + "reject/", reviewing.Rejected.as_view(), name="api_review_reject"),
    path(REVIEWED + "send-back/", reviewing.SentBack.as_view(), name="api_review_send_back"),
    path(REVIEWED + "reverse/", reviewing.Reversed.as_view(), name="api_review_reverse"),
    path(REVIEWED + "inclusion/", reviewing.Included.as_view(), name="api_review_inclusion"),
    path(REVIEWED + "pay/", reviewing.Paid.as_view(), name="api_review_pay"),
    path(REVIEWED + "hold/", reviewing.Held.as_view(), name="api_review_hold"),
    path(REVIEWED, review_api.OneHandedIn.as_view(), name="api_reviewed"),
]
PLAN = [
    path("", plan_api.Plan.as_view(), name="api_plan"),
    path("forecast/", plan_api.PlanForecast.as_view(), name="api_plan_forecast"),
    path("open/", plan_api.PlanOpened.as_view(), name="api_plan_open"),
    path("close/", plan_api.PlanClosed.as_view(), name="api_plan_close"),
    path("instructions/", plan_texts_api.WriterInstructions.as_view(), name="api_plan_instructions"),
    path("consent/", plan_texts_api.WriterConsent.as_view(), name="api_plan_consent"),
    path("questions/<str:kind>/", plan_texts_api.WriterQuestions.as_view(), name="api_plan_questions"),
    path("styles/", plan_texts_api.Styles.as_view(), name="api_plan_styles"),
    path("styles/<identifier:name>/", plan_texts_api.OneStyle.as_view(), name="api_plan_style"),
]
urlpatterns = [
    path("studies/<slug:slug>/import/", imports.imports, name="import"),
    path("studies/<slug:slug>/import/<slug:name>/", imports.importing, name="importing"),
    path("studies/<slug:slug>/writing/models/", models.writers, name="model_writers"),
    path("studies/<slug:slug>/writing/models/new/", models.order, name="model_campaign_new"),
    path("studies/<slug:slug>/writing/models/<uuid:key>/", models.campaign, name="model_campaign"),
    path("studies/<slug:slug>/topics/", topics.topics, name="topics"),
    # An id may hold slashes, so that addresses which go on after one stand before its own.
    path("studies/<slug:slug>/topics/<identifier:external_id>/", topics.topic, name="topic"),
    path("studies/<slug:slug>/writing/", progress.progress, name="writing_progress"),
    path("studies/<slug:slug>/writing/top-up/<int:writer>/", progress.top_up, name="writing_top_up"),
    path("studies/<slug:slug>/writing/tables/<str:name>.csv", progress.table, name="writing_table"),
    path("studies/<slug:slug>/writing/plan/", plan.plan, name="writing_plan"),
    path("studies/<slug:slug>/writing/plan/opening/", plan.opening, name="writing_plan_opening"),
    path("studies/<slug:slug>/writing/plan/preview/", plan.preview, name="writing_plan_preview"),
    path("studies/<slug:slug>/writing/plan/instructions/", plan_texts.instructions, name="writing_plan_instructions"),
    path("studies/<slug:slug>/writing/plan/consent/", plan_texts.consent, name="writing_plan_consent"),
    path("studies/<slug:slug>/writing/plan/questions/<str:kind>/", plan_texts.questions, name="writing_plan_questions"),
    path("studies/<slug:slug>/writing/plan/style/", plan_texts.style, name="writing_plan_style_new"),
    path("studies/<slug:slug>/writing/plan/style/<identifier:name>/", plan_texts.style, name="writing_plan_style"),
    path("studies/<slug:slug>/responses/<identifier:external_id>/replay/log/", replay.replay_log, name="replay_log"),
    path("studies/<slug:slug>/responses/<identifier:external_id>/replay/", replay.replay, name="replay"),
    path("studies/<slug:slug>/responses/<identifier:external_id>/", responses.response, name="response"),
    path("studies/<slug:slug>/review/", review.review_queue, name="review_queue"),
    path("studies/<slug:slug>/review/next/", review.review_next, name="review_next"),
    path("studies/<slug:slug>/review/<identifier:task>/hold/", review.review_hold, name="review_hold"),
    path("studies/<slug:slug>/review/<identifier:task>/skip/", review.review_skip, name="review_skip"),
    path("studies/<slug:slug>/review/<identifier:task>/decide/", review.review_decide, name="review_decide"),
    path("studies/<slug:slug>/review/<identifier:task>/include/", review.review_include, name="review_include"),
    path("studies/<slug:slug>/review/<identifier:task>/pay/", review.review_pay, name="review_pay"),
    path("studies/<slug:slug>/review/<identifier:task>/reverse/", review.review_reverse, name="review_reverse"),
    path("studies/<slug:slug>/review/<identifier:task>/", review.review_task, name="review_task"),
    path("work/<slug:taking_part>/writing/", work.start, name="writing_start"),
    path("work/<slug:taking_part>/writing/<str:task>/", work.step, name="writing_task"),
    path("work/<slug:taking_part>/writing/<str:task>/entry/", work.entry, name="writing_entry"),
    path("work/<slug:taking_part>/writing/<str:task>/exit/", work.leave, name="writing_exit"),
    path("work/<slug:taking_part>/writing/<str:task>/done/", work.done, name="writing_done"),
    path("work/<slug:taking_part>/writing/<str:task>/return/", work.give_back, name="writing_return"),
    path("work/<slug:taking_part>/writing/<str:task>/write/", editor.editor, name="writing_editor"),
    path("work/<slug:taking_part>/writing/<str:task>/sittings/", sittings.sitting, name="writing_sitting"),
    path("work/<slug:taking_part>/writing/<str:task>/finish/", sittings.finish, name="writing_finish"),
    path("api/v1/studies/<slug:study>/imports/", importing.Importers.as_view(), name="api_imports"),
    path("api/v1/studies/<slug:study>/imports/<slug:name>/", importing.Import.as_view(), name="api_import"),
    path("api/v1/studies/<slug:study>/topics/", asked.Topics.as_view(), name="api_topics"),
    path(
        "api/v1/studies/<slug:study>/topics/<identifier:external_id>/passages/",
        asked.Passages.as_view(),
        name="api_passages",
    ),
    path("api/v1/studies/<slug:study>/topics/<identifier:external_id>/", asked.OneTopic.as_view(), name="api_topic"),
    path("api/v1/studies/<slug:study>/responses/", given.Responses.as_view(), name="api_responses"),
    path(
        "api/v1/studies/<slug:study>/responses/<identifier:external_id>/log/",
        given.Log.as_view(),
        name="api_response_log",
    ),
    path(
        "api/v1/studies/<slug:study>/responses/<identifier:external_id>/",
        given.OneResponse.as_view(),
        name="api_response",
    ),
    path("api/v1/studies/<slug:study>/review/", review_api.HandedIn.as_view(), name="api_review"),
    # Before those by name: no task is called `next`, since names are drawn.
    path("api/v1/studies/<slug:study>/review/next/", reviewing.Following.as_view(), name="api_review_next"),
    *HANDED_IN,
    path("api/v1/studies/<slug:study>/writing/", progress_api.Progress.as_view(), name="api_writing"),
    path("api/v1/studies/<slug:study>/writing/models/", models_api.ModelWriters.as_view(), name="api_model_writers"),
    path(
        "api/v1/studies/<slug:study>/writing/models/estimate/",
        models_api.ModelWritersEstimated.as_view(),
        name="api_model_writers_estimate",
    ),
    path(
        "api/v1/studies/<slug:study>/writing/models/runs/<uuid:key>/answers/",
        model_answers.WriterAnswers.as_view(),
        name="api_model_writers_answers",
    ),
    path("api/v1/studies/<slug:study>/writing/plan/", include(PLAN)),
    path("api/v1/studies/<slug:study>/writing/writers/", progress_api.Writers.as_view(), name="api_writers"),
    path(
        "api/v1/studies/<slug:study>/writing/writers/<str:participant>/top-up/",
        progress_api.ToppedUp.as_view(),
        name="api_writer_top_up",
    ),
]
