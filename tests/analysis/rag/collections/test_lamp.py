"""LaMP's seven tasks: what is looked for, read and stated, as its paper and its scripts have it."""

import json
from pathlib import Path

import pytest

from analysis.rag.collections import lamp
from analysis.rag.collections.fields import BadCollectionError
from analysis.rag.qa_metrics import METRICS
from analysis.rag.retrieval.search import passage, search_text

# Inputs as LaMP writes them, shortened.
INPUTS = {
    1: 'For an author who has written the paper with the title "Deep "fair" nets", which reference is related? Just '
    'answer with [1] or [2] without explanation. [1]: "On nets" [2]: "On fish: a survey"',
    2: "Which tag does this movie relate to among the following tags? Just answer with the tag name without further "
    "explanation. tags: [sci-fi, classic] description: A ship: lost.",
    3: "What is the score of the following review on a scale of 1 to 5? just answer with 1, 2, 3, 4, or 5 without "
    "further explanation. review: Fine, but: loud.",
    4: "Generate a headline for the following article: It rained: a lot.",
    5: "Generate a title for the following abstract of a paper: We show: nothing.",
    6: "Generate a subject for the following email: Dear all: hello.",
    7: "Paraphrase the following tweet without any explanation before or after it: so: tired",
}
ITEMS = {
    1: [{"id": "1", "title": "T1", "abstract": "A1"}, {"id": "2", "title": "T2", "abstract": ""}],
    2: [{"id": "1", "description": "D1", "tag": "classic"}, {"id": "2", "description": "D2", "tag": "sci-fi"}],
    3: [{"id": "1", "text": "R1", "score": "4"}, {"id": "2", "text": "R2", "score": 2}],
    4: [{"id": "1", "text": "X1", "title": "H1"}, {"id": "2", "text": "X2", "title": "H2"}],
    5: [{"id": "1", "abstract": "A1", "title": "T1"}, {"id": "2", "abstract": "A2", "title": "T2"}],
    6: [{"id": "1", "text": "M1", "title": "S1"}, {"id": "2", "text": "M2", "title": "S2"}],
    7: [{"id": "1", "text": "W1"}, {"id": "2", "text": "W2"}],
}
SOUGHT = {
    1: "On nets On fish: a survey",
    2: "A ship: lost.",
    3: "Fine, but: loud.",
    4: "It rained: a lot.",
    5: "We show: nothing.",
    6: "Dear all: hello.",
    7: "so: tired",
}
READ = {
    1: ["T1 A1", "T2"],
    2: ["D1", "D2"],
    3: ["R1", "R2"],
    4: ["H1 X1", "H2 X2"],
    5: ["T1 A1", "T2 A2"],
    6: ["M1", "M2"],
    7: ["W1", "W2"],
}
# What LaMP's paper (Table 8) makes of two items and an input.
STATED = {
    1: INPUTS[1].replace('nets", which', 'nets", and "T1", and "T2", which'),
    2: f'the tag for the movie: "D1" is "classic", and the tag for the movie: "D2" is "sci-fi". {INPUTS[2]}',
    3: f'4 is the score for "R1", and 2 is the score for "R2". {INPUTS[3]}',
    4: f'"H1" is the title for "X1", and "H2" is the title for "X2". {INPUTS[4]}',
    5: f'"T1" is the title for "A1", and "T2" is the title for "A2". Following the given patterns {INPUTS[5]}',
    6: f'"S1" is the title for "M1", and "S2" is the title for "M2". {INPUTS[6]}',
    7: f'"W1", and "W2" are written by a person. Following the given patterns {INPUTS[7]}',
}
METRIC = {1: "accuracy", 2: "accuracy", 3: "mae", 4: "rouge_l", 5: "rouge_l", 6: "rouge_l", 7: "rouge_l"}


def files(folder: Path, task: int, *, golds: object = None, **changed: object) -> tuple[Path, Path]:
    question = {"id": f"{task}0", "input": INPUTS[task], "profile": ITEMS[task]} | changed
    questions, outputs = folder / "dev_questions.json", folder / "dev_outputs.json"
    questions.write_text(json.dumps([question]))
    found = golds if golds is not None else [{"id": f"{task}0", "output": "right"}]
    outputs.write_text(json.dumps({"task": f"LaMP_{task}", "golds": found}))
    return questions, outputs


@pytest.mark.parametrize("task", range(1, 8))
def test_each_task(tmp_path, task):
    found = lamp.read(*files(tmp_path, task))
    assert found.name == f"LaMP-{task}"
    (query,) = found.queries
    assert (query.id, query.question, query.answers) == (f"{task}0", INPUTS[task], ("right",))
    assert (query.task, query.metric) == (f"LaMP-{task}", METRIC[task])
    assert query.metric in METRICS
    assert search_text(query) == SOUGHT[task]
    assert [passage(each) for each in query.documents] == READ[task]
    assert lamp.prompted(query, query.documents) == STATED[task]
    assert lamp.prompted(query, ()) == INPUTS[task]
    assert lamp.prompted(query, query.documents[::-1]) != STATED[task]
    # By the input's beginning, with the output in the same file.
    questions, _ = files(tmp_path, task, output="right")
    assert lamp.read(questions) == found
    assert lamp.read(questions, task=task) == found


def test_texts_are_no_templates(tmp_path):
    items = [{"id": "1", "text": "{input} {0} a b", "title": "{items}"}]
    query = lamp.read(*files(tmp_path, 4, profile=items, input=INPUTS[4] + " {text}")).queries[0]
    assert (
        lamp.prompted(query, query.documents) == f'"{{items}}" is the title for "{{input}} {{0}} a b". {query.question}'
    )
    assert '"{input} {0}"' in lamp.prompted(query, query.documents, most_words=2)
    titles = lamp.read(*files(tmp_path, 1, profile=[{"id": "1", "title": r"\1 \g<0>", "abstract": "x"}])).queries[0]
    assert r', and "\1 \g<0>", which' in lamp.prompted(titles, titles.documents)


def test_what_is_not_there(tmp_path):
    found = lamp.read(*files(tmp_path, 3, profile=[], golds=[{"id": "99", "output": "5"}]))
    assert found.queries[0].documents == ()
    assert found.queries[0].answers == ()
    assert found.left_out == ((lamp.NO_QUESTION, 1),)
    twice = [*ITEMS[3], ITEMS[3][0], {"id": "3", "text": " ", "score": "1"}]
    found = lamp.read(*files(tmp_path, 3, profile=twice))
    assert len(found.queries[0].documents) == 2
    assert found.left_out == ((lamp.REPEATED, 1), (lamp.NO_TEXT, 1))


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"profile": None}, "question 1, profile"),
        ({"profile": [{"id": "1", "text": "x"}]}, r"question 1, profile\[0\]\.score"),
        ({"profile": [{"id": "1", "text": None, "score": 1}]}, r"profile\[0\]\.text"),
        ({"profile": [*ITEMS[3], {"id": "1", "text": "other", "score": 1}]}, r"profile\[2\]\.id"),
        ({"input": "Paraphrase the following tweet: x"}, "question 1, input"),
        ({"id": ""}, "question 1, id"),
    ],
)
def test_a_question_that_is_wrong(tmp_path, changed, place):
    with pytest.raises(BadCollectionError, match=place):
        lamp.read(*files(tmp_path, 3, **changed))


def test_files_that_are_wrong(tmp_path):
    questions, outputs = files(tmp_path, 3)
    with pytest.raises(BadCollectionError, match=r"dev_outputs\.json"):
        lamp.read(outputs)
    with pytest.raises(BadCollectionError):
        lamp.read(questions, questions)
    with pytest.raises(BadCollectionError, match="task"):
        lamp.read(questions, task=8)
    with pytest.raises(BadCollectionError, match="gold 2, id"):
        lamp.read(*files(tmp_path, 3, golds=[{"id": "1", "output": "x"}] * 2))
    with pytest.raises(BadCollectionError, match="input"):
        lamp.read(files(tmp_path, 3, input="Rate this review: x")[0])
    questions.write_text(json.dumps(json.loads(files(tmp_path, 3)[0].read_text()) * 2))
    with pytest.raises(BadCollectionError, match="question 2, id"):
        lamp.read(questions)
    with pytest.raises(BadCollectionError, match="LaMP-1"):
        lamp.read(files(tmp_path, 1, input=INPUTS[1].replace("which reference is related", "which is it"))[0])
    with pytest.raises(ValueError, match="LaMP-9"):
        lamp.by_name("LaMP-9")
