// On a page of many sections: fold them below their headings, and filter them by words.
(() => {
  const FEW = 10;
  const sections = [...document.querySelectorAll("article section > section > section")]
    .filter((section) => section.querySelector(":scope > h3"));
  if (sections.length < FEW) return;

  const folds = sections.map((section) => {
    const fold = document.createElement("details");
    const line = document.createElement("summary");
    const heading = section.querySelector(":scope > h3");
    const rest = [...section.childNodes].slice([...section.childNodes].indexOf(heading) + 1);
    const words = rest.find((node) => node.tagName === "P" &&
      !/^(CODE|IMG)$/.test(node.firstChild?.tagName));
    line.append(heading);
    // below a heading that says all, no second line says it again
    if (words && !heading.querySelector("strong")) {
      const gist = document.createElement("p");
      gist.className = "gist";
      gist.textContent = words.textContent;
      line.append(gist);
    }
    fold.append(line, ...rest);
    section.append(fold);
    return fold;
  });
  const texts = sections.map((section) => section.textContent.toLowerCase());

  const bar = document.createElement("form");
  bar.className = "filter";
  bar.innerHTML = `<input type="search" name="filter" placeholder="Filter by words"
    aria-label="Filter the sections by words"><button type="button">Unfold all</button>
    <output aria-live="polite"></output>`;
  const groups = [...new Set(sections.map((section) => section.parentElement))];
  (groups.length > 1 ? groups[0] : sections[0]).before(bar);
  const [field, button] = bar.elements;

  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    sections.forEach((section, i) => {
      section.hidden = !words.every((word) => texts[i].includes(word));
    });
    if (groups.length > 1)
      for (const group of groups) group.hidden = !group.querySelector("section:not([hidden])");
    const seen = sections.filter((section) => !section.hidden).length;
    bar.querySelector("output").value = `${seen} of ${sections.length} shown`;
  };
  const unfold = (open) => folds.forEach((fold) => { fold.open = open; });
  const goto = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target?.closest("section")?.querySelector(":scope > details");
    if (!fold) return;
    fold.open = true;
    if (fold.closest("[hidden]")) field.value = "";
    filter();
    target.scrollIntoView();
  };
  field.addEventListener("input", filter);
  bar.addEventListener("submit", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    const open = button.textContent === "Unfold all";
    unfold(open);
    button.textContent = open ? "Fold all" : "Unfold all";
  });
  addEventListener("hashchange", goto);
  addEventListener("beforeprint", () => unfold(true));
  filter();
  goto();
})();
