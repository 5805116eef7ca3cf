"""The floor: reads and decodes the same bytes with graphkit's decoder, on as many processes, and forgets them."""

import os
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.contenders.common import finish, folder
from graphkit.files.decoding import LineDecoder
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.scoring.batches import Batch, LineReader, batches

_files: tuple[Path, Path]
_reader = LineReader()
_question = LineDecoder(QuestionStruct).decode
_answer = LineDecoder(AnswerStruct).decode


def _start(questions: Path, answers: Path) -> None:
    global _files
    _files = questions, answers


def _decode(batch: Batch) -> int:
    questions, answers = _reader.lines(_files[0], batch.questions), _reader.lines(_files[1], batch.answers)
    for question, answer in zip(questions, answers, strict=True):
        _question(question)
        _answer(answer)
    return len(questions)


def main() -> None:
    files = folder() / "questions.jsonl", folder() / "runs/a.jsonl"
    workers = len(os.sched_getaffinity(0)) if files[1].stat().st_size > 8 << 20 else 1
    count = 0
    with ProcessPoolExecutor(workers, get_context("fork"), _start, files) as pool:
        under_way: deque[Future[int]] = deque()
        for batch in batches(*files, packed=True):
            under_way.append(pool.submit(_decode, batch))
            if len(under_way) > 2 * workers:
                count += under_way.popleft().result()
        count += sum(future.result() for future in under_way)
    finish({}, questions=count)


if __name__ == "__main__":
    main()
