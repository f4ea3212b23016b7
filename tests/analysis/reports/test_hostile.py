"""Hostile texts stay texts: in HTML, SVG, PDF, LaTeX and CSV."""

import csv
import io
import re
import shutil
import subprocess
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from analysis import typesetter
from analysis.figures import renderer
from analysis.reports import documents, latex
from analysis.tables import run_tables
from tests.analysis.reports import hostile
from tests.analysis.reports.report_rows import bars, report, table

SVG_OF_OURS = {
    "svg", "g", "path", "rect", "line", "circle", "text", "tspan", "defs", "clippath", "lineargradient", "stop",
}  # fmt: skip
HTML_OF_OURS = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "bdi", "code", "nav", "ul",
    "li", "a", "main", "section", "figure", "div", "figcaption", "strong", "table", "caption", "thead", "tbody",
    "tr", "th", "td", "span", "dl", "dt", "dd", "ol",
}  # fmt: skip


class Read(HTMLParser):
    """What a browser would take for elements, and the texts of the table's first column."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.names: list[str] = []
        self.inside = False

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "bdi":
            self.inside = True
            self.names.append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "bdi"

    def handle_data(self, data):
        if self.inside:
            self.names[-1] += data


def test_in_html_every_text_is_a_text_and_nothing_is_asked_of_anybody():
    written = documents.write_html(report(hostile.ALL, labels=hostile.ALL)).decode()
    read = Read()
    read.feed(written)
    assert len(set(hostile.ALL)) >= 150
    assert {tag for tag, _ in read.tags} <= SVG_OF_OURS | HTML_OF_OURS
    for tag, attributes in read.tags:
        assert not [name for name in attributes if name.startswith("on")]
        if tag == "a":
            assert (attributes["href"] or "").startswith("#")
        else:
            assert not {"href", "src", "xlink:href", "action", "background", "srcset"} & set(attributes)
    assert read.names[1:] == [typesetter.visible(text) for text in hostile.ALL]
    assert [attributes for tag, attributes in read.tags if tag == "style"] == [{}]
    assert "default-src 'none'" in written
    assert not set(written) & set("\u202e\u2066\u2069\u200b\ufeff\x07\x1b\x7f")


def test_in_svg_every_label_is_a_text():
    drawn = renderer.draw(bars(hostile.ALL), "svg").decode()
    cleaned = typesetter.clean_svg(drawn, prefix="made", alt=hostile.HTML[0])
    root = ET.fromstring(cleaned)
    names = {str(element.tag).rpartition("}")[2].lower() for element in root.iter()}
    assert names <= SVG_OF_OURS
    attributes = {str(key) for element in root.iter() for key in element.attrib}
    assert not [key for key in attributes if key.startswith("on") or "href" in key or key == "style"]
    said = "".join(root.itertext())
    for text in ("<script>alert(1)</script>", "{{ 7*7 }}", "日本語", r"\input{/etc/passwd}"):
        assert text in said


@pytest.mark.parametrize(
    "evil",
    [
        '<script xmlns="http://www.w3.org/2000/svg">1</script>',
        '<foreignObject xmlns="http://www.w3.org/2000/svg"><b xmlns="http://www.w3.org/1999/xhtml">x</b></foreignObject>',
        '<image xmlns="http://www.w3.org/2000/svg" href="http://evil.example/a.png"/>',
        '<style xmlns="http://www.w3.org/2000/svg">@import "//evil.example";</style>',
        '<rect xmlns="http://www.w3.org/2000/svg" fill="url(http://evil.example/#x)" onclick="1" style="x:url(//e)"/>',
        '<a xmlns="http://www.w3.org/2000/svg" href="javascript:1"><text>x</text></a>',
    ],
)
def test_of_an_svg_only_what_draws_is_kept(evil):
    cleaned = typesetter.clean_svg(f'<svg xmlns="http://www.w3.org/2000/svg">{evil}</svg>', prefix="p", alt="x")
    assert not re.search(r"script|evil|import|javascript|onclick|foreign|style", cleaned)


def test_ids_of_two_pictures_do_not_meet_and_what_is_no_svg_is_refused():
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><clipPath id="c"/><g clip-path="url(#c)"/></svg>'
    cleaned = typesetter.clean_svg(svg, prefix="one", alt="x")
    assert all(part in cleaned for part in ('id="one-c"', 'clip-path="url(#one-c)"'))
    with pytest.raises(ValueError, match="SVG"):
        typesetter.clean_svg("<html/>", prefix="x", alt="")


def text_of(pdf: bytes, tmp_path) -> str:
    (tmp_path / "made.pdf").write_bytes(pdf)
    return subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "made.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout


def test_in_pdf_every_text_is_set_as_it_is_and_nothing_runs(tmp_path):
    made = documents.write_pdf(report(hostile.ALL, labels=hostile.ALL[:20]))
    assert made.startswith(b"%PDF-1.7")
    assert b"GTS_PDFA" in made or b"pdfaid" in made
    for command in (b"/JavaScript", b"/JS", b"/Launch", b"/OpenAction", b"/EmbeddedFile", b"/URI", b"/AA"):
        assert command not in made
    if shutil.which("pdftotext"):
        said = re.sub(r"\s+", "", text_of(made, tmp_path))
        for text in ("<script>alert(1)</script>", "*bold*", "@label", r"\end{document}", "$x^2$", "[U+202E]evil"):
            assert re.sub(r"\s+", "", text) in said
        assert "[U+" in said


def test_any_script_can_stand_in_tables_and_charts_also_without_a_font():
    letters = [
        "مرحبا بالعالم",
        "हिन्दी",
        "ไทย",
        "한국어",
        "👩‍👩‍👧 🇩🇪",
        "\u0627\u0301\u202e",
        "a\U00012000b",
        *hostile.LETTERS,
    ]
    assert documents.write_pdf(report(letters, labels=letters)).startswith(b"%PDF")


def test_pdf_reads_no_file_loads_no_package_and_a_wrong_source_is_an_error():
    for source in (b'#read("/etc/passwd")', b'#import "@preview/cetz:0.3.0"', b"#nothing"):
        with pytest.raises(typesetter.CannotSetError):
            typesetter.compile_pdf(b'#set document(title: "x")\n' + source, {}, at=typesetter._ALWAYS)


# --- LaTeX

COMMANDS_OF_OURS = {
    "begin", "end", "centering", "caption", "label", "toprule", "midrule", "bottomrule", "multicolumn",
    "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "textquotedbl", "textasciigrave",
    "textquotesingle", "textbackslash", "small", "footnotesize", "scriptsize", "tiny", "setlength", "tabcolsep",
    "begingroup", "endgroup", "endfirsthead", "endhead", "endlastfoot",
}  # fmt: skip


def test_latex_says_its_caption_and_undefined_is_a_dash():
    written = latex.write(table(["a_b"], caption="Of 5 %."), source="study 1").decode().splitlines()
    assert written[1] == "% study 1"
    assert written[2:7] == [
        r"\begin{table}", r"\centering", r"\caption{Of 5 \%.}", r"\label{tab:made}", r"\begin{tabular}{lr@{~}lr}",
    ]  # fmt: skip
    assert written[8:11] == [r"Name & \multicolumn{2}{r}{Value} & n \\", r"\midrule",
                             r"a\_b & 0.00 & {[}$-$1.00, 1.00{]} & 5 \\"]  # fmt: skip


def test_where_latex_came_from_stays_within_its_comment():
    written = latex.write(table(["x"]), source="a\n\\input{x}\r\\bye\u2028\x85%%").decode()
    head = written[: written.index("\\begin{table}")]
    assert all(line.startswith("%") for line in head.splitlines())


@pytest.mark.parametrize("many", [False, True])
def test_in_latex_no_text_is_a_command(many):
    texts = [text for text in hostile.ALL if len(text) < 200]
    for part in [texts] if many else [texts[at : at + 30] for at in range(0, len(texts), 30)]:
        written = latex.write(table(part), source=part[0]).decode()
        body = "\n".join(line for line in written.splitlines() if not line.startswith("%"))
        assert set(re.findall(r"\\([A-Za-z]+)", body)) <= COMMANDS_OF_OURS
        assert set(re.findall(r"\\([^A-Za-z])", body)) <= set("\\&%$#_{},")
        plain = re.sub(r"\\[&%$#_{},]", "", body)
        assert not re.search(r"[#^\"<>|`']", plain)
        assert plain.count("{") == plain.count("}")
        rows = [line for line in plain.splitlines() if line.endswith(r"\\") and "&" in line]
        assert all(line.count("&") == 3 for line in rows if r"\multicolumn" not in line)
        assert len([line for line in rows if r"\multicolumn" not in line]) == len(part)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="there is no pdflatex here")
@pytest.mark.parametrize("many", [False, True])
def test_latex_compiles_with_hostile_texts_and_writes_nothing(tmp_path, many):
    texts = [text for text in hostile.ALL if text.isascii() and len(text) < 200]
    parts = [texts] if many else [texts[at : at + 30] for at in range(0, len(texts), 30)]
    inputs = []
    for place, part in enumerate(parts):
        (tmp_path / f"t{place}.tex").write_bytes(latex.write(table(part, caption=part[0]), source=part[0]))
        inputs.append(rf"\input{{t{place}}}\clearpage")
    document = "\n".join([
        r"\documentclass{article}", r"\usepackage[T1]{fontenc}",
        r"\usepackage{textcomp,booktabs,longtable,rotating,pdflscape}",
        r"\begin{document}", *inputs, r"\end{document}",
    ])  # fmt: skip
    (tmp_path / "all.tex").write_text(document)
    done = subprocess.run(
        ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


def test_in_csv_no_cell_starts_a_formula():
    rows = [{"participant": text, "dimension": text, "spam_probability": -0.5, "judgments": 1} for text in hostile.ALL]
    read = list(csv.reader(io.StringIO(run_tables.render("competence", rows, "csv").decode(), newline="")))[1:]
    assert len(read) == len(hostile.ALL)
    for cells, text in zip(read, hostile.ALL, strict=True):
        assert not cells[0].startswith(run_tables.FORMULA)
        assert cells[0].removeprefix("'") == text.removeprefix("'") or cells[0] == text
        assert cells[2] == "-0.5"
