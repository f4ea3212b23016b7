"""Addresses of everything that a researcher can open in a study: every page and every endpoint, from the URLs.

An argument of an address is tried with the rows that it may name. An address that names nothing in the study under
test is reported, so that nothing is passed over silently.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.urls import URLPattern, URLResolver

    from bench._large_study import LargeStudy

_ARGUMENT = re.compile(r"<(?:(\w+):)?(\w+)>")
#: What an API endpoint and a page call the same thing.
_SAME = {"campaign": "campaign_id", "task": "task_id", "assignment": "assignment_id", "item": "item_id"}
#: Arguments of which every value is a page of its own; of the others, the first that opens stands for all.
_EACH = {"campaign_id"}


@dataclass
class Addresses:
    """`opened` are addresses by name; `unopened` the names of those that take no GET, `downloads` of files, and
    `missing` of those that name nothing in this study."""

    opened: dict[str, str] = field(default_factory=dict)
    unopened: list[str] = field(default_factory=list)
    downloads: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def find_addresses(large: LargeStudy, ask: Callable[[str], tuple[int, bool]]) -> Addresses:
    """Return the addresses below the study's. `ask` requests one and returns its status and whether it is a file."""
    found, values = Addresses(), _values(large)
    for route, name in _routes():
        arguments = [_SAME.get(argument, argument) for _, argument in _ARGUMENT.findall(route)]
        fixed = [argument for argument in arguments if argument in _EACH]
        tried = [argument for argument in arguments if argument not in _EACH]
        kinds = set()
        for each in itertools.product(*(values.get(argument, {}).items() for argument in fixed)):
            label = ", ".join([name, *(of for of, _ in each)])
            for rest in itertools.product(*(values.get(argument, {}).values() for argument in tried)):
                named = dict(zip(fixed, (value for _, value in each), strict=True)) | dict(
                    zip(tried, rest, strict=True)
                )
                address = _filled(route, named)
                status, is_file = ask(address)
                if status >= 500:
                    raise RuntimeError(f"{address} answered {status}")
                kinds.add("unopened" if status == 405 else "downloads" if is_file else "")
                if status in {200, 302, 301} and not is_file:
                    found.opened[label] = address
                if status != 404:
                    break
        if not any(one.split(",")[0] == name for one in found.opened):
            (
                found.unopened if "unopened" in kinds else found.downloads if "downloads" in kinds else found.missing
            ).append(name)
    return found


def _filled(route: str, named: dict[str, Any]) -> str:
    return "/" + _ARGUMENT.sub(lambda match: str(named[_SAME.get(match[2], match[2])]), route)


def _routes() -> Iterator[tuple[str, str]]:
    """Yield the routes below a study's address with their names."""
    from django.urls import get_resolver

    for route, pattern in _patterns(get_resolver(), ""):
        if route.startswith(("studies/<slug:slug>/", "api/v1/studies/<slug:study>/")) and pattern.name:
            yield route, pattern.name


def _patterns(resolver: Any, prefix: str) -> Iterator[tuple[str, URLPattern]]:
    each: URLPattern | URLResolver
    for each in resolver.url_patterns:
        route = prefix + str(each.pattern)
        if hasattr(each, "url_patterns"):
            yield from _patterns(each, route)
        else:
            yield route, each


def _values(large: LargeStudy) -> dict[str, dict[str, Any]]:
    """Return what each argument may be: rows of the study, by a label."""
    from analysis.experiments.experiment import EXPERIMENTS
    from annotation.enums import AssignmentState
    from annotation.judging import claims
    from annotation.models import Assignment, Item
    from annotation.progress.csv_export import TABLES
    from crowdrag.jobs.models import Run
    from crowdrag.studies.models import Membership, Participant
    from crowdrag.webhooks.models import Delivery, Webhook
    from writing.enums import TaskState
    from writing.models import Response, Style, Topic, WritingTask

    study, running = large.study, large.running
    runs = Run.objects.filter(study=study).order_by("kind", "-pk").distinct("kind")
    of_running = Assignment.objects.filter(questionnaire__campaign=running, state=AssignmentState.SUBMITTED)
    first = {
        "slug": study.slug,
        "study": study.slug,
        "user_id": Membership.objects.filter(study=study).values_list("user", flat=True).first(),
        "participant": Participant.objects.filter(study=study).values_list("external_id", flat=True).last(),
        "assignment_id": of_running.values_list("external_id", flat=True).first(),
        "task_id": WritingTask.objects.filter(study=study, state=TaskState.SUBMITTED)
        .values_list("external_id", flat=True)
        .first(),
        "item_id": Item.objects.filter(campaign=running).values_list("pk", flat=True).first(),
        "number": large.parts["api_release_files"]["number"],
        "path": "part-0.csv",
        "purpose": claims.purpose(running),
        "session": "none",
        "pk": Participant.objects.filter(study=study, external_id="running-0").values_list("pk", flat=True).first(),
        "writer": Participant.objects.filter(study=study).values_list("pk", flat=True).first(),
        "kind": "before",
        "form": "csv",
        "delivery": Delivery.objects.filter(webhook__study=study).values_list("pk", flat=True).first(),
    }
    several: dict[str, dict[str, Any]] = {
        "campaign_id": {"running": running.pk, "imported": large.imported.pk},
        "key": {run.kind: run.key for run in runs}
        | {"webhook": Webhook.objects.filter(study=study).values_list("key", flat=True).last()},
        "external_id": {
            "topic": Topic.objects.filter(study=study).values_list("external_id", flat=True).first(),
            "response": Response.objects.filter(study=study).values_list("external_id", flat=True).first(),
        },
        "name": dict.fromkeys(
            [
                *TABLES,
                *EXPERIMENTS,
                "topics",
                "judgments",
                "file-0",
                "a.zip",
                "gold",
                str(Style.objects.filter(study=study, plans__isnull=False).values_list("name", flat=True).first()),
            ]
        ),
    }
    several["name"] = {name: name for name in several["name"]}
    return several | {name: {name: value} for name, value in first.items()}
