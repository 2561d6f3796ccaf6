// What is said of one block

const xpathOf = (r) => {
  const steps = [];
  for (let k = page.xpath.at[r]; k >= 0; k = page.xpath.up[k]) steps.push(page.xpath.step[k]);
  return ["/html", ...steps.reverse()].join("/");
};
const textOf = (r) => panes[0].spans[r].map((span) => span.textContent).join("").replace(/\s+/g, " ").trim();

function judged(pane, r) {
  const said = page.methods[pane.method], method = methodNamed(pane.method);
  const isKept = keeper(pane.method)(r);
  const category = categoryNamed.get(categoryOf(pane.method, keeper(pane.method), r));
  const reason = index.reasons[isKept ? said.kept[r] : said.gone[r]].replace(/^kept: /, "");
  const numbers = [];
  if (said.score[r] !== null) numbers.push(`score ${said.score[r].toFixed(3)}`);
  const limit = said.limit[r], dial = method.dial;
  if (dial && limit >= 0 && limit <= MILLION) {
    numbers.push(dial.more ? `kept above a ${dial.name} of ${shown(limit)}` : `removed above a ${dial.name} of ${shown(limit)}`);
  } else if (dial) {
    numbers.push(isKept ? "kept at every position of the dial" : "removed at every position of the dial");
  }
  return { isKept, category, reason, numbers: numbers.join(" · ") };
}

function tell() {
  const box = $("detail"), r = pointed >= 0 ? pointed : held;
  box.classList.toggle("empty", r < 0);
  if (!page || r < 0) {
    box.replaceChildren(make("p", "idle", "Point at a block, or press j, to see why it was kept or removed. Press ? for all keys."));
    return;
  }
  const left = make("div"), right = make("div");
  left.append(make("p", "quote", textOf(r)));
  const path = make("p", "mono", xpathOf(r));
  path.title = xpathOf(r);
  const place = make("p", "place");
  place.append(make("span", "", plural(page.words[r], "word", "words")));
  place.append(make("span", "", `on ${count(page.pages[r])} of ${plural(site.learned, "page", "pages")} (${percent(page.pages[r], site.learned)})`));
  if (page.structure[r]) place.append(make("span", "", page.structure[r]));
  if (page.element[r] >= 0) {
    const find = make("button", "quiet", "show in the site tree");
    find.type = "button";
    find.addEventListener("click", () => findInTree(page.element[r]));
    place.append(find);
  }
  const close = make("button", "quiet let-go", "close");
  close.type = "button";
  close.addEventListener("click", () => { point(-1); hold(-1); });
  place.append(close);
  left.append(path, place);
  for (const pane of shownPanes()) {
    const found = judged(pane, r), row = make("div", "judged"), words = make("div");
    words.append(swatch(found.category, found.category.label), document.createTextNode(" " + found.reason));
    words.append(make("small", "", [`${pane.method}`, found.numbers].filter(Boolean).join(": ")));
    row.append(make("span", "letter", pane.letter), words);
    right.append(row);
  }
  box.replaceChildren(left, right);
}

function swatch(category, text) {
  const made = make("span", "swatch", text);
  made.dataset.k = category.id;
  if (category.hue !== undefined) {
    made.dataset.h = "";
    made.style.setProperty("--h", category.hue);
  }
  return made;
}

const shownPanes = () => panes.filter((pane) => pane.method);

function point(r) {
  if (r === pointed) return;
  for (const pane of panes) {
    if (pointed >= 0) pane.class(pointed, "pointed", false);
    if (r >= 0) pane.class(r, "pointed", true);
  }
  pointed = r;
  tell();
}

function hold(r, from) {
  for (const pane of panes) {
    if (held >= 0) pane.class(held, "held", false);
    if (r >= 0) pane.class(r, "held", true);
  }
  if (seen.boxes[held]) seen.boxes[held].classList.remove("held");
  if (seen.boxes[r]) seen.boxes[r].classList.add("held");
  held = r;
  tell();
  if (r >= 0) for (const pane of shownPanes()) if (pane !== from) pane.reveal(r);
}

function step(by, wanted = () => true) {
  const first = panes[0], all = page.words.length;
  point(-1);
  for (let k = 1, r = held; k <= all; k++) {
    r = (r + by + all) % all;
    if (r < 0) r = all - 1;
    if (first.spans[r].length && shownPanes().some((pane) => !off.has(pane.stateOf(r))) && wanted(r)) {
      hold(r);
      const words = shownPanes().map((pane) => {
        const found = judged(pane, r);
        return `${pane.letter}: ${found.category.label}. ${found.reason}.`;
      });
      $("said").textContent = `${textOf(r).slice(0, 120)}. ${words.join(" ")}`;
      return;
    }
  }
}

const differs = (r) => shownPanes().length > 1 && (panes[0].stateOf(r) === "kept") !== (panes[1].stateOf(r) === "kept");
const isRemoved = (r) => shownPanes().some((pane) => pane.stateOf(r) !== "kept");
