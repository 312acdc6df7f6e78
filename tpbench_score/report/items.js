"use strict";
/* The browser of single answers. Every text goes in as a text node: nothing of a release is ever read as HTML. */
(() => {
  const block = document.getElementById("items-data");
  if (!block) return;
  const data = JSON.parse(block.textContent);
  const PAGE = 12;
  const find = (name) => document.getElementById("items-" + name);
  const list = find("list");
  const detail = find("detail");

  const make = (name, attributes, ...content) => {
    const element = document.createElement(name);
    Object.entries(attributes || {}).forEach(([key, value]) => {
      if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
    });
    element.append(...content.filter((piece) => piece !== null && piece !== undefined));
    return element;
  };

  /* --- verdicts --- */

  const verdictOf = (answer, scorer) => {
    if (answer.status !== "ok") return "failed";
    const verdict = answer.verdicts[scorer || 0];
    return verdict.strict ? "strict" : verdict.loose ? "loose" : "wrong";
  };
  const WORDS = { strict: "right", loose: "right by the loose rule only", wrong: "wrong", failed: "no answer" };
  const saidOf = (answer) => (answer.status === "error" ? "reader error" : answer.status === "missing" ? "missing" : WORDS[verdictOf(answer)]);
  const flips = (answer) =>
    answer.verdicts.some((verdict) => verdict.strict !== answer.verdicts[0].strict || verdict.loose !== answer.verdicts[0].loose);
  const sign = (answer) => {
    const mark = make("span", { class: "verdict " + verdictOf(answer), title: saidOf(answer) }, make("span", { class: "unseen" }, saidOf(answer)));
    return flips(answer) ? make("span", { class: "flip", title: "the scorers disagree" }, mark) : mark;
  };
  const methodOf = (answer) => data.methods[answer.method] + (answer.seed === undefined ? "" : ", seed " + answer.seed);

  /* --- choosing questions --- */

  const VIEWS = {
    all: () => true,
    mixed: (answers) => new Set(answers.map((answer) => verdictOf(answer))).size > 1,
    right: (answers) => answers.some((answer) => verdictOf(answer) === "strict"),
    wrong: (answers) => answers.every((answer) => verdictOf(answer) !== "strict" && verdictOf(answer) !== "loose"),
    flips: (answers) => answers.some(flips),
    failed: (answers) => answers.some((answer) => answer.status !== "ok"),
  };
  const FACETS = { run: (q) => data.runs[q.run], probe: (q) => q.probe, corpus: (q) => q.corpus, ratio: (q) => q.ratio };

  Object.entries(FACETS).forEach(([name, value]) => {
    const values = Array.from(new Set(data.questions.map(value)));
    const select = find(name);
    select.append(make("option", { value: "" }, "all"), ...values.map((text) => make("option", { value: text }, text)));
    select.parentElement.hidden = values.length < 2;
  });
  if (data.scorers.length < 2) find("view").querySelector("[value=flips]").remove();

  const answersOf = (question) => question.answers.map((place) => data.outputs[place]);
  const textOf = (question) =>
    [question.id, question.goal, question.value, ...data.dialogues[question.dialogue].turns.map((turn) => turn[1]), ...answersOf(question).map((a) => a.text)]
      .join("\n")
      .toLowerCase();

  let chosen = [];
  let page = 0;
  let current = null;

  const filter = () => {
    const wanted = find("text").value.trim().toLowerCase();
    chosen = data.questions.filter(
      (question) =>
        Object.entries(FACETS).every(([name, value]) => !find(name).value || find(name).value === value(question)) &&
        VIEWS[find("view").value](answersOf(question)) &&
        (!wanted || textOf(question).includes(wanted)),
    );
    page = 0;
    drawList();
  };

  /* --- the list --- */

  const nameOf = (question) => question.probe + " " + (question.slot || (question.probe === "P1" ? "initial goal" : "answer"));

  const drawList = () => {
    const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
    const start = page * PAGE;
    const part = chosen.slice(start, start + PAGE);
    find("count").textContent = chosen.length
      ? `Questions ${start + 1} to ${start + part.length} of ${chosen.length}`
      : "No question fits.";
    const methods = Array.from(new Set(part.flatMap((q) => answersOf(q).map((a) => a.method)))).sort((a, b) => a - b);
    const head = make("tr", null, make("th", { scope: "col" }, "Question"), ...methods.map((m) => make("th", { scope: "col" }, data.methods[m])));
    const rows = part.map((question) => {
      const button = make("button", { type: "button" }, `${nameOf(question)}, ${data.dialogues[question.dialogue].id}`);
      const open = (answer) => show(question, answer);
      button.addEventListener("click", () => open(null));
      const label = make("th", { scope: "row" }, button, facetsOf(question));
      const cells = methods.map((method) => {
        const mine = answersOf(question).filter((answer) => answer.method === method);
        const cell = make("td", null, ...(mine.length ? mine.map(sign) : [make("span", { class: "unseen" }, "not run")]));
        if (mine.length) cell.addEventListener("click", () => open(mine[0]));
        return cell;
      });
      return make("tr", { "aria-current": question === current }, label, ...cells);
    });
    const caption = make("caption", { class: "unseen" }, "Questions and the verdict on each method's answer");
    const table = make("table", { class: "data" }, caption, make("thead", null, head), make("tbody", null, ...rows));
    list.replaceChildren(part.length ? make("div", { class: "wide" }, table) : "");
    const turn = (text, step, off) => {
      const button = make("button", { type: "button", disabled: off }, text);
      button.addEventListener("click", () => {
        page += step;
        drawList();
      });
      return button;
    };
    find("pages").replaceChildren(
      ...(pages > 1 ? [turn("Previous", -1, page === 0), turn("Next", 1, page === pages - 1), `page ${page + 1} of ${pages}`] : []),
    );
    window.dispatchEvent(new Event("resize"));
  };

  const facetsOf = (question) => {
    const several = Object.entries(FACETS).filter(([name]) => name !== "probe" && !find(name).parentElement.hidden);
    const text = several.map(([, value]) => value(question)).join(", ");
    return text ? make("span", { class: "interval" }, text) : null;
  };

  /* --- one question --- */

  const show = (question, answer) => {
    current = question;
    drawList();
    const answers = answersOf(question);
    const first = answer || answers[0];
    const title = make("h3", { tabindex: "-1" }, `${nameOf(question)}, ${data.dialogues[question.dialogue].id}`);
    const where = [question.corpus, `ratio ${question.ratio}`, `protocol ${question.protocol}`, data.runs[question.run]].join(", ");
    const body = make("div", { class: "two" });
    const choose = answers.map((one, place) => {
      const radio = make("input", { type: "radio", name: "method", value: place, checked: one === first });
      radio.addEventListener("change", () => drawAnswer(body, question, one));
      return make("label", null, radio, sign(one), methodOf(one));
    });
    const picker = make("fieldset", { class: "picker" }, make("legend", null, "Condition"), ...choose);
    detail.replaceChildren(title, make("p", { class: "facts" }, where), aboutOf(question), picker, body);
    drawAnswer(body, question, first);
    title.focus();
  };

  const pairs = (entries) =>
    make("dl", { class: "pairs" }, ...entries.filter(([, value]) => value !== undefined && value !== null && value !== "").flatMap(([name, value]) => [
      make("dt", null, name),
      make("dd", null, String(value)),
    ]));

  const aboutOf = (question) => {
    const asked = question.asked === undefined ? null : make("details", null, make("summary", null, "What the reader was asked after the context"), make("pre", { class: "raw" }, data.prompts[question.asked]));
    return make(
      "div",
      null,
      pairs([
        ["Initial goal", question.goal],
        ["Right value", question.value],
        ["also", (question.also || []).join(" | ")],
        ["Old value", question.old],
        ["Change", question.change && question.change.replaceAll("_", " ")],
        ["Update in turn", question.update],
        ["Evidence in turns", (question.evidence || []).join(", ")],
        ["Alias rule", question.alias ? "takes old and new value for one" : ""],
      ]),
      asked,
    );
  };

  const drawAnswer = (body, question, answer) => {
    body.replaceChildren(answerOf(answer), contextOf(question, answer));
  };

  /* --- the context --- */

  const marked = (text, question) => {
    const wanted = [question.value, ...(question.also || [])].filter(Boolean).map((value) => [value.toLowerCase(), ""]);
    if (question.old) wanted.push([question.old.toLowerCase(), "old"]);
    wanted.sort((a, b) => b[0].length - a[0].length);
    const lower = text.toLowerCase();
    if (lower.length !== text.length) return [text]; /* a letter that changes its length: places would be wrong */
    const pieces = [];
    let plain = 0;
    for (let place = 0; place < text.length; ) {
      const hit = wanted.find(([value]) => lower.startsWith(value, place) && !inWord(lower, place, value.length));
      if (!hit) {
        place += 1;
        continue;
      }
      pieces.push(text.slice(plain, place), make("mark", { class: hit[1] || null, title: hit[1] ? "old value" : "right value" }, text.slice(place, place + hit[0].length)));
      place += hit[0].length;
      plain = place;
    }
    return [...pieces, text.slice(plain)];
  };
  const LATIN = /[a-z0-9]/;
  const inWord = (text, start, length) =>
    (LATIN.test(text[start]) && LATIN.test(text[start - 1] || " ")) || (LATIN.test(text[start + length - 1]) && LATIN.test(text[start + length] || " "));

  const contextOf = (question, answer) => {
    const { turns, language } = data.dialogues[question.dialogue];
    const kept = answer.kept === undefined && !answer.unknown && answer.context !== undefined ? null : new Set(answer.kept || []);
    const known = kept !== null && !answer.unknown;
    const evidence = new Set(question.evidence || []);
    const items = turns.map(([speaker, text], place) => {
      const isKept = known && kept.has(place);
      const names = known && !isKept ? ["dropped"] : [];
      if (place === question.update) names.push("update");
      else if (evidence.has(place)) names.push("evidence");
      const spoken = known && isKept ? make("span", { class: "unseen" }, ", kept") : null;
      const who = make("span", { class: "who" }, `T${place} ${speaker}`, spoken, ...names.map((name) => make("span", { class: "tag" }, name)));
      const classes = [known && !isKept ? "dropped" : "", place === question.update ? "update" : ""].join(" ").trim();
      return make("li", { class: classes || null }, who, make("span", { class: "text" }, ...marked(text, question)));
    });
    const notes = [];
    if (data.cache.includes(answer.method)) notes.push("This method compresses the reader's cache; the reader was given these turns.");
    if (answer.unknown) notes.push("The context is not known.");
    if (!turns.length) notes.push("The dialogue is not part of the release.");
    const count = known && turns.length ? `${kept.size} of ${turns.length} turns kept` : "";
    const parts = [make("h4", null, "Dialogue"), make("p", { class: "facts" }, [count, ...notes].filter(Boolean).join(". "))];
    if (turns.length) parts.push(make("ol", { class: known ? "turns" : "turns plain", lang: language }, ...items));
    if (answer.context !== undefined) {
      parts.push(make("h4", null, "Context as the reader saw it"), make("pre", { class: "raw", lang: language }, ...marked(answer.context, question)));
    }
    return make("div", null, ...parts);
  };

  /* --- the answer --- */

  const truth = (value) => (value === undefined ? undefined : value ? "yes" : "no");

  const reasonOf = (verdict) => (verdict.strict || verdict.loose ? "" : ": " + (data.reasons[verdict.reason] || verdict.reason));

  const answerOf = (answer) => {
    const parts = [make("h4", null, "Raw answer")];
    parts.push(answer.text === undefined ? make("p", null, "There is none.") : make("pre", { class: "raw" }, answer.text || "(empty)"));
    if (answer.error) parts.push(make("p", { class: "notice" }, "Reader error: " + answer.error));
    answer.verdicts.forEach((verdict, place) => {
      const name = data.scorers[place];
      parts.push(
        make("h4", null, data.scorers.length > 1 ? `Verdict of ${name}` : `Verdict (${name})`),
        make("p", { class: "why" }, make("b", null, answer.status === "ok" ? WORDS[verdictOf(answer, place)] : saidOf(answer)), reasonOf(verdict)),
        pairs([
          ...(verdict.fields || []).map(([key, value]) => ["field " + key, value]),
          ["JSON found", verdict.parse_level],
          ["scored value", verdict.answer],
          ["goal segment", verdict.goal_segment],
          ["value segment", verdict.value_segment],
          ["goal right", truth(verdict.goal_ok)],
          ["value, strict", truth(verdict.value_strict)],
          ["value, loose", truth(verdict.value_loose)],
          ["whole field, strict", truth(verdict.whole_strict)],
          ["token F1", verdict.token_f1],
          ["abstained", truth(verdict.abstained)],
          ["old value given", truth(verdict.superseded)],
        ]),
      );
    });
    if (answer.retained !== undefined) parts.push(pairs([["right value in context", truth(answer.retained)]]));
    return make("div", null, ...parts);
  };

  const form = find("form");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  form.hidden = false;
  find("legend").hidden = false;
  filter();
})();
