"""A judge model's verdict on an answer, by LongMemEval's rules for each type of question (arXiv 2410.10813)."""

from __future__ import annotations

from dataclasses import dataclass

from memory_core.evaluation.verdicts import parse_verdict
from memory_core.prompts import data, prompt
from memory_core.protocols import LLM, Reply
from memory_core.providers import ProviderSettings, make_llm

_CORRECT = "Is the response correct?"
_FACT = (
    "Say yes if the response contains the correct answer, is equivalent to it, or holds every step that leads to it. "
    "Say no if it does not, or holds only a part of what the answer asks for."
)
#: Question type -> what counts as correct, what the expected text is, what is asked.
_RULES: dict[str, tuple[str, str, str]] = {
    "temporal-reasoning": (
        f"{_FACT} Do not hold an error of one against a number of days, weeks or months: 19 days for 18 is correct.",
        "Correct answer",
        _CORRECT,
    ),
    "knowledge-update": (
        f"{_FACT} A response that also gives earlier information is correct as long as its updated answer is the one "
        "asked for.",
        "Correct answer",
        _CORRECT,
    ),
    "single-session-preference": (
        "The rubric describes a response made for this person. Say yes if the response recalls and uses the person's "
        "own information rightly; it need not reflect every point of the rubric. Otherwise say no.",
        "Rubric",
        _CORRECT,
    ),
}
_DEFAULT = (_FACT, "Correct answer", _CORRECT)
_ABSTAIN = (
    "The question cannot be answered. Say yes if the response recognises that: it may say that the information is "
    "incomplete, or that something else is known but not what was asked. Otherwise say no.",
    "Why it cannot be answered",
    "Does the response recognise that the question cannot be answered?",
)


@dataclass(frozen=True)
class Verdict:
    """`correct` is None when the judge gave no verdict: the row is unjudged, not wrong."""

    correct: bool | None
    reply: Reply


@dataclass(frozen=True)
class Judge:
    """Grades with `llm`; one call an answer.

    >>> from memory_core.llms.scripted import Scripted
    >>> Judge(Scripted(["Yes."])).grade("Where does Mira live?", "Porto", "In Porto.", "single-session-user").correct
    True
    """

    llm: LLM
    prompt_version: str = "judging-v1"
    max_tokens: int = 64

    def grade(self, question: str, expected: str, response: str, kind: str = "", abstention: bool = False) -> Verdict:
        """`kind` is LongMemEval's question type, `abstention` its `_abs` items. Raises ProviderError, Cancelled."""
        rule, named, ask = _ABSTAIN if abstention else _RULES.get(kind, _DEFAULT)
        system, user = prompt(
            self.prompt_version,
            rule=rule,
            named=named,
            ask=ask,
            question=data("question", question),
            expected=data("expected", expected),
            response=data("response", response),
        )
        reply = self.llm.reply(system, user, max_tokens=self.max_tokens)
        return Verdict(None if reply.finish == "refused" else parse_verdict(reply.text), reply)


def make_judge(settings: ProviderSettings) -> Judge | None:
    """None when answers are not to be judged. Raises ProviderError when something is missing."""
    return None if settings.provider == "none" else Judge(make_llm(settings))
