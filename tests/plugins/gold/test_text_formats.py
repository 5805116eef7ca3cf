"""Gold over texts, with rows made by hand from its documentation: the gold, and the notes."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.cases import answer, value
from tests.helpers.gold_rows import Row, mistake, one


def test_hotpotqa(tmp_path: Path) -> None:
    """The titles of the supporting facts are relevant, each once; there is no path."""
    row = {
        "_id": "h1",
        "question": "?",
        "answer": "yes",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": [["T", 0], ["U", 3], ["T", 1]],
    }
    question, _ = one("hotpotqa", tmp_path, row)
    assert (question.id, question.difficulty, question.category) == ("h1", "hard", "comparison")
    assert question.relevant == {"T": 1.0, "U": 1.0}
    assert question.paths == ()
    # Compared by its words whatever its length, as HotpotQA's script does.
    span = "from the spring of 1986 until today"
    asked, _ = one("hotpotqa", tmp_path, row | {"answer": span})
    assert (asked.gold_answer, asked.gold_answers) == (span, (span,))
    assert value("ExactMatch", asked, answer(answer=f"{span}.")) == 1.0


def test_musique(tmp_path: Path) -> None:
    """The paragraphs of the steps are relevant, in order, and then other supporting paragraphs."""
    row: Row = {
        "id": "2hop__1_2",
        "question": "?",
        "answer": "a",
        "answerable": True,
        "paragraphs": [
            {"idx": 0, "title": "S", "paragraph_text": "...", "is_supporting": True},
            {"idx": 1, "title": "No", "paragraph_text": "...", "is_supporting": False},
            {"idx": 2, "title": "T", "paragraph_text": "...", "is_supporting": True},
        ],
        "question_decomposition": [
            {"id": 1, "question": "?", "answer": "b", "paragraph_support_idx": 2},
            {"id": 2, "question": "?", "answer": "a", "paragraph_support_idx": 0},
        ],
    }
    question, problems = one("musique", tmp_path, row)
    assert list(question.relevant) == ["T", "S"]
    assert question.category == "2hop"
    assert problems.noted == {}
    question, problems = one("musique", tmp_path, row | {"question_decomposition": row["question_decomposition"][:1]})
    assert list(question.relevant) == ["T", "S"]
    assert len(problems.noted) == 1
    wrong = row | {"question_decomposition": [{"id": 1, "question": "?", "answer": "b", "paragraph_support_idx": 9}]}
    assert "names a paragraph that isn't there: 9" in mistake("musique", tmp_path, wrong)
    question, problems = one("musique", tmp_path, row | {"answerable": False})
    assert (question.relevant, question.gold_answer) == ({}, None)
    assert problems.noted == {"the question is marked as unanswerable: nothing is gold": 1}


def test_multihop_rag(tmp_path: Path) -> None:
    """Each article is relevant by its title, each fact a text of evidence; a null query has neither."""
    article = {"author": "A", "url": "https://n/1", "source": "N", "category": "c", "published_at": "2023-10-01"}
    row = {
        "query": "Who?",
        "answer": "Ann",
        "question_type": "inference_query",
        "evidence_list": [
            article | {"title": "T", "fact": "Ann did."},
            article | {"title": "U", "fact": "It was Ann."},
        ],
    }
    question, problems = one("multihop-rag", tmp_path, row)
    assert (question.id, question.category, question.gold_answer) == ("rows-1", "inference_query", "Ann")
    assert (question.relevant, question.relevant_texts) == ({"T": 1.0, "U": 1.0}, ("Ann did.", "It was Ann."))
    assert (question.paths, problems.noted) == ((), {})
    unknown = {"query": "?", "answer": "Insufficient information.", "question_type": "null_query", "evidence_list": []}
    question, problems = one("multihop-rag", tmp_path, unknown)
    assert (question.relevant, question.relevant_texts) == ({}, ())
    assert problems.noted == {"the question has no evidence: nothing has to be retrieved": 1}
    assert "must have the title" in mistake("multihop-rag", tmp_path, row | {"evidence_list": [{"fact": "x"}]})
