"""Putting one dialogue together: an errand, its small decisions, and one change of mind.

A dialogue is an opening and a row of moves. Around a move stand the system's invitation, the user's words and the
system's reply; the reply and the next invitation share a turn, so the speakers alternate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tpbench_data.dialogue import SYSTEM, USER, AuthoredQuestion, Dialogue, State
from tpbench_data.synthetic.draws import Draws
from tpbench_data.synthetic.grammar import Fact, Grammar, Scenario, Slot, bare

REQUIREMENT = {"en": "requirement", "zh": "特殊要求"}
TASK = {"en": "task", "zh": "任务"}
ORDINALS = {"en": ("first", "second"), "zh": ("第一", "第二")}


@dataclass(frozen=True, slots=True)
class Move:
    """One exchange.

    Attributes:
        invite: What the system says before it.
        say: The user's words.
        reply: What the system answers.
        sets: Slot the user sets or clears, ``None`` = none.
        value: Its new value, ``None`` = cleared.
        mark: ``first`` (first mention of the answer), ``revised``, ``update``, ``distractor`` or empty.
        recap: What the system may say later on to repeat the outcome.
    """

    invite: str
    say: str
    reply: str
    sets: str | None = None
    value: str | None = None
    mark: str = ""
    recap: str = ""


@dataclass(frozen=True, slots=True)
class Size:
    """How much surrounds the change of mind; each count is drawn from its range, both ends included.

    Attributes:
        told: Slots settled before it.
        asked: Side questions before it.
        after: Side questions and contact details after it.
        asides: Answers that are not the user's, anywhere.
    """

    told: tuple[int, int]
    asked: tuple[int, int]
    after: tuple[int, int]
    asides: tuple[int, int]


SIZES = (
    Size(told=(1, 2), asked=(0, 1), after=(0, 1), asides=(0, 1)),
    Size(told=(2, 3), asked=(1, 2), after=(2, 4), asides=(1, 2)),
    Size(told=(3, 3), asked=(2, 4), after=(4, 6), asides=(1, 2)),
)
"""Short, medium and long dialogues, of 8 to 40 turns; each size is drawn as often as the others."""


class Composer:
    """Writes one dialogue; every choice comes from ``draws``."""

    def __init__(self, grammar: Grammar, scenario: Scenario, draws: Draws) -> None:
        self.grammar, self.scenario, self.draws = grammar, scenario, draws
        self.fixed = {
            "thing": scenario.thing,
            "task": scenario.task,
            "clerk": draws.one_of(grammar.banks["clerk"]),
        }

    def dialogue(self, kind: str, dialogue_id: str, corpus: str) -> Dialogue:
        """A dialogue with a transition of the type ``kind``."""
        first, *others = self.draws.shuffled(self.scenario.slots)
        size = self.draws.one_of(SIZES)
        early = [self.told(slot) for slot in others[: self.draws.between(*size.told)]]
        here, anywhere = self.draws.shuffled(self.scenario.facts), self.draws.shuffled(self.grammar.facts)
        facts = anywhere if kind == "switch_goal" else self.draws.shuffled([*here, *anywhere])
        earlier, update, question, old, slot = _KINDS[kind](self, first)
        answer = next((move.value for move in earlier if move.mark == "first"), update.value) or ""
        side_questions = max(self.draws.between(*size.asked), len(earlier) - len(early))
        start = [*early, *(self.asked(facts.pop()) for _ in range(side_questions))]
        later = [
            *(self.told(contact) for contact in self.draws.shuffled(self.grammar.contact)),
            *(self.asked(fact) for fact in facts[: len(self.grammar.contact)]),
        ]
        rest = self.draws.some_of(later, min(len(later), self.draws.between(*size.after)))
        for aside in self.asides(kind, first, (answer, old), self.draws.between(*size.asides)):
            (start if self.draws.often(5) else rest).append(aside)
        rest = self._recapped(self.draws.shuffled(rest), update.recap)
        moves = [*self._woven(self.draws.shuffled(start), earlier), update, *rest]
        return self._written(moves, _Asked(kind, question, bare(answer), bare(old), slot), dialogue_id, corpus)

    def say(self, name: str, **fill: str) -> str:
        """A sentence of the turn bank ``name``."""
        return self.grammar.say(self.grammar.turns[name], self.draws, self.fixed | fill)

    def told(self, slot: Slot, value: str = "", mark: str = "") -> Move:
        """The user states a slot when asked; the system repeats the value unless it is the answer to be hidden."""
        chosen = value or self.draws.one_of(slot.values)
        phrase = slot.with_value(chosen)
        reply = self.say("ack_quietly") if mark else self.say("ack", phrase=phrase)
        say = self.grammar.say(slot.tell, self.draws, self.fixed | {"value": chosen, "phrase": phrase})
        return Move(self.grammar.say(slot.ask, self.draws, self.fixed), say, reply, slot.name, chosen, mark)

    def asked(self, fact: Fact) -> Move:
        """The user asks a side question."""
        place = self.draws.below(len(fact.q))
        asked, answered = (self.grammar.say([texts[place]], self.draws, self.fixed) for texts in (fact.q, fact.a))
        return Move(self.say("nudge"), asked, answered)

    def asides(self, kind: str, slot: Slot, taken: tuple[str, ...], count: int) -> list[Move]:
        """The user mentions what others would choose: answers that are not theirs, each a different one."""
        bank, name = _ASIDES.get(kind, ("values", "distract_value"))
        items = slot.values if bank == "values" else getattr(self.scenario, bank)
        open_to_others = [item for item in items if item not in taken]
        return [
            Move(
                self.say("nudge"),
                self.say(name, value=item, phrase=slot.with_value(item)),
                self.say("shrug"),
                mark="distractor",
            )
            for item in self.draws.some_of(open_to_others, min(count, len(open_to_others)))
        ]

    def changed(self, slot: Slot, old: str, value: str, mark: str) -> Move:
        """The user replaces the old value of a slot, in their own words or by picking from an offer."""
        phrase = slot.with_value(value)
        reply, recap = self.say("confirm", phrase=phrase), self.say("recap", phrase=phrase)
        if self.draws.often(4):
            other = slot.with_value(self._other(slot.values, (old, value)))
            place = self.draws.below(2)
            phrases = [phrase, other] if place == 0 else [other, phrase]
            invite = self.say("offer", phrase_a=phrases[0], phrase_b=phrases[1])
            ordinal = ORDINALS[self.grammar.language][place]
            return Move(invite, self.say("change_pick", ordinal=ordinal), reply, slot.name, value, mark, recap)
        return Move(self.say("check"), self.say("change", phrase=phrase), reply, slot.name, value, mark, recap)

    def question(self, kind: str, slot: Slot | None = None) -> str:
        """The reader's question."""
        wordings = slot.question if slot is not None else self.grammar.questions[kind]
        return self.grammar.say(wordings, self.draws, self.fixed)

    def _other(self, items: tuple[str, ...], taken: tuple[str, ...]) -> str:
        return self.draws.one_of([item for item in items if item not in taken])

    def _woven(self, moves: list[Move], marked: list[Move]) -> list[Move]:
        """The moves with the marked ones among them, in order, with another one between any two and after the last."""
        places = sorted(self.draws.some_of(range(len(moves)), len(marked)))
        for offset, (place, move) in enumerate(zip(places, marked, strict=True)):
            moves.insert(place + offset, move)
        return moves

    def _recapped(self, moves: list[Move], recap: str) -> list[Move]:
        """The moves after the update; in three dialogues of ten the system repeats the outcome before one of them."""
        if len(moves) < 2 or not self.draws.often(3):
            return moves
        place = 1 + self.draws.below(len(moves) - 1)
        invite = f"{recap}{self.grammar.joiner}{moves[place].invite}"
        return [*moves[:place], replace(moves[place], invite=invite, recap=recap), *moves[place + 1 :]]

    def _written(self, moves: list[Move], asked: _Asked, dialogue_id: str, corpus: str) -> Dialogue:
        grammar = self.grammar
        texts = [grammar.say(self.scenario.opening, self.draws, self.fixed)]
        reply = self.say("greet")
        state: dict[str, str] = {TASK[grammar.language]: self.scenario.task}
        states = [self._state(state)]
        turns: dict[str, list[int]] = {}
        named = self.fixed["clerk"] in reply
        for move in moves:
            if move.recap and "update" in turns:
                turns["recap"] = [len(texts)]
            texts.append(f"{reply}{grammar.joiner}{move.invite}")
            states.append(self._state(state))
            turns.setdefault(move.mark, []).append(len(texts))
            if move.sets is not None:
                state = {key: value for key, value in state.items() if key != move.sets}
                if move.value is not None:
                    state[move.sets] = move.value
            texts.append(move.say)
            states.append(self._state(state))
            reply = move.reply
        thanks = "thanks_by_name" if named and self.draws.often(3) else "thanks"
        texts += [f"{reply}{grammar.joiner}{self.say('finish')}", self.say(thanks), self.say("bye")]
        states += [self._state(state)] * 3
        update = turns["update"][0]
        first = turns.get("first")
        support = (first[0], update, update + 1) if first else (update - 1, update, update + 1)
        question = AuthoredQuestion(
            question=asked.question,
            answer=asked.answer,
            old_answer=asked.old_answer,
            slot=asked.slot,
            transition_type=asked.kind,
            update_turn=update,
            boundary_turns=(*turns.get("revised", ()), update),
            support_turns=(*support, *turns.get("recap", ())),
            distractor_turns=tuple(turns.get("distractor", ())),
        )
        speakers = tuple(SYSTEM if turn % 2 else USER for turn in range(len(texts)))
        return Dialogue(dialogue_id, corpus, grammar.language, speakers, tuple(texts), tuple(states), (question,))

    def _state(self, state: dict[str, str]) -> State:
        forms = {slot: tuple(dict.fromkeys((bare(value), value))) for slot, value in state.items()}
        return {self.scenario.service: forms}


@dataclass(frozen=True, slots=True)
class _Asked:
    kind: str
    question: str
    answer: str
    old_answer: str
    slot: str


_Plan = tuple[list[Move], Move, str, str, str]
"""Moves that come earlier, the update, the question, the old answer, the slot."""


def _replace_value(c: Composer, slot: Slot) -> _Plan:
    old, new = c.draws.some_of(slot.values, 2)
    earlier = [c.told(slot, old)]
    return earlier, c.changed(slot, old, new, "update"), c.question("replace_value", slot), old, slot.name


def _return_value(c: Composer, slot: Slot) -> _Plan:
    kept, tried = c.draws.some_of(slot.values, 2)
    phrase = slot.with_value(kept)
    say = c.say("back_quietly") if c.draws.often(5) else c.say("back", phrase=phrase)
    recap = c.say("recap", phrase=phrase)
    update = Move(c.say("check"), say, c.say("confirm_back", phrase=phrase), slot.name, kept, "update", recap)
    earlier = [c.told(slot, kept, "first"), c.changed(slot, kept, tried, "revised")]
    return earlier, update, c.question("return_value", slot), tried, slot.name


def _add_constraint(c: Composer, slot: Slot) -> _Plan:
    value = c.draws.one_of(c.scenario.requirements)
    name = REQUIREMENT[c.grammar.language]
    say, reply, recap = (c.say(turn, value=value) for turn in ("add", "confirm_add", "recap_add"))
    update = Move(c.say("check_wishes"), say, reply, name, value, "update", recap)
    return [], update, c.question("add_constraint"), "", name


def _remove_constraint(c: Composer, slot: Slot) -> _Plan:
    value = c.draws.one_of(c.scenario.requirements)
    name = REQUIREMENT[c.grammar.language]
    earlier = Move(c.say("check_wishes"), c.say("wish", value=value), c.say("ack_quietly"), name, value, "first")
    known = c.grammar.definite.replace("{value}", bare(value))
    say = c.say("remove_quietly") if c.draws.often(5) else c.say("remove", value=known)
    reply, recap = c.say("confirm_remove", value=known), c.say("recap_remove", value=known)
    update = Move(c.say("check"), say, reply, name, None, "update", recap)
    return [earlier], update, c.question("remove_constraint"), "", name


def _switch_goal(c: Composer, slot: Slot) -> _Plan:
    value, other = c.draws.some_of(c.scenario.goals, 2)
    name = TASK[c.grammar.language]
    reply = c.say("confirm_switch", value=value)
    if c.draws.often(4):
        place = c.draws.below(2)
        goals = [value, other] if place == 0 else [other, value]
        invite = c.say("suggest", value_a=goals[0], value_b=goals[1])
        say = c.say("switch_pick", ordinal=ORDINALS[c.grammar.language][place])
    else:
        invite, say = c.say("check"), c.say("switch", value=value)
    update = Move(invite, say, reply, name, value, "update", c.say("recap_switch", value=value))
    return [], update, c.question("switch_goal"), c.scenario.task, name


_ASIDES = {
    "switch_goal": ("goals", "distract_goal"),
    "add_constraint": ("requirements", "distract_wish"),
    "remove_constraint": ("requirements", "distract_wish"),
}
"""What an aside is about and how it is said, where it is not about the values of the slot."""

_KINDS = {
    "replace_value": _replace_value,
    "add_constraint": _add_constraint,
    "remove_constraint": _remove_constraint,
    "switch_goal": _switch_goal,
    "return_value": _return_value,
}
