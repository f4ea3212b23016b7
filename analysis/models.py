"""Models of the analysis app."""

from .experiments.models import CachedOutput, UnitResult
from .inputs.models import JudgmentPart, LogMeasures, Snapshot
from .methods.reference_metrics.models import Encoder, Encoding, SimilarityScore
from .releases.models import Release, ReleaseFile, ReleaseLink, ReleasePerson, ReleaseTable
from .releases.personal_data.models import PersonalDataFinding
from .tables.models import ResultTable

__all__ = [
    "CachedOutput",
    "Encoder",
    "Encoding",
    "JudgmentPart",
    "LogMeasures",
    "PersonalDataFinding",
    "Release",
    "ReleaseFile",
    "ReleaseLink",
    "ReleasePerson",
    "ReleaseTable",
    "ResultTable",
    "SimilarityScore",
    "Snapshot",
    "UnitResult",
]
