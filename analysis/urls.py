"""URLs of pages and API endpoints."""

from django.urls import include, path

from .analyses import api as results_api
from .analyses import views as analyses_views
from .archive import api as exports_api
from .archive import views as archive_views
from .experiments import api as experiments_api
from .experiments import views as experiments_views
from .methods import registry
from .methods.reference_metrics import api as bertscore_api
from .placement import api as placement_api
from .placement import views as placement_views
from .planning import api as planner_api
from .planning import views as planning_views
from .releases import api as releases_api
from .releases import public_views
from .releases import views as releases_views
from .releases.personal_data import api as personal_data_api
from .releases.personal_data import views as personal_data_views

RELEASE_API = [
    path("", releases_api.OneRelease.as_view(), name="api_release"),
    path("zip/", releases_api.Zip.as_view(), name="api_release_zip"),
    path("files/", releases_api.Files.as_view(), name="api_release_files"),
    path("files/<path:path>", releases_api.OneFile.as_view(), name="api_release_file"),
    path("links/", releases_api.Links.as_view(), name="api_release_links"),
    path("links/<int:link>/", releases_api.OneLink.as_view(), name="api_release_link"),
    path("build/", releases_api.Built.as_view(), name="api_release_build"),
    path("publish/", releases_api.Published.as_view(), name="api_release_publish"),
    path("embargo/lift/", releases_api.Unembargoed.as_view(), name="api_release_embargo"),
    path("withdraw/", releases_api.Withdrawn.as_view(), name="api_release_withdraw"),
]
RESULT_API = [
    path("", results_api.OneResult.as_view(), name="api_result"),
    path("tables/<slug:name>/", results_api.OneTable.as_view(), name="api_result_table"),
]
API = [
    path("results/", results_api.ResultsOfStudy.as_view(), name="api_results"),
    path("results/<uuid:key>/", include(RESULT_API)),
    path("releases/", releases_api.Releases.as_view(), name="api_releases"),
    path("releases/<int:number>/", include(RELEASE_API)),
    path("personal-data/", personal_data_api.Findings.as_view(), name="api_personal_data"),
    path("personal-data/decide/", personal_data_api.Verdicts.as_view(), name="api_personal_data_decide"),
    path("experiments/", experiments_api.Experiments.as_view(), name="api_experiments"),
    path("experiments/<slug:name>/", experiments_api.Started.as_view(), name="api_experiment"),
    path("experiments/<slug:name>/estimate/", experiments_api.Estimated.as_view(), name="api_experiment_estimate"),
    path("indexes/", experiments_api.Indexes.as_view(), name="api_indexes"),
    path("indexes/<slug:key>/", experiments_api.OneIndex.as_view(), name="api_index"),
    path("planner/", planner_api.Planner.as_view(), name="api_planner"),
    path("placements/", placement_api.Placements.as_view(), name="api_placements"),
    path("placements/<int:system>/", placement_api.OnePlacement.as_view(), name="api_placement"),
    path("bertscore/", bertscore_api.Bertscore.as_view(), name="api_bertscore"),
    path("exports/", exports_api.Exports.as_view(), name="api_exports"),
    path("clone/", exports_api.Clone.as_view(), name="api_study_clone"),
]
#: One URL for each page of a method.
PAGES = [
    path(f"studies/<slug:slug>/results/{page.path}", analyses_views.page_view(page), name=page.url_name)
    for page in registry.pages()
]
urlpatterns = [
    *PAGES,
    path("api/v1/studies/<slug:study>/", include(API)),
    path("studies/<slug:slug>/results/analyse/", analyses_views.analyse, name="analysis_start"),
    path("studies/<slug:slug>/results/competence/<int:pk>/", analyses_views.participant, name="participant_results"),
    path("studies/<slug:slug>/results/pairs/<int:pk>/", analyses_views.pair, name="pair"),
    path("studies/<slug:slug>/results/leaderboard/system/", analyses_views.system, name="system_results"),
    path("studies/<slug:slug>/results/leaderboard/pair/", analyses_views.pair_of_systems, name="head_to_head"),
    path("studies/<slug:slug>/results/leaderboard/place/", placement_views.new, name="placement_new"),
    path("studies/<slug:slug>/results/leaderboard/place/<int:pk>/", placement_views.placement, name="placement"),
    path("studies/<slug:slug>/results/report/", analyses_views.report, name="report"),
    path("studies/<slug:slug>/results/report/build/", analyses_views.build_report, name="report_build"),
    path("studies/<slug:slug>/results/report/<str:name>", analyses_views.report_file, name="report_file"),
    path("studies/<slug:slug>/results/analyses/", analyses_views.analyses, name="analyses"),
    path("studies/<slug:slug>/results/analyses/compare/", analyses_views.compare, name="compare_runs"),
    path("studies/<slug:slug>/results/bertscore/start/", analyses_views.start, name="bertscore_start"),
    path("studies/<slug:slug>/results/tables/<slug:name>.<slug:form>", analyses_views.table, name="result_table"),
    path("studies/<slug:slug>/clone/", archive_views.clone_study, name="study_clone"),
    path("studies/<slug:slug>/planner/", planning_views.planner, name="planner"),
    path("studies/<slug:slug>/planner/<uuid:key>/", planning_views.show_progress, name="planner_progress"),
    path("studies/<slug:slug>/planner/<uuid:key>/use/", planning_views.use, name="planner_use"),
    path("studies/<slug:slug>/planner/<uuid:key>/chart.<slug:form>", planning_views.chart, name="planner_chart"),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/goal/chart.<slug:form>",
        planning_views.goal_chart,
        name="campaign_goal_chart",
    ),
    path("studies/<slug:slug>/experiments/", experiments_views.listing, name="experiments"),
    path("studies/<slug:slug>/experiments/compare/", experiments_views.compare, name="experiments_compare"),
    path("studies/<slug:slug>/experiments/new/<slug:name>/", experiments_views.new, name="experiment_new"),
    path(
        "studies/<slug:slug>/experiments/new/<slug:name>/estimate/",
        experiments_views.estimate,
        name="experiment_estimate",
    ),
    path("studies/<slug:slug>/experiments/indexes/", experiments_views.indexes, name="indexes"),
    path(
        "studies/<slug:slug>/experiments/indexes/<slug:key>/delete/",
        experiments_views.delete_index,
        name="index_delete",
    ),
    path("studies/<slug:slug>/experiments/<uuid:key>/", experiments_views.result, name="experiment_result"),
    path("studies/<slug:slug>/releases/", releases_views.releases, name="releases"),
    path("studies/<slug:slug>/releases/new/", releases_views.new, name="release_new"),
    path("studies/<slug:slug>/releases/personal/", personal_data_views.findings, name="personal_data_findings"),
    path("studies/<slug:slug>/releases/personal/decide/", personal_data_views.decide, name="personal_data_decide"),
    path("studies/<slug:slug>/releases/<int:number>/", releases_views.release, name="release"),
    path("studies/<slug:slug>/releases/<int:number>/progress/", releases_views.show_progress, name="release_progress"),
    path("studies/<slug:slug>/releases/<int:number>/change/", releases_views.change, name="release_change"),
    path("studies/<slug:slug>/releases/<int:number>/build/", releases_views.build, name="release_build"),
    path("studies/<slug:slug>/releases/<int:number>/stop/", releases_views.stop, name="release_stop"),
    path("studies/<slug:slug>/releases/<int:number>/publish/", releases_views.publish, name="release_publish"),
    path("studies/<slug:slug>/releases/<int:number>/embargo/", releases_views.lift_embargo, name="release_embargo"),
    path("studies/<slug:slug>/releases/<int:number>/withdraw/", releases_views.withdraw, name="release_withdraw"),
    path("studies/<slug:slug>/releases/<int:number>/discard/", releases_views.discard, name="release_discard"),
    path("studies/<slug:slug>/releases/<int:number>/links/", releases_views.link, name="release_link"),
    path(
        "studies/<slug:slug>/releases/<int:number>/links/<int:pk>/revoke/", releases_views.revoke, name="release_revoke"
    ),
    path("studies/<slug:slug>/releases/<int:number>/files/<path:path>", releases_views.file, name="release_file"),
    path("studies/<slug:slug>/releases/<int:number>/everything.zip", releases_views.everything, name="release_zip"),
    path("releases/", public_views.index, name="public_releases"),
    path("releases/<slug:released>/", public_views.latest, name="public_latest"),
    path("releases/<slug:released>/<int:number>/", public_views.release, name="public_release"),
    path("releases/<slug:released>/<int:number>/files/<path:path>", public_views.file, name="public_release_file"),
    path("releases/<slug:released>/<int:number>/everything.zip", public_views.everything, name="public_release_zip"),
    path("private-releases/<str:key>/", public_views.private, name="private_release"),
    path("private-releases/<str:key>/files/<path:path>", public_views.private_file, name="private_release_file"),
    path("private-releases/<str:key>/everything.zip", public_views.private_everything, name="private_release_zip"),
    path("studies/<slug:slug>/export/", archive_views.exports, name="exports"),
    path("studies/<slug:slug>/export/start/", archive_views.start, name="export_start"),
    path("studies/<slug:slug>/results/charts/<slug:name>.<slug:form>", analyses_views.chart, name="result_chart"),
]
