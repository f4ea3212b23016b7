"""Encoders: the bundled model against its own library and against bert-score; tiny models for what is rare."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from analysis.rag import checkpoints, encoders
from analysis.text.bertscore import inverse_document_frequency, scores
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import bert_score, torch

TEXTS = [
    "The cat sat on the mat.",
    "A cat is session on a mat, and the dog barks loudly in the night [SEP] outside.",
    "  Köln's cathédrale – 157 m – wasn't finished before 1880.\n\n- It is Gothic.  ",
    "dog",
]
LONG = "word " * 700
PAIRS = [(0, 1), (1, 0), (2, 1), (3, 0)]


@pytest.fixture(scope="module")
def bundled() -> encoders.Encoder:
    return encoders.load(device="cpu")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("models") / "bert")


def package(model: Path, layer: int, texts=TEXTS, pairs=PAIRS, **options) -> np.ndarray:
    """bert-score, a pair at a time; rows of precision, recall and F1."""
    rows = []
    for candidate, reference in pairs:
        found = bert_score.score(
            [texts[candidate]], [texts[reference]], model_type=str(model), num_layers=layer, device="cpu", **options
        )
        rows.append([float(number[0]) for number in found])
    return np.array(rows)


def ours(encoder: encoders.Encoder, texts=TEXTS, pairs=PAIRS, idf=None) -> np.ndarray:
    return np.array([[s.precision, s.recall, s.f1] for s in scores(encoder.encode(texts), pairs, idf=idf)])


def test_the_bundled_model_scores_as_bert_score_does(bundled):
    texts, pairs = [*TEXTS, LONG], [(0, 1), (4, 2)]
    theirs = package(checkpoints.find().folder, 6, texts, pairs)
    np.testing.assert_allclose(ours(bundled, texts, pairs), theirs, atol=1e-5)


@pytest.mark.parametrize("layer", [0, 2])
def test_so_does_a_tiny_one(small, layer):
    encoder = encoders.load(str(small), layer=layer, device="cpu")
    np.testing.assert_allclose(ours(encoder), package(small, layer), atol=1e-5)


def test_so_does_roberta_whose_words_begin_with_a_blank(tmp_path, monkeypatch):
    # bert-score asks for the blank before the first word in a way that transformers 5 does not hear: it is told here.
    folder = tiny.roberta(tmp_path / "roberta")
    encoder = encoders.load(str(folder), layer=1, device="cpu")
    load = bert_score.utils.AutoTokenizer.from_pretrained
    monkeypatch.setattr(
        bert_score.utils.AutoTokenizer, "from_pretrained", lambda name, **_: load(name, add_prefix_space=True)
    )
    np.testing.assert_allclose(ours(encoder), package(folder, 1), atol=1e-5)


def test_positions_of_roberta_begin_after_the_padding(tmp_path):
    folder = tiny.roberta(tmp_path / "roberta")
    tiny.change_settings(folder, "tokenizer_config.json", model_max_length=10**30)
    encoder = encoders.load(str(folder), device="cpu")
    assert encoder.longest == 24  # of 26 positions
    assert len(encoder.encode([LONG])[0].ids) == 24


def test_rare_tokens_weigh_as_in_bert_score(small):
    encoder = encoders.load(str(small), device="cpu")
    texts, pairs = TEXTS, PAIRS
    idf = inverse_document_frequency([one.ids for one in encoder.encode(texts)])
    weights = bert_score.utils.get_idf_dict(texts, bert_score.utils.get_tokenizer(str(small)), nthreads=0)
    np.testing.assert_allclose(
        ours(encoder, texts, pairs, idf), package(small, 3, texts, pairs, idf=weights), atol=1e-5
    )


def test_one_embedding_a_text_is_the_mean_of_its_tokens(small):
    encoder = encoders.load(str(small), device="cpu")
    for text, found in zip(TEXTS, encoder.embed(TEXTS), strict=True):
        mean = encoder.encode([text])[0].vectors.mean(axis=0)
        np.testing.assert_allclose(found, mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.soak  # the library alone takes seconds to import
def test_one_embedding_a_text_as_sentence_transformers_makes_it(bundled):
    library = pytest.importorskip("sentence_transformers").SentenceTransformer(
        str(checkpoints.find().folder), device="cpu"
    )
    texts = [*TEXTS, LONG]
    theirs = library.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    np.testing.assert_allclose(bundled.embed(texts), theirs, atol=1e-6)
    assert bundled.embed(TEXTS[:1], pooling="first") @ bundled.embed(TEXTS[:1])[0] < 0.999
    assert bundled.embed([]).shape == (0, 384)


def test_what_is_too_long_is_cut_and_says_so(bundled):
    one, other = bundled.encode([TEXTS[0], LONG])
    assert (one.cut, other.cut) == (False, True)
    assert [len(one.ids), len(other.ids)] == bundled.count([TEXTS[0], LONG])
    assert len(other.ids) == bundled.longest == 512
    assert [(len(each.ids), each.is_empty) for each in bundled.encode(["", "  \n"])] == [(2, True)] * 2


@pytest.mark.extended
@pytest.mark.parametrize("batch", [1, 40, 10_000])
def test_the_company_of_a_text_changes_nothing_to_speak_of(small, batch):
    texts = [" ".join(tiny.WORDS[:n]) for n in (3, 12, 1, 7, 7, 9)]
    alone = [encoders.load(str(small), device="cpu").encode([text])[0] for text in texts]
    together = encoders.load(str(small), device="cpu", batch_tokens=batch).encode(texts)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one.vectors, other.vectors, atol=2e-6)
        assert one.ids.tolist() == other.ids.tolist()


def test_short_memory_makes_batches_smaller(small, monkeypatch):
    texts = [" ".join(tiny.WORDS[:n]) for n in (3, 12, 1, 7, 7, 9)]
    encoder = encoders.load(str(small), device="cpu", batch_tokens=10_000)
    wanted = encoder.encode(texts)
    sizes = _only_room_for(encoder, 2, monkeypatch)
    for one, other in zip(encoder.encode(texts), wanted, strict=True):
        np.testing.assert_allclose(one.vectors, other.vectors, atol=2e-6)
    assert max(sizes) == 6
    assert sizes[-1] <= 2
    sizes.clear()
    encoder.encode(texts)
    assert max(sizes) < 6  # it has learned


def test_no_memory_even_for_one_is_a_named_error(small, monkeypatch):
    encoder = encoders.load(str(small), device="cpu")
    _only_room_for(encoder, 0, monkeypatch)
    with pytest.raises(encoders.EncoderMemoryError):
        encoder.encode(["cat"])


def _only_room_for(encoder: encoders.Encoder, texts: int, monkeypatch) -> list[int]:
    """Make a model that runs out of memory with more texts at once; return the sizes that it was given."""
    sizes = []
    model = encoder._model

    def forward(input_ids, **options):
        sizes.append(len(input_ids))
        if len(input_ids) > texts:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return model(input_ids=input_ids, **options)

    forward.config = model.config
    monkeypatch.setattr(encoder, "_model", forward)
    return sizes


def test_layers(small, bundled):
    with pytest.raises(encoders.BadLayerError, match=r"3 .*4"):
        encoders.load(str(small), layer=4)
    with pytest.raises(encoders.NoSentenceEmbeddingError):
        encoders.load(str(small), layer=2).embed(["cat"])
    assert bundled.identity.layer == bundled.layers == 6


def test_other_weights_are_another_version(small, tmp_path):
    same, other = tiny.bert(tmp_path / "same"), tiny.bert(tmp_path / "other", seed=1)
    assert checkpoints.find(str(same)).version == checkpoints.find(str(small)).version
    assert checkpoints.find(str(other)).version != checkpoints.find(str(small)).version


def test_sentence_embeddings_follow_the_models_files(small, tmp_path):
    folder = tiny.bert(tmp_path / "bert")
    tiny.change_settings(folder, "1_Pooling/config.json", pooling_mode_cls_token=True)
    tiny.change_settings(folder, "sentence_bert_config.json", max_seq_length=4)
    encoder = encoders.load(str(folder), device="cpu")
    np.testing.assert_allclose(encoder.embed(["the cat sat on the mat"]), encoder.embed(["the cat"], pooling="first"),
                               atol=1e-6)  # fmt: skip


@pytest.mark.parametrize("name", ["roberta-large", "no such/thing"])
def test_a_model_that_is_not_there_says_what_to_do(name):
    command = f"from analysis.rag import checkpoints; checkpoints.find({name!r})"
    done = subprocess.run(
        [sys.executable, "-c", command], env={"HF_HUB_OFFLINE": "1", "HF_HOME": "/nonexistent"},
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert "ModelMissingError" in done.stderr
    assert "HF_HUB_OFFLINE" in done.stderr


def test_folders_that_are_no_models(tmp_path):
    with pytest.raises(checkpoints.ModelMissingError, match="none"):
        checkpoints.find(str(tmp_path / "none"))
    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "config.json").write_text("{}")
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(checkpoints.ModelMissingError, match="safetensors"):
        checkpoints.find(str(tmp_path / "pickled"))


def test_neither_django_nor_torch_is_imported_before_it_is_needed():
    command = (
        "import sys; from analysis.rag import encoders; from analysis.text import bertscore; "
        "print(sorted({'django', 'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True,
                          cwd=Path(__file__).parents[3])  # fmt: skip
    assert done.stdout == "[]\n"
