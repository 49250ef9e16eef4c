// On an index: filter the rows of its tables by words, fold what a telephone has no room for, and
// lead old addresses to where they moved.
(() => {
  const target = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const goto = () => {
    const found = target();
    if (found?.classList.contains("moved")) location.replace(found.href);
  };
  addEventListener("hashchange", goto);
  goto();

  const FEW = 10, NARROW = "screen and (max-width: 46em)";
  const tables = [...document.querySelectorAll("article .rows table")].map((table, i) => {
    const rows = [...table.querySelectorAll("tbody tr")];
    const count = document.createElement("p");
    count.className = "count";
    count.id = `count-${i}`;
    return { table, rows, count, box: table.closest(".rows") };
  });
  // a row that is shown as a card stays a row, and its cells tell the heads of their columns
  for (const { table, rows } of tables) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent);
    table.setAttribute("role", "table");
    for (const row of rows) {
      row.setAttribute("role", "row");
      [...row.cells].forEach((cell, i) => {
        cell.setAttribute("role", "cell");
        cell.dataset.head = heads[i];
      });
    }
  }
  const rows = tables.flatMap((one) => one.rows);
  if (rows.length < FEW || tables[0].box.classList.contains("unfiltered")) return;
  const texts = rows.map((row) => row.textContent.toLowerCase());
  for (const row of document.querySelectorAll("article .scoreboard tbody tr")) {
    if (![...row.cells].slice(3).some((cell) => cell.textContent.trim())) continue;
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    more.textContent = "more";
    more.setAttribute("aria-label", `more about ${row.cells[0].textContent}`);
    more.setAttribute("aria-expanded", "false");
    more.addEventListener("click", () => {
      const open = row.classList.toggle("open");
      more.setAttribute("aria-expanded", open);
      more.textContent = open ? "less" : "more";
    });
    row.classList.add("folded");
    row.cells[1].append(more);
  }

  const bar = document.createElement("form");
  bar.className = "filter";
  bar.innerHTML = `<input type="search" name="filter" placeholder="Filter by words"
    aria-label="Filter the rows by words"><output aria-live="polite"></output>`;
  const first = tables[0].box;
  const chapter = first.closest("section");
  (chapter.querySelector(":scope > h2") ? chapter : first).before(bar);

  const folds = [];
  for (const { table, box, count } of tables.length > 1 ? tables : []) {
    table.setAttribute("aria-describedby", count.id);
    const heading = box.closest("section").querySelector(":scope > h2");
    if (heading && matchMedia(NARROW).matches) {
      const fold = document.createElement("details");
      const line = document.createElement("summary");
      const rest = [...heading.parentElement.childNodes].filter((node) => node !== heading);
      heading.before(fold);
      line.append(heading, count);
      fold.append(line, ...rest);
      folds.push(fold);
    } else box.prepend(count);
  }
  const open = () => {
    const fold = target()?.closest("section")?.querySelector(":scope > details");
    if (fold) fold.open = true;
  };
  addEventListener("hashchange", open);
  open();

  const field = bar.elements.filter;
  const told = (shown, all) => `${shown.length} of ${all.length} shown`;
  const seen = (all) => all.filter((row) => !row.hidden);
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
    });
    for (const { rows, box, count } of tables) {
      count.textContent = told(seen(rows), rows);
      box.hidden = !seen(rows).length;
    }
    if (words.length) for (const fold of folds) fold.open = true;
    bar.querySelector("output").value = told(seen(rows), rows);
  };
  field.addEventListener("input", filter);
  bar.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
