// SPDX-License-Identifier: Apache-2.0
"use strict";
{
  const table = document.getElementById("attempts");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const find = document.getElementById("find");
  const result = document.getElementById("result");
  const shown = document.getElementById("shown");
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = (!result.value || row.dataset.result === result.value) &&
        words.every((word) => text.includes(word));
      row.hidden = !fits;
      count += fits;
    }
    shown.textContent = `${count} of ${rows.length}`;
  };
  find.addEventListener("input", filter);
  result.addEventListener("change", filter);
  find.form.addEventListener("submit", (event) => event.preventDefault());
  const key = (row, place) => {
    const cell = row.cells[place];
    if (cell.dataset.value === undefined) return cell.textContent;
    return cell.dataset.value === "" ? NaN : Number(cell.dataset.value);
  };
  const order = (a, b) => {
    if (typeof a === "string") return a.localeCompare(b);
    return Number.isNaN(a) || Number.isNaN(b) ? 0 : a - b;
  };
  for (const [place, head] of Array.from(table.tHead.rows[0].cells).entries()) {
    head.firstElementChild.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const keyed = rows.map((row) => [key(row, place), row]);
      const missing = keyed.filter(([value]) => Number.isNaN(value));
      const there = keyed.filter(([value]) => !Number.isNaN(value));
      there.sort(([a], [b]) => (up ? order(a, b) : order(b, a)));
      body.append(...there.concat(missing).map(([, row]) => row));
    });
  }
}
