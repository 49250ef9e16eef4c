// On an index: filter the rows of its tables by words, and lead old addresses to where they moved.
(() => {
  const goto = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.classList.contains("moved")) location.replace(target.href);
  };
  addEventListener("hashchange", goto);
  goto();

  const FEW = 10;
  const rows = [...document.querySelectorAll("article .rows tbody tr")];
  if (rows.length < FEW) return;
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const bar = document.createElement("form");
  bar.className = "filter";
  bar.innerHTML = `<input type="search" name="filter" placeholder="Filter by words"
    aria-label="Filter the rows by words"><output></output>`;
  const first = document.querySelector("article .rows");
  const chapter = first.closest("section");
  (chapter.querySelector(":scope > h2") ? chapter : first).before(bar);
  const field = bar.elements.filter;
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
    });
    for (const table of document.querySelectorAll("article .rows"))
      table.hidden = !table.querySelector("tbody tr:not([hidden])");
    const seen = rows.filter((row) => !row.hidden).length;
    bar.querySelector("output").value = `${seen} of ${rows.length}`;
  };
  field.addEventListener("input", filter);
  bar.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
