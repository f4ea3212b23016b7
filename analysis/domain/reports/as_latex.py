r"""Tables and the methods paragraph as LaTeX: booktabs, with caption and label, ready for `\input`."""

from collections.abc import Sequence

from ..typesetting.characters import visible
from . import citing
from .cells import MINUS, UNDEFINED, Cell, cells
from .shape import Methods, Report, Table

#: Longer tables break over pages.
LONGEST = 40
#: Rows of a tabular end in `\\`, which takes a `[` or `*` that follows for its own: brackets and stars stand in braces.
_ESCAPED = str.maketrans({
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "[": "{[}", "]": "{]}",
    "*": "{*}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}", "\u202f": r"\,", "\u00a0": "~", UNDEFINED: "--", MINUS: "$-$", "-": "{-}",
})  # fmt: skip


def write(table: Table, *, source: str = "") -> bytes:
    """Write a table as LaTeX; one of many rows as a longtable, which breaks over pages."""
    packages = r"\usepackage{booktabs,longtable}" if _is_long(table) else r"\usepackage{booktabs}"
    lines = [
        f"% {packages}  % \\usepackage[T1]{{fontenc}} and textcomp; letters beyond Latin need LuaLaTeX or XeLaTeX",
        *([f"% {comment(source)}"] if source else []),
        *(_long(table) if _is_long(table) else _short(table)),
    ]
    return ("\n".join(lines) + "\n").encode()


def methods(report: Report) -> bytes:
    r"""Write the methods paragraphs with `\cite`; the works stand in `references.bib`."""
    return ("\n\n".join(paragraphs(report.methods)) + "\n").encode()


def paragraphs(written: Methods) -> list[str]:
    """Return the methods paragraphs as LaTeX."""
    return [citing.in_latex(each, escape) for each in written.paragraphs]


def comment(text: str) -> str:
    """A text that stays within the line of its comment."""
    return visible(text).replace("%", "")


def escape(text: str) -> str:
    """Write a text so that LaTeX sets it as it is, whatever stands in it."""
    return visible(text).translate(_ESCAPED)


def _is_long(table: Table) -> bool:
    return len(table.rows) > LONGEST


def _short(table: Table) -> list[str]:
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(table.caption or table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{_alignment(table)}}}",
        r"\toprule",
        _head(table),
        r"\midrule",
        *_body(table),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def _long(table: Table) -> list[str]:
    return [
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
        *_body(table),
        r"\end{longtable}",
    ]


def _alignment(table: Table) -> str:
    """Numbers to the right, texts to the left; a number and its interval are two columns, so that both line up."""
    return "".join("l" if column.digits is None else "r@{~}l" if column.low else "r" for column in table.columns)


def _head(table: Table) -> str:
    heads = [
        rf"\multicolumn{{2}}{{r}}{{{escape(column.label)}}}" if column.low else escape(column.label)
        for column in table.columns
    ]
    return _line(heads)


def _body(table: Table) -> list[str]:
    lines = []
    for row in table.rows:
        parts: list[str] = []
        for column, cell in zip(table.columns, cells(table, row), strict=True):
            parts += [escape(cell.text), *_interval(cell)] if column.low else [escape(cell.text)]
        lines.append(_line(parts))
    return lines


def _interval(cell: Cell) -> list[str]:
    return [escape(f"{cell.interval} {cell.n}".strip())]


def _line(parts: Sequence[str]) -> str:
    return " & ".join(parts) + r" \\"
