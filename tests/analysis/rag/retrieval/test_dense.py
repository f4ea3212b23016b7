"""Bi-encoders against sentence-transformers and against plain transformers; what their families ask for."""

import re
from pathlib import Path

import numpy as np
import pytest

from analysis.rag import checkpoints
from analysis.rag.checkpoints import Checkpoint
from analysis.rag.protocols import Collection, Document, Query
from analysis.rag.retrieval.dense import Dense, Style, UnsupportedEncoderError, style
from analysis.rag.retrieval.search import DocumentList, NoDocumentsError, retrieve
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import sentence_transformers, torch, transformers

PASSAGES = ["the cat sat on the mat", "a dog barks", "the dog sat", "a loud night on the mat", "cat"]
QUESTION = "the cat barks"


def query(question: str = QUESTION) -> Query:
    return Query("q", question, ("a",), tuple(Document(str(i), text) for i, text in enumerate(PASSAGES)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dense")


def made(folder: Path, name: str) -> Path:
    return folder / name if (folder / name).exists() else tiny.bert(folder / name)


def by_hand(model: Path, texts: list[str]) -> np.ndarray:
    """Means over tokens as Contriever's authors publish them: padding is left out, nothing is normalised."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    encoded = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
    with torch.no_grad():
        hidden = transformers.AutoModel.from_pretrained(model)(**encoded).last_hidden_state
    mask = encoded["attention_mask"][:, :, None]
    return ((hidden * mask).sum(1) / mask.sum(1)).numpy()


def test_contriever_is_a_dot_product_of_means(folder):
    model = made(folder, "contriever-msmarco")
    found = Dense.load(str(model), device="cpu")
    assert found.style == Style(is_cosine=False)
    expected = by_hand(model, PASSAGES) @ by_hand(model, [QUESTION])[0]
    np.testing.assert_allclose(found.scores(query()), expected, rtol=1e-4)
    assert found.scores(query()).dtype == np.float64


def test_e5_has_prefixes_and_the_cosine(folder):
    model = made(folder, "e5-base-v2")
    found = Dense.load(str(model), device="cpu")
    assert found.style == Style("query: ", "passage: ")
    passages, question = (
        by_hand(model, [f"passage: {each}" for each in PASSAGES]),
        by_hand(model, [f"query: {QUESTION}"])[0],
    )
    lengths = np.linalg.norm(passages, axis=1) * np.linalg.norm(question)
    np.testing.assert_allclose(found.scores(query()), passages @ question / lengths, atol=1e-5)
    plain = Dense.load(str(model), device="cpu", question="", passage="")
    assert not np.allclose(plain.scores(query()), found.scores(query()), atol=1e-4)
    assert plain.name != found.name
    assert re.search("'query: '.*'passage: '", found.name)


def test_the_bundled_model_scores_as_sentence_transformers_does():
    found = Dense.load(device="cpu")
    library = sentence_transformers.SentenceTransformer(str(checkpoints.find().folder), device="cpu")
    theirs = library.similarity(library.encode(PASSAGES), library.encode([QUESTION])).numpy()[:, 0]
    np.testing.assert_allclose(found.scores(query()), theirs, atol=1e-5)


def test_a_model_of_sentence_transformers_says_how(folder):
    """One that is written by the library itself: first token, a prompt, the dot product, 12 tokens."""
    modules = sentence_transformers.sentence_transformer.modules
    encoder = modules.Transformer(str(made(folder, "plain")), max_seq_length=12)
    pooling = modules.Pooling(encoder.get_embedding_dimension(), pooling_mode="cls")
    library = sentence_transformers.SentenceTransformer(
        modules=[encoder, pooling], device="cpu", similarity_fn_name="dot",
        prompts={"query": "the loud ", "document": "a mat "},
    )  # fmt: skip
    library.save_pretrained(str(folder / "written"))
    found = Dense.load(str(folder / "written"), device="cpu")
    assert found.style == Style("the loud ", "a mat ", "first", is_cosine=False)
    long = Query("q", QUESTION, (), (*query().documents, Document("9", " ".join(PASSAGES))))
    texts = [each.text for each in long.documents]
    theirs = library.encode(texts, prompt_name="document") @ library.encode([QUESTION], prompt_name="query")[0]
    np.testing.assert_allclose(found.scores(long), theirs, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("intfloat/e5-base-v2", Style("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large", Style("query: ", "passage: ")),
        ("/models/E5-small/", Style("query: ", "passage: ")),
        ("facebook/contriever", Style(is_cosine=False)),
        ("BAAI/bge-base-en-v1.5", Style("Represent this sentence for searching relevant passages: ")),
        ("some/e5000", Style()),
        ("all-MiniLM-L6-v2", Style()),
    ],
)
def test_families_are_known_by_name(tmp_path, name, expected):
    assert style(Checkpoint(name, tmp_path)) == expected


def test_instructions_and_files_come_first(tmp_path):
    assert style(Checkpoint("x/multilingual-e5-large-instruct", tmp_path)).question.endswith("\nQuery: ")
    tiny.change_settings(tmp_path, "config_sentence_transformers.json", prompts={"query": "Q ", "passage": "P "})
    assert style(Checkpoint("x/e5-base", tmp_path)) == Style("Q ", "P ")
    (tmp_path / "1_Pooling").mkdir()
    tiny.change_settings(tmp_path, "1_Pooling/config.json", pooling_mode_mean_tokens=False, pooling_mode_cls_token=True)
    assert style(Checkpoint("x/any", tmp_path)).pooling == "first"
    (tmp_path / "modules.json").write_text('[{"type": "sentence_transformers.models.Normalize"}]')
    tiny.change_settings(tmp_path, "config_sentence_transformers.json", similarity_fn_name="dot")
    assert style(Checkpoint("x/contriever", tmp_path)).is_cosine
    tiny.change_settings(tmp_path, "1_Pooling/config.json", pooling_mode_max_tokens=True)
    with pytest.raises(UnsupportedEncoderError, match=r"cls_token.*max_tokens"):
        style(Checkpoint("x/any", tmp_path))
    (tmp_path / "modules.json").write_text('[{"type": "sentence_transformers.models.Dense"}]')
    with pytest.raises(UnsupportedEncoderError, match="Dense"):
        style(Checkpoint("x/any", tmp_path))


def test_a_corpus_is_searched_in_blocks(folder, monkeypatch):
    found = Dense.load(str(made(folder, "plain")), device="cpu")
    monkeypatch.setattr("analysis.rag.retrieval.search.BLOCK", 2)
    collection = Collection("c", (Query("1", QUESTION, ()), Query("2", "dog", ()), Query("3", QUESTION, ())))
    retrieved = retrieve(collection, DocumentList(query().documents), found, 3)
    for one in retrieved.queries:
        scores = found.scores(query(one.question))
        order = np.argsort(-scores, kind="stable")[:3]
        assert [each.id for each in one.documents] == [str(i) for i in order]
        np.testing.assert_allclose([each.score for each in one.documents], scores[order], atol=1e-5)
    with pytest.raises(NoDocumentsError):
        found.search(["x"], DocumentList([]), 3)
    with pytest.raises(NoDocumentsError):
        found.scores(Query("q", "?", ()))
