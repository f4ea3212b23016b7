"""Public pages of releases (no account, no cookies, only published data) and private links."""

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
    """List the published releases."""
    return render(request, "analysis/releases/public_list.html", releases_queries.index(request.GET.get("page")))


@public_to_read
def latest(request: HttpRequest, released: str) -> HttpResponse:
    """Redirect to the latest version that was not withdrawn; if all were, to the latest."""
    releases = Release.objects.filter(study__slug=released).public().newest_first()
    standing = releases.exclude(state=ReleaseState.WITHDRAWN).first() or releases.first()
    if standing is None:
        raise Http404("This study has no published releases.")
    return redirect("public_release", released, standing.number)


@public_to_read
def release(request: HttpRequest, released: str, number: int) -> HttpResponse:
    """Show a published version: description, figures, first rows and files."""
    shown_release = _public(released, number)
    opens = services.is_served(shown_release, timezone.now())
    return _show(request, shown_release, opens=opens, files="public_release_file", whole_at="public_release_zip")


@public_to_read
def file(request: HttpRequest, released: str, number: int, path: str) -> HttpResponseBase:
    """Send a file of a published version, or a range of it."""
    shown_release = _public(released, number)
    if shown_release.state == ReleaseState.WITHDRAWN:
        return _refused(request, shown_release, status=GONE)
    file_requested = get_object_or_404(shown_release.files.all(), path=path)
    # Removed files will not be available after the embargo either.
    if file_requested.removed_at is None and services.is_embargoed(shown_release, timezone.now()):
        return _refused(request, shown_release, status=FORBIDDEN)
    return _for_all(file_response(request, shown_release, path))


@public_to_read
def everything(request: HttpRequest, released: str, number: int) -> HttpResponseBase:
    """Send all files of a published version as one ZIP."""
    shown_release = _public(released, number)
    if shown_release.state == ReleaseState.WITHDRAWN:
        return _refused(request, shown_release, status=GONE)
    if services.is_embargoed(shown_release, timezone.now()):
        return _refused(request, shown_release, status=FORBIDDEN)
    return _for_all(zip_response(request, shown_release))


@public_to_read
@never_cache
def private(request: HttpRequest, key: str) -> HttpResponse:
    """Show a release to the holder of a private link."""
    if (link := services.open_link(key, now=timezone.now())) is None:
        return _ended(request)
    context: dict[str, Any] = {"link": link, "args": [key]}
    where = {"files": "private_release_file", "whole_at": "private_release_zip"}
    answer = _show(request, link.release, opens=True, **where, **context)
    answer["X-Robots-Tag"] = "noindex, nofollow"
    return answer


@public_to_read
def private_file(request: HttpRequest, key: str, path: str) -> HttpResponseBase:
    """Send a file to the holder of a private link."""
    if (link := services.open_link(key, now=timezone.now())) is None:
        return _ended(request)
    answer = file_response(request, link.release, path)
    answer["X-Robots-Tag"] = "noindex"
    answer.setdefault("Cache-Control", "private, no-cache")
    return answer


@public_to_read
def private_everything(request: HttpRequest, key: str) -> HttpResponseBase:
    """Send all files as one ZIP to the holder of a private link."""
    if (link := services.open_link(key, now=timezone.now())) is None:
        return _ended(request)
    answer = zip_response(request, link.release)
    answer["X-Robots-Tag"] = "noindex"
    answer.setdefault("Cache-Control", "private, no-cache")
    return answer


def zip_response(request: HttpRequest, release: Release) -> HttpResponseBase:
    """Send all files of a release as one ZIP; the caller has checked access."""
    if (bundle := storage.zip_bundle(release)) is None:
        return _refused(request, release, status=GONE)
    return downloads.send_zip(request, bundle.parts, name=bundle.name, tag=bundle.tag)


def file_response(request: HttpRequest, release: Release, path: str) -> HttpResponseBase:
    """Send a file of a release; the caller has checked access."""
    file = get_object_or_404(release.files.all(), path=path)
    if file.removed_at is not None:
        return _refused(request, release, status=GONE)
    kept = downloads.DownloadableFile(str(file.file.name), file.download_name, file.media_type, file.size, file.sha256)
    return downloads.send_file(request, kept)


def _show(
    request: HttpRequest, shown_release: Release, *, opens: bool, files: str, whole_at: str, **more: Any
) -> HttpResponse:
    context = releases_queries.public(shown_release, now=timezone.now(), shows_rows=opens)
    context |= {
        "opens": opens,
        "versions": releases_queries.versions(shown_release),
        "croissant": _croissant(shown_release, opens=opens),
    }
    args = more.pop("args", [shown_release.study.slug, shown_release.number])
    base = reverse(files, args=[*args, "x"])[:-1]
    context["zip_at"] = reverse(whole_at, args=args) if opens else ""
    address = request.build_absolute_uri(
        reverse("public_release", args=[shown_release.study.slug, shown_release.number])
    )
    context |= {"files_at": base, "citing": says.citing(shown_release, address=address)}
    context["loading"] = says.loading(shown_release, base=request.build_absolute_uri(base)) if opens else None
    return render(request, "analysis/releases/public.html", context | more)


def _for_all(answer: HttpResponseBase) -> HttpResponseBase:
    # Anybody may read it, including scripts of other sites; access is checked on every request.
    answer["Access-Control-Allow-Origin"] = "*"
    answer.setdefault("Cache-Control", "public, no-cache")
    return answer


def _croissant(shown_release: Release, *, opens: bool) -> str:
    return "croissant.json" if opens and shown_release.files.filter(path="croissant.json").exists() else ""


def _refused(request: HttpRequest, gone_release: Release, *, status: int) -> HttpResponse:
    context = {"release": gone_release, "released_study": gone_release.study, "newer": services.newer(gone_release)}
    return render(request, "analysis/releases/public_file_gone.html", context, status=status)


def _public(slug: str, number: int) -> Release:
    releases = Release.objects.public().select_related("study", "run")
    return get_object_or_404(releases, study__slug=slug, number=number)


@never_cache
def _ended(request: HttpRequest) -> HttpResponse:
    # Do not reveal whether the link ever existed.
    return render(request, "analysis/releases/public_link_ended.html", status=NOT_FOUND)
