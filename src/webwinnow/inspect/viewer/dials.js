// Dials, and what turning them changes: marks, counts, command lines

function dialOf(pane) {
  const method = methodNamed(pane.method), dial = method.dial;
  pane.dialRow.replaceChildren();
  if (!dial) {
    pane.dialRow.className = "no-dial";
    pane.dialRow.textContent = `${method.about}; it has no dial.`;
    return;
  }
  pane.dialRow.className = "dial";
  pane.dialRow.title = dial.about;
  const label = make("label", "", dial.name[0].toUpperCase() + dial.name.slice(1));
  const range = make("input");
  Object.assign(range, { type: "range", min: 0, max: index.steps, step: 1, id: `dial-${pane.letter.toLowerCase()}` });
  label.htmlFor = range.id;
  const output = make("output");
  output.htmlFor = range.id;
  const presets = [["own", null, dial.own], ...dial.favors.map((favor) => [favor, favor, `--favor ${favor}`])].map(([name, turn, about]) => {
    const button = make("button", "quiet", name);
    button.type = "button";
    button.title = about;
    button.addEventListener("click", () => turnTo(pane.method, turn));
    return button;
  });
  range.addEventListener("input", () => turnTo(pane.method, (Number(range.value) * MILLION) / index.steps));
  pane.dialRow.append(label, range, output, ...presets);
  pane.showDial = () => {
    const turn = turnOf(pane.method), at = standsAt(pane.method);
    if (document.activeElement !== range || turn === null || typeof turn === "string") {
      range.value = at === null ? index.steps : Math.round((at / MILLION) * index.steps);
    }
    output.replaceChildren(at === null ? "none" : shown(at));
    range.setAttribute("aria-valuetext", `${output.textContent}${turn === null ? ", " + dial.own : ""}`);
    presets.forEach((button, k) => button.setAttribute("aria-pressed", String(k === 0 ? turn === null : turn === dial.favors[k - 1])));
  };
  pane.showDial();
}

let waiting = false;

function turnTo(name, turn) {
  if (turn === null) turned.delete(turnKey(name)); else turned.set(turnKey(name), turn);
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const pane of shownPanes()) pane.showDial?.();
    refresh();
    if (!$("tree-view").hidden) markTree();
  });
}

function choose(pane, name) {
  pane.method = name || null;
  pane.showDial = null;
  pane.states = [];
  pane.choice.value = name;
  $("panes").classList.toggle("single", !panes[1].method);
  document.querySelector(".sides").classList.toggle("single", !panes[1].method);
  if (!panes[1].method) showSide(0);
  if (pane.method && page) dialOf(pane);
  panes.forEach((one, k) => {
    document.querySelector(`[data-side="${k}"]`).textContent = `${one.letter} · ${one.method ?? ""}`;
  });
  listPages();
  refresh();
}

function showSide(number) {
  panes.forEach((pane, k) => pane.root.classList.toggle("shown", k === number));
  document.querySelectorAll("[data-side]").forEach((button, k) => button.setAttribute("aria-pressed", String(k === number)));
  panes[number].fit();
}

function refresh() {
  if (!page) return;
  for (const pane of shownPanes()) {
    pane.mark();
    showCounts(pane);
    showCommand(pane);
  }
  compare();
  legend();
  tell();
  markSeen();
}

function showCounts(pane) {
  const words = page.left_out ? page.words.reduce((sum, n, r) => sum + (page.isHidden[r] ? 0 : n), 0) : site.pages[pageNumber].words;
  const strong = make("strong", "", `${count(pane.kept)} of ${count(words)}`);
  const sample = sampleKept(pane.method);
  const small = make("small", "", `words kept, ${percent(pane.kept, words)} · sample ${percent(sample, site.words)}`);
  small.title = `${count(sample)} of ${count(site.words)} words of the ${site.pages.length} sample pages`;
  pane.counts.replaceChildren(strong, small);
}

function sampleKept(name) {
  const turn = turnOf(name), totals = site.totals[name];
  if (turn === null) return totals.own;
  return typeof turn === "string" ? totals[turn] : site.curves[name][Math.round((turn / MILLION) * index.steps)];
}

function showCommand(pane) {
  const method = methodNamed(pane.method), turn = turnOf(pane.method);
  let options = ` -o clean.jsonl --method ${method.name}`, remark = "";
  if (typeof turn === "string") options += ` --favor ${turn}`;
  else if (turn !== null && method.dial.option) options += ` ${method.dial.option}${turn / MILLION}`;
  else if (turn !== null) {
    const totals = site.totals[method.name], kept = sampleKept(method.name);
    const favor = Object.keys(totals).reduce((a, b) => (Math.abs(totals[b] - kept) < Math.abs(totals[a] - kept) ? b : a));
    if (favor !== "own") options += ` --favor ${favor}`;
    remark = `No option sets one cut for all pages; this is the nearest: it keeps ${percent(totals[favor], site.words)} ` +
      `of the sample's words, this cut ${percent(kept, site.words)}.`;
  }
  pane.command.textContent = index.command + options;
  const note = page.methods[pane.method].note;
  pane.nearest.textContent = [remark, note ? `Note: ${note}.` : ""].filter(Boolean).join(" ");
}

function compare() {
  const box = $("differ");
  box.replaceChildren();
  let blocks = 0, words = 0;
  for (let r = 0; r < page.words.length; r++) {
    const is = differs(r);
    for (const pane of panes) {
      if (Boolean(pane.differing[r]) === is) continue;
      pane.differing[r] = is ? 1 : 0;
      pane.class(r, "differs", is);
    }
    if (is) { blocks += 1; words += page.words[r]; }
  }
  if (shownPanes().length < 2) return;
  if (!blocks) {
    box.append("A and B keep the same words.");
    return;
  }
  box.append(`A and B differ on ${plural(blocks, "block", "blocks")}, ${plural(words, "word", "words")}.`);
  const next = make("button", "quiet", "Next difference");
  next.type = "button";
  next.addEventListener("click", () => step(1, differs));
  box.append(next);
}

function legend() {
  const [first] = shownPanes();
  const gone = [...first.totals].filter(([state]) => state !== "kept" && state !== "hidden");
  const removed = gone.reduce((sum, [, words]) => sum + words, 0);
  const summary = $("legend-sum");
  summary.replaceChildren("Legend: ", make("b", "", count(first.totals.get("kept") ?? 0)), " words kept, ", make("b", "", count(removed)), " removed");
  if (gone.length > 1) summary.append(` as ${gone.length} kinds`);
  const box = $("legend"), active = document.activeElement?.dataset?.category;
  box.replaceChildren();
  for (const category of categories) {
    const words = shownPanes().map((pane) => pane.totals.get(category.id) ?? 0);
    const isThere = shownPanes().some((pane) => pane.totals.has(category.id));
    if (!isThere && !["kept", "removed"].includes(category.id)) continue;
    const chip = make("label", "chip"), toggle = make("input");
    toggle.type = "checkbox";
    toggle.checked = !off.has(category.id);
    toggle.dataset.category = category.id;
    toggle.addEventListener("change", () => {
      if (toggle.checked) off.delete(category.id); else off.add(category.id);
      refresh();
    });
    chip.title = category.about;
    chip.append(toggle, swatch(category, category.sign), make("span", "", category.label));
    chip.append(make("small", "", words.map(count).join(" · ")));
    box.append(chip);
    if (active === category.id) toggle.focus();
  }
}

async function copyText(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } catch {
    getSelection().selectAllChildren(code);  // the person can copy it by hand
  }
}
