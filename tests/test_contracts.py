"""The import contracts hold, and each of them bites when it is broken on purpose."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["crowdrag", "annotation", "writing", "analysis"]

# contract -> a file that breaks it, and the line that does
BREACHES = {
    "The numeric core knows nothing of the web": ("analysis/stats/agreement.py", "import django"),
    "Models run without the web": ("analysis/rag/encoders.py", "import django"),
    "Data flows one way: writing, then annotation, then analysis": ("writing/apps.py", "import annotation.models"),
    "Accounts, API, audit, operations and UI are layered": ("crowdrag/api/models.py", "import crowdrag.api.views"),
    "What is done in a study knows no pages": (
        "crowdrag/studies/study/services.py",
        "import crowdrag.studies.study.views",
    ),
    "A study's tables know nothing of what is done with them": (
        "crowdrag/studies/study/models.py",
        "import crowdrag.studies.access",
    ),
    "The life of paid work is layered": ("crowdrag/assignments/models.py", "import crowdrag.assignments.decisions"),
    "The gateway is layered": ("crowdrag/llm/models.py", "import crowdrag.llm.views"),
    "Jobs are layered": ("crowdrag/jobs/models.py", "import crowdrag.jobs.views"),
    "Recruitment is layered": ("crowdrag/recruitment/models.py", "import crowdrag.recruitment.views"),
    "Payments are layered": ("crowdrag/payments/models.py", "import crowdrag.payments.views"),
    "Email is layered": ("crowdrag/mail/models.py", "import crowdrag.mail.views"),
    "Webhooks are layered": ("crowdrag/webhooks/models.py", "import crowdrag.webhooks.views"),
    "Writing's features are layered": ("writing/corpus/queries.py", "import writing.review.services"),
    "Judging's features are layered": ("annotation/judging/claims.py", "import annotation.progress.costs"),
    "Analysis is layered": ("analysis/tables/rows.py", "import analysis.reports.builder"),
    "The runtime starts the apps from outside": ("crowdrag/runtime/cli.py", "import crowdrag.studies.models"),
}


def lint(folder: Path) -> tuple[int, dict[str, str]]:
    """Run import-linter in a folder; return its status and each contract's verdict."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = re.findall(r"^(.+?) (KEPT|BROKEN)(?: .*)?$", done.stdout, re.MULTILINE)
    return done.returncode, dict(found) or {"output": done.stdout + done.stderr}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "texts"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.extended
def test_the_contracts_hold() -> None:
    status, verdicts = lint(ROOT)
    assert verdicts == dict.fromkeys(BREACHES, "KEPT")
    assert status == 0


@pytest.mark.extended
@pytest.mark.parametrize("contract", BREACHES)
def test_a_breach_is_caught(copy: Path, contract: str) -> None:
    file, line = BREACHES[contract]
    path = copy / file
    path.write_text(path.read_text() + f"\n{line}\n")
    status, verdicts = lint(copy)
    assert verdicts[contract] == "BROKEN"
    assert status != 0


@pytest.mark.extended
@pytest.mark.parametrize("file", ["annotation/helpers.py", "crowdrag/jobs/utils.py"])
def test_a_module_that_is_no_layer_is_caught(copy: Path, file: str) -> None:
    (copy / file).write_text('"""A drawer for everything."""\n')
    status, _verdicts = lint(copy)
    assert status != 0


def test_pages_forms_and_endpoints_are_known_to_each_other_alone() -> None:
    """What is beneath them can be used without them; an app's start and its URLs name them."""
    upper = {"views", "forms", "api", "content_api", "urls"}
    free = upper | {"apps", "admin", "decision_views", "link_forms", "review_endpoints", "authentication", "downloads"}
    breaches = []
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            folders = set(path.relative_to(ROOT).with_suffix("").parts)
            if folders & (free | {"migrations", "management", "runtime", "templatetags"}):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom):
                    names = {
                        *(node.module or "").split(".")[1 if not node.level else 0 :],
                        *(a.name for a in node.names),
                    }
                    if names & upper and (node.level or (node.module or "").split(".")[0] in PACKAGES):
                        breaches.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert breaches == []


def test_the_numeric_core_runs_without_django() -> None:
    code = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in {'django', 'celery', 'psycopg', 'redis', 'crowdrag'}:\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "import pkgutil, importlib, analysis.stats, analysis.text, analysis.writing_process\n"
        "for package in (analysis.stats, analysis.text, analysis.writing_process):\n"
        "    for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(module.name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
