"""Formats of files that are taken for CSV: their encoding, and other formats by their first bytes."""

from typing import Final

from . import json_lines
from .problems import Problems
from .sources import Member

UTF_8: Final = "UTF-8"
WINDOWS_1252: Final = "Windows-1252"
#: A file of this name is in each workbook and text document of an office program.
OFFICE_MEMBER: Final = "[Content_Types].xml"
_ZIP, _OLE, _PDF = b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF"
EXCEL: Final = "This is an Excel workbook. Save it as CSV UTF-8."


def check_table(member: Member, problems: Problems) -> str:
    """Return the encoding of a table; refuse a file of another format.

    A file that is not valid UTF-8 is taken for Windows-1252, unless some of its lines are UTF-8 with other letters than
    English ones: then only a part of it is damaged.

    Raises
    ------
    BadInput
        If it is a workbook, a PDF file or an archive.
    """
    with member.open() as file:
        start = file.read(4)
    if message := _other_format(member.name, start):
        problems.add(file=member.name, message=message)
        problems.refuse_any()
    is_utf_8 = is_damaged = False
    for number, line in json_lines.lines(member, Problems(), limits=json_lines.KEPT):
        if number == 1 and line.startswith(json_lines.OTHER_ENCODINGS):
            return UTF_8
        try:
            line.decode()
        except UnicodeDecodeError:
            is_damaged = True
        else:
            is_utf_8 = is_utf_8 or not line.isascii()
    return WINDOWS_1252 if is_damaged and not is_utf_8 else UTF_8


def _other_format(name: str, start: bytes) -> str:
    if start == _PDF:
        return "This is a PDF file. Save the table as CSV UTF-8."
    if start == _OLE or (start == _ZIP and name.lower().endswith((".xlsx", ".xlsm", ".xls"))):
        return EXCEL
    return "This is an archive or an office document. Save the table as CSV UTF-8." if start == _ZIP else ""
