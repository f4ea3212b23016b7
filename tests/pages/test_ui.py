import datetime as dt
import hashlib
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.template import Context, Template, TemplateSyntaxError, engines
from django.template.loader import render_to_string
from django.test import RequestFactory, override_settings

from crowdrag.static_files import HashedStaticFilesStorage
from crowdrag.ui.templatetags import ui
from tests.pages.tokens import ROOT

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


def test_figures_are_written_alike_whatever_they_are() -> None:
    for value, digits, expected in (
        (0.41234, 3, "0.412"),
        (-0.05, 2, "\u22120.05"),
        (-0.001, 2, "0.00"),  # rounds to nothing, so it has no sign
        (12345, 0, "12,345"),
        (1, 2, "1.00"),
    ):
        assert ui.figure(value, digits) == expected
    undefined = {ui.figure(value) for value in (None, math.nan, math.inf, "", True)} | {ui.percent(None)}
    assert len(undefined) == 1
    assert 'class="undefined"' in undefined.pop()
    assert ui.percent(0.4123, 1) == "41.2\u202f%"


def test_figure_never_follows_the_readers_language() -> None:
    with override_settings(LANGUAGE_CODE="de"):
        assert ui.plain(0.5) == "0.5"
        assert 'data-value="0.5">0.50<' in ui.number_cell(0.5)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, ["0"]),
        (59.4, ["59"]),
        (59.6, ["1", "0"]),
        (200, ["3", "20"]),
        (dt.timedelta(hours=2, minutes=5), ["2", "5"]),
        (None, []),
    ],
)
def test_duration(seconds: object, expected: list[str]) -> None:
    assert re.findall(r"\d+", ui.duration(seconds)) == expected


@pytest.mark.parametrize(
    ("before", "number"),
    [(dt.timedelta(seconds=20), []), (dt.timedelta(minutes=5), ["5"]), (-dt.timedelta(hours=3), ["3"])],
)
def test_ago(before: dt.timedelta, number: list[str]) -> None:
    shown = ui.ago(NOW - before, now=NOW)
    assert re.findall(r"\d+", re.sub("<[^>]+>", "", shown)) == number
    assert f'datetime="{(NOW - before).isoformat()}"' in shown


def test_estimate_shows_interval_n_and_bar_where_there_is_one() -> None:
    shown = ui.estimate(0.25, 0.0, 0.5, n=1352, minimum=0, maximum=1)
    assert re.sub(r"<[^>]+>", "", shown).replace("\u00a0", " ") == "0.25 [0.00, 0.50]  n 1,352"
    assert '<rect class="range" x="0.00" y="3.50" width="50.00" height="5.00"/>' in shown
    assert '<rect class="point" x="23.75"' in shown
    assert 'class="zero"' not in shown
    assert "svg" not in ui.estimate(0.25, None, None, minimum=0, maximum=1)
    assert "[" not in ui.estimate(0.25)
    assert "[" not in ui.estimate(None, 0.1, 0.2, minimum=0, maximum=1)
    assert "svg" not in ui.estimate(1.0, 1.0, 1.0, minimum=1, maximum=1)  # one rank only: there is no way along it


def test_interval_bar_marks_zero_and_stays_inside() -> None:
    shown = ui.interval_bar(2.0, -3.0, 5.0, -1, 1)
    boxes = [(float(x), float(w)) for x, w in re.findall(r'x="([\d.-]+)" y="[\d.]+" width="([\d.]+)"', shown)]
    assert all(x >= 0 and x + width <= 100 for x, width in boxes)
    assert '<rect class="zero" x="49.50"' in shown


def test_votes_are_named_and_fill_the_bar() -> None:
    shown = ui.votes(3, 1, 1)
    (label,) = re.findall(r'aria-label="([^"]+)"', shown)
    assert re.findall(r"\d+", label) == ["5", "3", "1", "1"]
    assert re.findall(r'x="([\d.]+)"', shown) == ["0.00", "60.00", "80.00"]
    assert re.findall(r"\d+", re.findall(r'aria-label="([^"]+)"', ui.votes(0, 0, 0))[0]) == ["0"] * 4


def test_notes_escape_and_announce_errors() -> None:
    shown = ui.note("error", "<b>no</b>")
    assert 'role="alert"' in shown
    assert "&lt;b&gt;no&lt;/b&gt;" in shown
    assert "role" not in ui.note("success", "yes")


@pytest.mark.parametrize(
    ("query", "order", "href"),
    [
        ("", "none", "?sort=words"),
        ("sort=words&page=4&q=x", "ascending", "?sort=-words&amp;q=x"),
        ("sort=-words", "descending", "?sort=words"),
    ],
)
def test_sort_header_turns_the_order_and_keeps_the_rest(query: str, order: str, href: str) -> None:
    request = RequestFactory().get(f"/?{query}")
    shown = ui.sort_header(Context({"request": request}), "Words", "words", numeric=True)
    assert shown == f'<th scope="col" class="num" aria-sort="{order}"><a class="sort" href="{href}">Words</a></th>'


@pytest.mark.parametrize(
    "name", ["errors/400.html", "errors/403.html", "errors/404.html", "errors/500.html", "403_csrf.html"]
)
def test_error_pages_need_no_context(name: str) -> None:
    # Without a request there is no user, session or context processor: what the page says cannot depend on them.
    shown = render_to_string(name)
    assert "<h1>" in shown
    assert "{{" not in shown


# A report to take along is one file: its style is in it, and no page of ours shows it.
SERVED = [path for path in TEMPLATES if path.parts[-2:] != ("reports", "file.html")]


class InlineReader(HTMLParser):
    """Collects what the content security policy would refuse: inline styles, scripts and handlers."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self.found += [
            name for name in names if name == "style" or re.match(r"on[a-z]+$", name) or name.startswith("hx-on")
        ]
        if tag == "style" or (tag == "script" and "src" not in names and names.get("type") != "application/json"):
            self.found.append(tag)


def inline(source: str) -> list[str]:
    reader = InlineReader()
    reader.feed(re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}", "", source, flags=re.DOTALL))
    return reader.found


def test_templates_carry_nothing_inline() -> None:
    bad = '<p style="" onclick=""><script>1</script><script src="x"></script>'
    assert inline(bad) == ["style", "onclick", "script"]
    found = {str(path.relative_to(ROOT)): inline(path.read_text()) for path in SERVED}
    assert {path: names for path, names in found.items() if names} == {}


def test_templates_compile() -> None:
    broken = {}
    for path in TEMPLATES:
        name = str(path.relative_to(ROOT / "templates"))
        try:
            engines["django"].get_template(name)
        except TemplateSyntaxError as error:
            broken[name] = str(error)
    assert TEMPLATES
    assert broken == {}


def test_every_icon_that_is_asked_for_is_drawn() -> None:
    drawn = set(re.findall(r'<symbol id="(\w+)"', (ROOT / "static/icons/icons.svg").read_text()))
    asked = {name for _, _, name in ui.STATES.values()} | set(ui.ICONS.values())
    for path in TEMPLATES:
        text = path.read_text()
        asked |= set(re.findall(r'{% icon "(\w+)"', text)) | set(re.findall(r'symbol="(\w+)"', text))
        asked |= set(re.findall(r'{% badge \S+ "\w*" "(\w+)"', text))
    assert asked - drawn == set()


def test_every_stylesheet_is_linked_and_short() -> None:
    # Those of every page in the common head; those of the editor and of review by the pages that need them.
    templates = "".join(path.read_text() for path in (ROOT / "templates").rglob("*.html"))
    sheets = {path.name for path in (ROOT / "static/css").glob("*.css")}
    assert set(re.findall(r"css/([\w.-]+\.css)", templates)) == sheets
    long = [
        path.name
        for path in (ROOT / "static").rglob("*.[cj]ss*")
        if "vendor" not in path.parts and len(path.read_text().splitlines()) >= 400
    ]
    assert long == []


def test_vendored_htmx_is_what_its_version_file_says() -> None:
    folder = ROOT / "static/vendor/htmx"
    assert hashlib.sha256((folder / "htmx.min.js").read_bytes()).hexdigest() in (folder / "VERSION").read_text()
    assert (folder / "LICENSE").exists()


@pytest.mark.parametrize(
    ("page", "template"), [("editor", "writing/editor/_modules.html"), ("judging", "annotation/judging/_modules.html")]
)
def test_a_page_fetches_every_module_at_once_and_no_other(page: str, template: str) -> None:
    scripts, waiting, needed = ROOT / "static/js", [f"{page}/page.js"], set()
    while waiting:
        name = waiting.pop()
        needed.add(name)
        for target in re.findall(r'from "(\.{1,2}/[^"]+)"', (scripts / name).read_text()):
            path = (scripts / name).parent.joinpath(target).resolve().relative_to(scripts)
            waiting += {str(path)} - needed
    assert set(re.findall(r"'js/(.+\.js)'", (ROOT / "templates" / template).read_text())) == needed - {
        f"{page}/page.js"
    }


def test_imports_of_modules_are_hashed_and_those_of_others_left_alone(tmp_path: Path) -> None:
    storage = HashedStaticFilesStorage(location=tmp_path, base_url="/static/")
    sources = {path.relative_to(ROOT / "static").as_posix(): path for path in (ROOT / "static/js").rglob("*.js")}
    foreign = tmp_path / "other" / "widget.js"
    foreign.parent.mkdir()
    foreign.write_text('import htmx from "./htmx";\n')
    for name, path in sources.items():
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    names = [*sources, "other/widget.js"]
    outcomes = list(storage.post_process({name: (storage, name) for name in names}))
    assert [outcome for outcome in outcomes if isinstance(outcome[2], Exception)] == []
    main = (tmp_path / storage.stored_name("js/main.js")).read_text()
    imported = re.findall(r'from "\./([^"]+)"', main)
    assert len(imported) >= 10
    assert all(
        re.fullmatch(r"[\w/-]+\.[0-9a-f]{12}\.js", name) and (tmp_path / "js" / name).exists() for name in imported
    )


def test_static_files_of_the_head_exist() -> None:
    shown = Template('{% include "ui/_head.html" %}').render(Context())
    for address in re.findall(r'(?:href|src)="/static/([^"]+)"', shown):
        assert staticfiles_storage.url(address)
        assert (ROOT / "static" / address).exists(), address
