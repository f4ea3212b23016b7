"""Releases for everybody: no account, no cookie, nothing but what was published; and for whoever has a private link."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from crowdrag.jobs import downloads
from crowdrag.studies.access import public_to_read

from ..enums import ReleaseState
from . import queries as releases_queries
from . import queries as says
from . import services, storage
from .models import Release

GONE = 410
FORBIDDEN = 403
NOT_FOUND = 404


@public_to_read
def index(request: HttpRequest) -> HttpResponse:
    """List what is published."""
    return render(request, "analysis/released_list.html", releases_queries.index(request.GET.get("page")))


@public_to_read
def latest(request: HttpRequest, released: str) -> HttpResponse:
    """Lead to the latest version of a study that stands; to the latest of all where none does."""
    found = Release.objects.filter(study__slug=released).public().newest_first()
    standing = found.exclude(state=ReleaseState.WITHDRAWN).first() or found.first()
    if standing is None:
        raise Http404("Nothing of this study is published.")
    return redirect("public_release", released, standing.number)


@public_to_read
def release(request: HttpRequest, released: str, number: int) -> HttpResponse:
    """Show a published version: what it is, its figures, its first rows, its files."""
    found = _public(released, number)
    opens = services.is_served(found, timezone.now())
    return _show(request, found, opens=opens, files="public_release_file", whole_at="public_release_zip")


@public_to_read
def file(request: HttpRequest, released: str, number: int, path: str) -> HttpResponseBase:
    """Send a file of a published version, or a part of it."""
    found = _public(released, number)
    if found.state == ReleaseState.WITHDRAWN:
        return _refused(request, found, status=GONE)
    wanted = get_object_or_404(found.files.all(), path=path)
    # What was taken out will not be there after the embargo either.
    if wanted.removed_at is None and services.is_embargoed(found, timezone.now()):
        return _refused(request, found, status=FORBIDDEN)
    return _for_all(sent(request, found, path))


@public_to_read
def everything(request: HttpRequest, released: str, number: int) -> HttpResponseBase:
    """Send all files of a published version as one ZIP."""
    found = _public(released, number)
    if found.state == ReleaseState.WITHDRAWN:
        return _refused(request, found, status=GONE)
    if services.is_embargoed(found, timezone.now()):
        return _refused(request, found, status=FORBIDDEN)
    return _for_all(sent_whole(request, found))


@public_to_read
@never_cache
def private(request: HttpRequest, key: str) -> HttpResponse:
    """Show a release to whoever has a link to it."""
    if (found := services.open_link(key, now=timezone.now())) is None:
        return _ended(request)
    context: dict[str, Any] = {"link": found, "args": [key]}
    where = {"files": "private_release_file", "whole_at": "private_release_zip"}
    answer = _show(request, found.release, opens=True, **where, **context)
    answer["X-Robots-Tag"] = "noindex, nofollow"
    return answer


@public_to_read
def private_file(request: HttpRequest, key: str, path: str) -> HttpResponseBase:
    """Send a file to whoever has a link to its release."""
    if (found := services.open_link(key, now=timezone.now())) is None:
        return _ended(request)
    answer = sent(request, found.release, path)
    answer["X-Robots-Tag"] = "noindex"
    answer.setdefault("Cache-Control", "private, no-cache")
    return answer


@public_to_read
def private_everything(request: HttpRequest, key: str) -> HttpResponseBase:
    """Send all files as one ZIP to whoever has a link to their release."""
    if (found := services.open_link(key, now=timezone.now())) is None:
        return _ended(request)
    answer = sent_whole(request, found.release)
    answer["X-Robots-Tag"] = "noindex"
    answer.setdefault("Cache-Control", "private, no-cache")
    return answer


def sent_whole(request: HttpRequest, release: Release) -> HttpResponseBase:
    """Answer with all files of a release as one ZIP; who may have them was asked before."""
    if (found := storage.zip_bundle(release)) is None:
        return _refused(request, release, status=GONE)
    return downloads.send_zip(request, found.parts, name=found.name, tag=found.tag)


def sent(request: HttpRequest, release: Release, path: str) -> HttpResponseBase:
    """Answer with a file of a release; who may have it was asked before."""
    found = get_object_or_404(release.files.all(), path=path)
    if found.removed_at is not None:
        return _refused(request, release, status=GONE)
    kept = downloads.DownloadableFile(
        str(found.file.name), found.download_name, found.media_type, found.size, found.sha256
    )
    return downloads.send_file(request, kept)


def _show(request: HttpRequest, found: Release, *, opens: bool, files: str, whole_at: str, **more: Any) -> HttpResponse:
    context = releases_queries.public(found, now=timezone.now(), shows_rows=opens)
    context |= {
        "opens": opens,
        "versions": releases_queries.versions(found),
        "croissant": _croissant(found, opens=opens),
    }
    args = more.pop("args", [found.study.slug, found.number])
    base = reverse(files, args=[*args, "x"])[:-1]
    context["zip_at"] = reverse(whole_at, args=args) if opens else ""
    address = request.build_absolute_uri(reverse("public_release", args=[found.study.slug, found.number]))
    context |= {"files_at": base, "citing": says.citing(found, address=address)}
    context["loading"] = says.loading(found, base=request.build_absolute_uri(base)) if opens else None
    return render(request, "analysis/released.html", context | more)


def _for_all(answer: HttpResponseBase) -> HttpResponseBase:
    # Anybody may have it, scripts of other sites too; whether it is still given out is asked each time.
    answer["Access-Control-Allow-Origin"] = "*"
    answer.setdefault("Cache-Control", "public, no-cache")
    return answer


def _croissant(found: Release, *, opens: bool) -> str:
    return "croissant.json" if opens and found.files.filter(path="croissant.json").exists() else ""


def _refused(request: HttpRequest, found: Release, *, status: int) -> HttpResponse:
    context = {"release": found, "released_study": found.study, "newer": services.newer(found)}
    return render(request, "analysis/released_gone.html", context, status=status)


def _public(slug: str, number: int) -> Release:
    found = Release.objects.public().select_related("study", "run")
    return get_object_or_404(found, study__slug=slug, number=number)


@never_cache
def _ended(request: HttpRequest) -> HttpResponse:
    # Whether there ever was such a link is nobody's business.
    return render(request, "analysis/released_ended.html", status=NOT_FOUND)
