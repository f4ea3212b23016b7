r"""Tables and methods text as LaTeX: booktabs with caption and label, ready for `\input`."""

import re
from collections.abc import Sequence

from ..tables.cells import MINUS, UNDEFINED, Cell, cells
from ..tables.display_table import DisplayTable
from ..typesetter import visible
from . import bibliography
from .types import Methods, Report

#: Longer tables break over pages.
LONGEST = 40
#: A row of a tabular ends in `\\`, which would take a following `[` or `*` as an argument, so these are in braces.
_ESCAPED = str.maketrans({
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "[": "{[}", "]": "{]}",
    "*": "{*}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}", "\u202f": r"\,", "\u00a0": "~", UNDEFINED: "--", MINUS: "$-$",
})  # fmt: skip
_DASHES = re.compile(r"(--+)")
#: Characters per line of an upright page at 10 points, and the factors for smaller fonts.
LETTERS = 72
SIZES = ((1.0, ""), (1.1, r"\small"), (1.25, r"\footnotesize"), (1.45, r"\scriptsize"))
#: Factor for a rotated page.
TURNED = 1.6


def write(table: DisplayTable, *, source: str = "") -> bytes:
    """Write a table as LaTeX; long tables use longtable, which breaks over pages."""
    formatted = [cells(table, row) for row in table.rows]
    size, is_turned = _fit(table, formatted)
    packages = rf"\usepackage{{{','.join(_packages(table, is_turned))}}}"
    lines = [
        f"% {packages}  % \\usepackage[T1]{{fontenc}} and textcomp; letters beyond Latin need LuaLaTeX or XeLaTeX",
        *([f"% {comment(source)}"] if source else []),
        *(_long if _is_long(table) else _short)(table, _body(table, formatted), size, is_turned),
    ]
    return ("\n".join(lines) + "\n").encode()


def methods(report: Report) -> bytes:
    r"""Write the methods paragraphs with `\cite`; the works are in `references.bib`."""
    return ("\n\n".join(paragraphs(report.methods)) + "\n").encode()


def paragraphs(written: Methods) -> list[str]:
    """Return the methods paragraphs as LaTeX."""
    return [bibliography.in_latex(paragraph, escape) for paragraph in written.paragraphs]


def comment(text: str) -> str:
    """Return a text that stays within a comment line."""
    return visible(text).replace("%", "")


def escape(text: str) -> str:
    """Escape a text for LaTeX."""
    parts = _DASHES.split(visible(text))
    # LaTeX would turn consecutive hyphens into a dash.
    return "".join("{-}" * len(part) if _DASHES.fullmatch(part) else part.translate(_ESCAPED) for part in parts)


def _packages(table: DisplayTable, is_turned: bool) -> list[str]:
    more = ["longtable"] if _is_long(table) else []
    return ["booktabs", *more, *([("pdflscape" if more else "rotating")] if is_turned else [])]


def _fit(table: DisplayTable, formatted: list[list[Cell]]) -> tuple[str, bool]:
    """Return the font size at which a table fits a page, and whether it must be rotated."""
    width = sum(
        2 + max([_heading(column.label), *(len(str(row[at])) for row in formatted)])
        for at, column in enumerate(table.columns)
    )
    for is_turned in (False, True):
        for more, size in SIZES:
            if width <= LETTERS * more * (TURNED if is_turned else 1.0):
                return size, is_turned
    return r"\tiny", True


def _heading(label: str) -> int:
    return len(visible(label))


def _is_long(table: DisplayTable) -> bool:
    return len(table.rows) > LONGEST


def _short(table: DisplayTable, body: list[str], size: str, is_turned: bool) -> list[str]:
    kind = "sidewaystable" if is_turned else "table"
    return [
        rf"\begin{{{kind}}}",
        r"\centering",
        rf"\caption{{{escape(table.caption or table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        *([rf"{size}\setlength{{\tabcolsep}}{{3pt}}"] if size else []),
        rf"\begin{{tabular}}{{{_alignment(table)}}}",
        r"\toprule",
        _head(table),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\end{{{kind}}}",
    ]


def _long(table: DisplayTable, body: list[str], size: str, is_turned: bool) -> list[str]:
    return [
        *([r"\begin{landscape}"] if is_turned else []),
        *([rf"\begingroup{size}\setlength{{\tabcolsep}}{{3pt}}"] if size else []),
        rf"\begin{{longtable}}{{{_alignment(table)}}}",
        rf"\caption{{{escape(table.caption or table.title)}}}\label{{tab:{table.name}}}\\",
        r"\toprule",
        _head(table),
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        _head(table),
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endlastfoot",
        *body,
        r"\end{longtable}",
        *([r"\endgroup"] if size else []),
        *([r"\end{landscape}"] if is_turned else []),
    ]


def _alignment(table: DisplayTable) -> str:
    """Align numbers right and texts left; a number and its interval are two columns, so that both are aligned."""
    return "".join("l" if column.digits is None else "r@{~}l" if column.low else "r" for column in table.columns)


def _head(table: DisplayTable) -> str:
    heads = [
        rf"\multicolumn{{2}}{{r}}{{{escape(column.label)}}}" if column.low else escape(column.label)
        for column in table.columns
    ]
    return _line(heads)


def _body(table: DisplayTable, formatted: list[list[Cell]]) -> list[str]:
    lines = []
    for row in formatted:
        parts: list[str] = []
        for column, cell in zip(table.columns, row, strict=True):
            parts += [escape(cell.text), *_interval(cell)] if column.low else [escape(cell.text)]
        lines.append(_line(parts))
    return lines


def _interval(cell: Cell) -> list[str]:
    return [escape(f"{cell.interval} {cell.n}".strip())]


def _line(parts: Sequence[str]) -> str:
    return " & ".join(parts) + r" \\"
