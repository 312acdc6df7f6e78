"""Putting one dialogue together: an errand, its small decisions, and one change of mind.

A dialogue is an opening and a row of moves. Around a move stand the system's invitation, the user's words and the
system's reply; the reply and the next invitation share a turn, so the speakers alternate.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    """

    invite: str
    say: str
    reply: str
    sets: str | None = None
    value: str | None = None
    mark: str = ""


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
        early = [self.told(slot) for slot in others[: 2 + self.draws.below(2)]]
        facts = self.draws.some_of([*self.scenario.facts, *self.grammar.facts], 4)
        late = facts[2:] if kind != "switch_goal" else self.draws.some_of(self.grammar.facts, 2)
        earlier, update, question, old, slot = _KINDS[kind](self, first)
        answer = next((move.value for move in earlier if move.mark == "first"), update.value) or ""
        start = [*early, *(self.asked(fact) for fact in facts[: 1 + self.draws.below(2)])]
        rest = [self.asked(fact) for fact in late[: 1 + self.draws.below(2)]]
        rest += [self.told(contact) for contact in self.draws.some_of(self.grammar.contact, 1 + self.draws.below(2))]
        (start if self.draws.often(5) else rest).append(self.aside(kind, first, (answer, old)))
        moves = [*self._woven(self.draws.shuffled(start), earlier), update, *self.draws.shuffled(rest)]
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

    def aside(self, kind: str, slot: Slot, taken: tuple[str, ...]) -> Move:
        """The user mentions what somebody else would choose: an answer that is not theirs."""
        if kind == "switch_goal":
            said = self.say("distract_goal", value=self._other(self.scenario.goals, taken))
        elif kind in ("add_constraint", "remove_constraint"):
            said = self.say("distract_wish", value=self._other(self.scenario.requirements, taken))
        else:
            said = self.say("distract_value", phrase=slot.with_value(self._other(slot.values, taken)))
        return Move(self.say("nudge"), said, self.say("shrug"), mark="distractor")

    def changed(self, slot: Slot, old: str, value: str, mark: str) -> Move:
        """The user replaces the old value of a slot, in their own words or by picking from an offer."""
        phrase = slot.with_value(value)
        reply = self.say("confirm", phrase=phrase)
        if self.draws.often(4):
            other = slot.with_value(self._other(slot.values, (old, value)))
            place = self.draws.below(2)
            phrases = [phrase, other] if place == 0 else [other, phrase]
            invite = self.say("offer", phrase_a=phrases[0], phrase_b=phrases[1])
            ordinal = ORDINALS[self.grammar.language][place]
            return Move(invite, self.say("change_pick", ordinal=ordinal), reply, slot.name, value, mark)
        return Move(self.say("check"), self.say("change", phrase=phrase), reply, slot.name, value, mark)

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

    def _written(self, moves: list[Move], asked: _Asked, dialogue_id: str, corpus: str) -> Dialogue:
        grammar = self.grammar
        texts = [grammar.say(self.scenario.opening, self.draws, self.fixed)]
        reply = self.say("greet")
        state: dict[str, str] = {TASK[grammar.language]: self.scenario.task}
        states = [self._state(state)]
        turns: dict[str, list[int]] = {}
        for move in moves:
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
        texts += [f"{reply}{grammar.joiner}{self.say('finish')}", self.say("thanks"), self.say("bye")]
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
            support_turns=support,
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
    update = Move(c.say("check"), say, c.say("confirm_back", phrase=phrase), slot.name, kept, "update")
    earlier = [c.told(slot, kept, "first"), c.changed(slot, kept, tried, "revised")]
    return earlier, update, c.question("return_value", slot), tried, slot.name


def _add_constraint(c: Composer, slot: Slot) -> _Plan:
    value = c.draws.one_of(c.scenario.requirements)
    name = REQUIREMENT[c.grammar.language]
    update = Move(
        c.say("check_wishes"), c.say("add", value=value), c.say("confirm_add", value=value), name, value, "update"
    )
    return [], update, c.question("add_constraint"), "", name


def _remove_constraint(c: Composer, slot: Slot) -> _Plan:
    value = c.draws.one_of(c.scenario.requirements)
    name = REQUIREMENT[c.grammar.language]
    earlier = Move(c.say("check_wishes"), c.say("wish", value=value), c.say("ack_quietly"), name, value, "first")
    known = c.grammar.definite.replace("{value}", bare(value))
    say = c.say("remove_quietly") if c.draws.often(5) else c.say("remove", value=known)
    update = Move(c.say("check"), say, c.say("confirm_remove", value=known), name, None, "update")
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
    update = Move(invite, say, reply, name, value, "update")
    return [], update, c.question("switch_goal"), c.scenario.task, name


_KINDS = {
    "replace_value": _replace_value,
    "add_constraint": _add_constraint,
    "remove_constraint": _remove_constraint,
    "switch_goal": _switch_goal,
    "return_value": _return_value,
}
