"use strict";
/* The weight slider: moves the line, the dots and the order of every panel. */
(() => {
  const block = document.getElementById("mix-data");
  if (!block) return;
  const panels = JSON.parse(block.textContent);
  const slider = document.getElementById("mix-weight");
  const shown = document.getElementById("mix-shown");

  const draw = (id, weight) => {
    const panel = document.getElementById(id);
    const svg = panel.querySelector("svg");
    const scale = (name) => Number(svg.dataset[name]);
    const x = scale("x0") + (scale("x1") - scale("x0")) * weight;
    const y = (score) => scale("y0") + (scale("y1") - scale("y0")) * score;
    const cursor = svg.querySelector(".cursor");
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    const mixed = panels[id].map(([label, first, second]) => [label, weight * first + (1 - weight) * second]);
    svg.querySelectorAll(".moving").forEach((dot, place) => {
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", y(mixed[place][1]));
    });
    const order = panel.querySelector(".order");
    order.querySelector(".weight").textContent = weight.toFixed(2);
    mixed.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    Array.from(order.tBodies[0].rows).forEach((row, place) => {
      row.cells[0].textContent = mixed[place][0];
      row.cells[1].textContent = mixed[place][1].toFixed(3);
    });
  };

  const update = () => {
    const weight = Number(slider.value);
    shown.textContent = weight.toFixed(2);
    Object.keys(panels).forEach((id) => draw(id, weight));
  };

  slider.addEventListener("input", update);
  document.getElementById("mix-control").hidden = false;
  update();
})();
