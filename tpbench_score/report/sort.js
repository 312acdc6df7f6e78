"use strict";
/* Column heads become buttons: descending, ascending, then the order of the page again. */
(() => {
  const numberOf = (cell) => (cell.dataset.value === undefined ? null : Number(cell.dataset.value));

  const compare = (column, direction) => (a, b) => {
    const left = a.cells[column];
    const right = b.cells[column];
    const first = numberOf(left);
    const second = numberOf(right);
    if (first !== null && second !== null) return (first - second) * direction;
    if (first !== null || second !== null) return first === null ? 1 : -1; /* a dash stays below */
    const words = left.textContent;
    const others = right.textContent;
    return (words < others ? -1 : words > others ? 1 : 0) * -direction;
  };

  const prepare = (table) => {
    const body = table.tBodies[0];
    const original = Array.from(body.rows);
    const heads = Array.from(table.querySelectorAll("th[data-column]"));
    heads.forEach((head) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { descending: "ascending", ascending: "none" }[head.getAttribute("aria-sort")] || "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        const rows = original.slice();
        if (next !== "none") {
          head.setAttribute("aria-sort", next);
          rows.sort(compare(Number(head.dataset.column), next === "ascending" ? 1 : -1));
        }
        body.append(...rows);
      });
    });
  };

  document.querySelectorAll("table.sortable").forEach(prepare);

  /* A box that scrolls sideways can be reached and scrolled with the keyboard. */
  const reach = () => {
    document.querySelectorAll(".wide").forEach((box) => {
      const caption = box.querySelector("caption");
      if (box.scrollWidth > box.clientWidth && caption) {
        box.tabIndex = 0;
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", caption.textContent);
      } else {
        ["tabindex", "role", "aria-label"].forEach((name) => box.removeAttribute(name));
      }
    });
  };
  reach();
  window.addEventListener("resize", reach);
  document.addEventListener("toggle", reach, true);
})();
