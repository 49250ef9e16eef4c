// Show the claims that match the form; without scripts all are shown and the form is not.
const form = document.getElementById("filter");
const rows = [...document.querySelectorAll("article")];
const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

function matches(row) {
  const fields = ["paper", "verdict", "tier"];
  const words = form.text.value.toLowerCase().split(/\s+/);
  return (
    fields.every((name) => !form[name].value || form[name].value === row.dataset[name]) &&
    words.every((word) => texts.get(row).includes(word))
  );
}

function show() {
  for (const row of rows) row.hidden = !matches(row);
  for (const group of document.querySelectorAll("main section"))
    group.hidden = !group.querySelector("article:not([hidden])");
  const shown = rows.filter((row) => !row.hidden).length;
  form.querySelector("output").textContent = `${shown} of ${rows.length}`;
}

// a link to a claim that the filter hides shows all again
function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target || !target.closest("[hidden]")) return;
  form.reset();
  show();
  target.scrollIntoView();
}

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", show);
form.addEventListener("reset", () => setTimeout(show));
addEventListener("hashchange", follow);
show();
