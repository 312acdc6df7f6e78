"""From prompts to saved answers, one batch at a time: what fails is recorded as an error and takes nobody with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from tpbench_data.errors import TPBenchError
from tpbench_generate.journal import SavedAnswer
from tpbench_generate.readers.base import Answer, Encoded, Failure, Messages, Reader

_TRIES = 2
"""How often a prompt is tried if its batch fails as a whole: in its batch, then alone."""


def encoder_of(reader: Reader) -> Callable[[Messages], Encoded | Exception]:
    """`encode` with one reader, as `plan.make_plan` wants it."""
    return lambda messages: encode(reader, messages)


def answer_batch(reader: Reader, prompts: Sequence[Messages]) -> list[SavedAnswer]:
    """One saved answer per prompt. If the batch fails, each prompt is tried alone; what fails again is an error.

    Raises:
        TPBenchError: No prompt is to blame, such as a broken device or a server that is gone.
    """
    encoded = [encode(reader, messages) for messages in prompts]
    good = [prompt for prompt in encoded if isinstance(prompt, Encoded)]
    outcomes = iter(_generate(reader, good))
    return [next(outcomes) if isinstance(prompt, Encoded) else _failure(prompt, None, attempts=1) for prompt in encoded]


def encode(reader: Reader, messages: Messages) -> Encoded | Exception:
    """The encoded prompt, or why it cannot be encoded."""
    try:
        return reader.encode(messages)
    except TPBenchError:
        raise
    except Exception as problem:
        return problem


def _generate(reader: Reader, prompts: list[Encoded]) -> list[SavedAnswer]:
    if not prompts:
        return []
    try:
        return _try_once(reader, prompts, attempts=1)
    except TPBenchError:
        raise
    except Exception:
        saved = []
        for prompt in prompts:
            try:
                saved += _try_once(reader, [prompt], attempts=_TRIES)
            except TPBenchError:
                raise
            except Exception as problem:
                saved.append(_failure(problem, prompt, attempts=_TRIES))
        return saved


def _try_once(reader: Reader, prompts: list[Encoded], attempts: int) -> list[SavedAnswer]:
    answers = reader.generate(prompts)
    return [_saved(prompt, answer, attempts) for prompt, answer in zip(prompts, answers, strict=True)]


def _saved(prompt: Encoded, answer: Answer | Failure, attempts: int) -> SavedAnswer:
    tries = attempts - 1 + answer.attempts
    if isinstance(answer, Failure):
        return _error(f"{answer.kind}: {answer.message}", prompt, tries)
    return SavedAnswer(
        text=_storable(answer.text),
        error=None,
        finish_reason=answer.finish_reason,
        input_truncated=prompt.truncated,
        prompt_tokens=prompt.n_tokens if answer.prompt_tokens is None else answer.prompt_tokens,
        output_tokens=answer.output_tokens,
        attempts=tries,
        cache=None if answer.cache is None else asdict(answer.cache),
    )


def _failure(problem: Exception, prompt: Encoded | None, attempts: int) -> SavedAnswer:
    message = (str(problem).strip().splitlines() or [""])[0]
    return _error(f"{type(problem).__name__}: {message}", prompt, attempts)


def _error(text: str, prompt: Encoded | None, attempts: int) -> SavedAnswer:
    return SavedAnswer(
        text="",
        error=_storable(text[:500]),
        finish_reason="error",
        input_truncated=None if prompt is None else prompt.truncated,
        prompt_tokens=None if prompt is None else prompt.n_tokens,
        output_tokens=None,
        attempts=attempts,
    )


def _storable(text: str) -> str:
    """Arrow holds UTF-8 only: a lone surrogate (from a file name in an error message) is spelled out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
