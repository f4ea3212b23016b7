"""Tables of the analysis, one model a file."""

from .encoder import Encoder
from .encoding import Encoding
from .finding import Finding
from .generation import Generation
from .likeness import Likeness
from .measures import LogMeasures
from .personal import PersonalFinding
from .release import Release
from .release_file import ReleaseFile
from .release_link import ReleaseLink
from .release_person import ReleasePerson
from .release_table import ReleaseTable
from .snapshot import Snapshot
from .table import Table

__all__ = [
    "Encoder",
    "Encoding",
    "Finding",
    "Generation",
    "Likeness",
    "LogMeasures",
    "PersonalFinding",
    "Release",
    "ReleaseFile",
    "ReleaseLink",
    "ReleasePerson",
    "ReleaseTable",
    "Snapshot",
    "Table",
]
