"""The documentation site: its files, and which of its pages explains a page of the product (docs/adr/0036)."""

from pathlib import Path
from typing import Final

from django.conf import settings
from django.urls import reverse

#: The guide for pages whose URL names start with this; the longest prefix counts.
GUIDES: Final[dict[str, str]] = {
    "studies": "tutorials/",
    "study": "tutorials/own-system/",
    "study_manage": "guides/studies/",
    "study_clone": "guides/studies/",
    "copy_sample": "explanation/demo/",
    "study_about": "guides/recruiting/",
    "study_models": "guides/models/",
    "members": "guides/members/",
    "member_invite": "guides/members/",
    "login": "guides/members/",
    "invitation": "guides/members/",
    "password_change": "guides/members/",
    "account_": "guides/operations/",
    "inbox": "guides/reviewing/",
    "participant_message": "guides/recruiting/",
    "participant_block": "guides/recruiting/",
    "entry_link": "guides/recruiting/",
    "recruitment": "guides/prolific/",
    "platform_action": "guides/prolific/",
    "topic": "explanation/concepts/",
    "response": "explanation/concepts/",
    "import": "guides/import/",
    "writing": "guides/running-a-writing-study/",
    "model_writers": "guides/models/",
    "model_campaign": "guides/models/",
    "review": "guides/reviewing/",
    "replay": "guides/reviewing/",
    "campaign": "guides/running-a-campaign/",
    "campaign_checks": "guides/screening/",
    "screening": "guides/screening/",
    "model_judges": "guides/model-judges/",
    "planner": "methods/planning/",
    "placement": "guides/new-system/",
    "leaderboard": "methods/leaderboard/",
    "results": "methods/agreement/",
    "competence": "methods/competence/",
    "participant_results": "methods/competence/",
    "grades": "methods/grades/",
    "writing_results": "methods/writing-behaviour/",
    "pair": "methods/labels/",
    "order_effects": "methods/order-effects/",
    "reference_metrics": "methods/reference-metrics/",
    "bertscore": "methods/bertscore/",
    "model_judge_results": "methods/model-judges/",
    "analys": "guides/reports/",
    "compare_runs": "guides/reports/",
    "report": "guides/reports/",
    "result_table": "reference/tables/",
    "experiment": "guides/experiments/",
    "release": "guides/releases/",
    "public_release": "reference/release-formats/",
    "private_release": "reference/release-formats/",
    "personal_data": "guides/personal-data/",
    "export": "guides/export/",
    "run": "guides/reports/",
    "webhook": "guides/webhooks/",
    "api": "guides/api/",
    "operations": "guides/operations/",
    "services": "guides/operators/",
    "models": "guides/models/",
}


def url(url_name: str | None = None) -> str:
    """Return the URL of the guide for this page of the product, or of the site's first page."""
    name = url_name or ""
    beginnings = sorted((start for start in GUIDES if name.startswith(start)), key=len)
    return reverse("documentation") + (GUIDES[beginnings[-1]] if beginnings else "")


def root() -> Path:
    """Return the folder of the built site."""
    return Path(settings.DOCS_ROOT).resolve()


def site_file(path: str) -> Path | None:
    """Return the file of the built site at this path; for a folder, its index. None if there is none."""
    found = (root() / path).resolve()
    if not found.is_relative_to(root()):
        return None
    if found.is_dir():
        found /= "index.html"
    return found if found.is_file() else None


def is_built() -> bool:
    """Return whether the site is built."""
    return site_file("") is not None
