"""Application of decisions: spans are redacted, texts left out; undecided texts are left out too."""

from collections import defaultdict
from collections.abc import Collection, Iterator

from crowdrag.studies.models import Study
from writing.models import WritingLog

from ...enums import PersonalVerdict, TextSource
from ..choices import Choices
from . import detection
from .models import PersonalDataFinding

BLACK = "█"
UNDECIDED = "possible personal data without a decision"
DECIDED = "left out because of personal data"
IN_TEXT = "its text contains redacted personal data"
WHAT = {
    TextSource.SURVEY: "survey answers",
    TextSource.JUSTIFICATION: "justifications of judgments",
    TextSource.COMMENT: "comments on questionnaires",
}
_SHOWN = (PersonalVerdict.RELEASE, PersonalVerdict.KEEP)
Place = tuple[TextSource, int, str]


class Redaction:
    """Texts of the study that are not released, by place; only those with findings are in memory.

    The texts are examined again in the snapshot of the release: anything written or found since the last decision is
    undecided, and therefore left out.
    """

    def __init__(self, study: Study, choices: Choices) -> None:
        self._spans: dict[Place, list[tuple[int, int]]] = defaultdict(list)
        self._gone: dict[Place, str] = {}
        self._logs: dict[int, str] = {}
        self.stretches = 0
        where = detection.sources(choices)
        decided = _decisions(study, where)
        for detected in detection.find(study, where):
            stretch = (detected.source, detected.row, detected.field)
            verdict = decided.get((*stretch, detected.start, detected.end, detected.kind), "")
            if verdict == PersonalVerdict.REDACT and detected.source != TextSource.LOG:
                self._spans[stretch].append((detected.start, detected.end))
            elif verdict not in _SHOWN:
                self._leave_out(stretch, DECIDED if verdict else UNDECIDED)
        self.stretches = sum(map(len, self._spans.values()))
        self._log_of = self._logs_of_texts() if TextSource.LOG in where else {}

    def _leave_out(self, stretch: Place, reason: str) -> None:
        if stretch[0] == TextSource.LOG:
            self._logs.setdefault(stretch[1], reason)
        else:
            self._gone.setdefault(stretch, reason)

    def reason(self, source: TextSource, row: int, field: str = "") -> str:
        """Return the reason why a text is left out; empty if it is not."""
        return self._gone.get((source, row, field), "")

    def left_out(self) -> Iterator[tuple[str, str]]:
        """Yield texts that are left out, except responses and logs, which are counted while reading."""
        for (source, _row, _field), reason in self._gone.items():
            if source != TextSource.RESPONSE:
                yield WHAT[source], reason

    def text(self, source: TextSource, row: int, text: str, field: str = "") -> str:
        """Redact a text, replacing each character by one, so that positions still hold."""
        pieces: list[str] = []
        position = 0
        for start, end in sorted(self._spans.get((source, row, field), ())):
            # If spans overlap, continue after the previous one.
            start = max(start, position)
            end = max(start, min(end, len(text)))
            pieces += [text[position:start], BLACK * (end - start)]
            position = end
        return "".join([*pieces, text[position:]])

    def is_black(self, source: TextSource, row: int, field: str = "") -> bool:
        """Return whether something in a text is redacted."""
        return (source, row, field) in self._spans

    def log_reason(self, log: int) -> str:
        """Return the reason why a log is left out, which contains its text many times; empty if it is not."""
        return self._logs.get(log, "") or self._log_of.get(log, "")

    def _logs_of_texts(self) -> dict[int, str]:
        black = [row for source, row, _field in self._spans if source == TextSource.RESPONSE]
        rows = WritingLog.objects.filter(task__response__in=black).values_list("pk", flat=True)
        return dict.fromkeys(rows, IN_TEXT)


def _decisions(study: Study, where: Collection[TextSource]) -> dict[tuple[object, ...], str]:
    rows = PersonalDataFinding.objects.filter(study=study, source__in=where)
    columns = ("source", "row", "field", "start", "end", "kind", "verdict")
    return {tuple(row[:-1]): row[-1] for row in rows.values_list(*columns).iterator(chunk_size=2000)}
