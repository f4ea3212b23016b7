"""Studies with texts, a tiny model, and a count of what it encodes."""

from collections import Counter
from pathlib import Path

import pytest

from analysis.rag.encoders import Encoder as Model
from crowdrag.studies.models import Study
from tests.analysis import small_study
from tests.analysis.bertscore.texts import set_texts
from tests.analysis.rag import tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(autouse=True)
def model(folder: Path, settings) -> str:
    settings.BERTSCORE_MODELS = [f"{folder}:2", "all-MiniLM-L6-v2"]
    return f"{folder}:2"


@pytest.fixture
def study(db: None) -> Study:
    return set_texts(small_study.make())


@pytest.fixture
def encoded(monkeypatch) -> Counter[str]:
    """How often each text was encoded."""
    seen: Counter[str] = Counter()
    encode = Model.encode
    monkeypatch.setattr(Model, "encode", lambda self, texts: (seen.update(texts), encode(self, texts))[1])
    return seen
