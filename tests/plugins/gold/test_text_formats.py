"""Gold over texts, with rows made by hand from its documentation: the gold, and the notes."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.cases import answer, value
from tests.helpers.gold_rows import Row, mistake, one, read


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
    assert (question.answerable, question.why_not, problems.noted) == (False, "not in the set", {})


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
    assert (question.relevant, question.relevant_texts, question.gold_answer) == ({}, (), None)
    assert (question.answerable, question.why_not, problems.noted) == (False, "not in the set", {})
    assert "must have the title" in mistake("multihop-rag", tmp_path, row | {"evidence_list": [{"fact": "x"}]})


def test_squad2(tmp_path: Path) -> None:
    """The paragraph of an answer is relevant by its text; an impossible question has no answer, in a table too."""
    qas: list[Row] = [
        {"id": "s1", "question": "Who?", "is_impossible": False, "answers": [{"text": "Ann", "answer_start": 0}] * 2},
        {"id": "s2", "question": "When?", "is_impossible": True, "answers": [], "plausible_answers": [{"text": "x"}]},
    ]
    article = {"title": "T", "paragraphs": [{"context": "Ann did it.", "qas": qas}]}
    (first, second), problems = read("squad2", tmp_path, {"version": "v2.0", "data": [article]})
    assert (first.id, first.group, first.gold_answers, first.answerable) == ("s1", "T", ("Ann",), None)
    assert [*first.relevant.values()] == [1.0]
    assert value("Success@1", first, answer(retrieved=[{"text": "Ann did it."}])) == 1.0
    assert (second.answerable, second.why_not, second.relevant) == (False, "not in the set", {})
    assert problems.noted == {}
    flat = {"id": "s3", "title": "T", "context": "Ann.", "question": "?", "answers": {"text": [], "answer_start": []}}
    assert one("squad2", tmp_path, flat)[0].answerable is False
    assert one("squad2", tmp_path, flat | {"answers": {"text": ["Ann"], "answer_start": [0]}})[0].gold_answer == "Ann"
    assert "must have a text" in mistake("squad2", tmp_path, flat | {"answers": [{"answer_start": 1}]})


def test_qasper(tmp_path: Path) -> None:
    """Each person's answer is a gold answer; a question that all call unanswerable has none."""
    none = {"unanswerable": True, "extractive_spans": [], "yes_no": None, "free_form_answer": "", "evidence": []}
    evidence = ["It is a, b.", "FLOAT SELECTED: 1"]
    spans = none | {"unanswerable": False, "extractive_spans": ["a", "b"], "evidence": evidence}
    yes = none | {"unanswerable": False, "yes_no": False}
    free = none | {"unanswerable": False, "free_form_answer": "Both."}

    def asked(name: str, *answers: Row) -> Row:
        return {"question": "?", "question_id": name, "answers": [{"answer": one} for one in answers]}

    paper = {"title": "P", "qas": [asked("p1", spans, yes, free), asked("p2", none, none), asked("p3", none, yes)]}
    (first, second, third), problems = read("qasper", tmp_path, {"1706.1": paper})
    assert (first.id, first.group, first.gold_answers) == ("p1", "1706.1", ("a, b", "No", "Both."))
    assert first.relevant_texts == ("It is a, b.",)
    assert (second.answerable, second.why_not, second.gold_answers) == (False, "not in the set", ())
    assert (third.answerable, third.gold_answer) == (None, "No")
    assert problems.noted == {"people differ on whether there is an answer: the question counts as answerable": 1}
    # Hugging Face has a row a paper, with lists in an object.
    lists = {"question": ["?"], "question_id": ["p4"], "answers": [{"answer": [none], "annotation_id": ["x"]}]}
    assert one("qasper", tmp_path, {"id": "1706.2", "qas": lists})[0].answerable is False
    assert "that isn't empty" in mistake("qasper", tmp_path, {"1706.3": {"qas": [asked("p5")]}})


def test_crag(tmp_path: Path) -> None:
    """The answer and its alternatives are gold answers; a false premise has no answer."""
    row: Row = {
        **{"interaction_id": "c1", "query": "Who?", "query_time": "03/05/2024", "domain": "movie", "answer": "Ann"},
        **{"question_type": "simple", "alt_ans": ["Ann Lee"], "search_results": []},
    }
    question, _ = one("crag", tmp_path, row)
    assert (question.id, question.category, question.group) == ("c1", "simple", "movie")
    assert question.gold_answers == ("Ann", "Ann Lee")
    false, _ = one("crag", tmp_path, row | {"question_type": "false_premise", "answer": "invalid question"})
    assert (false.answerable, false.why_not, false.gold_answers) == (False, "false premise", ())
