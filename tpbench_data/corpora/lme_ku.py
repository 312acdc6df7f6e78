"""LongMemEval, cleaned: the knowledge-update questions, each with its sessions as one long dialogue.

Every session is preceded by a system turn that states its date and id. Turns carry no slot states; the question,
its answer and the turns that hold the answer are the corpus's own. Source: construction spec 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tpbench_data.corpora import shapes
from tpbench_data.corpora.json_reading import Place, is_storable, stream_records
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.dialogue import SYSTEM, USER, AuthoredQuestion, Dialogue

PATTERN = r"longmemeval.*\.json"
QUESTION_TYPE = "knowledge-update"

_SYSTEM_ROLES = frozenset({"assistant", "system"})
_OPENINGS = ("what is my", "what's my", "what was my", "what is the", "what's the", "what was the", "what")
_WORD = re.compile(r"[A-Za-z0-9]+")
_LABEL_WORDS = 5


def load(files: SourceFiles) -> Iterator[Dialogue]:
    """Streams the knowledge-update questions as dialogues, in file order; other questions are passed over.

    A dialogue without annotated answer turns, or with an empty answer, has no `AuthoredQuestion`.

    Raises:
        BadInput: A file is not valid JSON or not in the LongMemEval layout; names file, question number and field.
    """
    files.version = files.version or "cleaned"
    for name, data in files:
        for number, (key, record) in enumerate(stream_records(data, name), start=1):
            if number == 1:
                shapes.expect(record, shapes.LONGMEMEVAL, name)
                if key is not None:
                    raise Place(name).error("not a list of questions", remedy="LongMemEval files hold one JSON list")
            place = Place(name, number)
            if place.get(record, "question_type", str) == QUESTION_TYPE:
                yield _dialogue(record, place)


def memory_slot(question: str, question_id: str) -> str:
    """A short name for what a question asks about: its first five words after the opening ("what is my")."""
    text = question.lower().strip().removesuffix("?").strip()
    for opening in _OPENINGS:
        if text.startswith(opening):
            text = text[len(opening) :]
            break
    return " ".join(_WORD.findall(text)[:_LABEL_WORDS]) or f"lme_ku_{question_id}"


def _dialogue(record: Any, place: Place) -> Dialogue:
    question_id = place.get(record, "question_id", str)
    sessions = place.get(record, "haystack_sessions", list)
    dates = place.get(record, "haystack_dates", list)
    ids = place.get(record, "haystack_session_ids", list)
    if not len(sessions) == len(dates) == len(ids):
        raise place.error(
            f"question {question_id!r} has {len(sessions)} sessions, {len(dates)} dates and {len(ids)} session ids",
            "haystack_sessions",
        )
    answer_sessions = set(place.get(record, "answer_session_ids", list))
    speakers: list[str] = []
    texts: list[str] = []
    support: set[int] = set()
    boundaries: list[int] = []
    for session, date, session_id in zip(sessions, dates, ids, strict=True):
        if not isinstance(session, list):
            raise place.error(f"a session of {question_id!r} is not a list of turns", "haystack_sessions")
        speakers.append(SYSTEM)
        texts.append(f"[SESSION_BREAK: date={date} sid={session_id}]")
        bearing = []
        for turn in session:
            speakers.append(SYSTEM if place.get(turn, "role", str) in _SYSTEM_ROLES else USER)
            texts.append(place.get(turn, "content", str))
            if turn.get("has_answer") is True:
                bearing.append(len(texts) - 1)
        support |= set(bearing)
        if bearing and session_id in answer_sessions:
            boundaries.append(bearing[0])
    if not texts:
        raise place.error(f"question {question_id!r} has no sessions", "haystack_sessions")
    question, answer = place.get(record, "question", str).strip(), _answer(record, place)
    questions: tuple[AuthoredQuestion, ...] = ()
    if question and answer and boundaries:
        questions = (
            AuthoredQuestion(
                question=question,
                answer=answer,
                old_answer="",
                slot=memory_slot(question, question_id),
                transition_type="replace_value",
                update_turn=boundaries[-1],
                boundary_turns=tuple(boundaries),
                support_turns=tuple(sorted(support)),
            ),
        )
    states = (None,) * len(texts)
    return Dialogue(question_id, "lme_ku", "en", tuple(speakers), tuple(texts), states, questions)


def _answer(record: Any, place: Place) -> str:
    """The answer as text; the corpus writes some of them as numbers."""
    answer = record.get("answer")
    if isinstance(answer, bool) or not isinstance(answer, (str, int, float)):
        raise place.error("'answer' is missing or neither a text nor a number", "answer")
    text = str(answer).strip()
    if not is_storable(text):
        raise place.error("'answer' holds a lone surrogate", "answer")
    return text
