// The viewer of a report. What pages say reaches the document only through textContent and createTextNode, inside
// sandboxed frames that run no script; nothing here reads HTML from the data, and nothing is asked of any network.
"use strict";
(() => {
  const MILLION = 1e6;
  const CLOSE = -1, NEXT_REGION = -2, BLANK = -3;
  const ROWS_AT_ONCE = 200;
  const FAMILY_HUE = { fixed: 215, service: 280, navigation: 32, posts: 175, content: 140 };
  const HUE_STEP = 11;
  const FRAME_POLICY = "default-src 'none'; style-src 'unsafe-inline'";

  const $ = (id) => document.getElementById(id);
  const make = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const count = (n) => n.toLocaleString("en");
  const percent = (part, whole) => (whole ? Math.round((100 * part) / whole) : 0) + " %";
  const shown = (turn) => (turn / MILLION).toFixed(3);
  const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

  async function unpack(id) {
    const packed = atob($(id).textContent);
    const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }

  let index = null;      // what the report is about
  let site = null;       // the site at hand, of index.sites
  let page = null;       // the page at hand, unpacked
  let tree = null;       // the tree of the site at hand, unpacked
  let siteNumber = 0, pageNumber = -1;
  let held = -1, pointed = -1;
  let categories = [];   // kept, removed, the kinds, hidden
  const turned = new Map();  // "site method" -> where a dial was turned to: millionths, or the name of a favour
  const off = new Set(["hidden"]);
  const panes = [];

  // Where the dials stand

  const methodNamed = (name) => index.methods.find((method) => method.name === name);
  const turnKey = (name) => `${siteNumber} ${name}`;
  const turnOf = (name) => turned.get(turnKey(name)) ?? null;

  function standsAt(name) {
    const said = page.methods[name], turn = turnOf(name);
    if (turn === null) return said.own;
    return typeof turn === "string" ? said.favored[turn] : turn;
  }

  function keeper(name) {
    const said = page.methods[name], turn = standsAt(name), dial = methodNamed(name).dial;
    if (turn === null) return () => false;
    return dial && dial.more ? (r) => turn > said.limit[r] : (r) => turn <= said.limit[r];
  }

  function categoryOf(name, keeps, r) {
    if (keeps(r)) return "kept";
    if (page.isHidden[r]) return "hidden";
    const kind = page.methods[name].kind[r];
    return kind ? "kind-" + kind : "removed";
  }

  // The page in its two frames

  class Pane {
    constructor(number) {
      this.number = number;
      this.letter = "AB"[number];
      this.method = null;
      this.states = [];
      this.spans = [];
      this.root = document.querySelector(`[data-pane="${number}"]`);
      this.build();
    }

    build() {
      const head = make("div", "pane-head");
      const top = make("div", "pane-top");
      top.append(make("span", "letter", this.letter));
      this.choice = make("select");
      this.choice.setAttribute("aria-label", `Method ${this.letter}`);
      for (const method of index.methods) this.choice.append(new Option(method.name, method.name));
      if (this.number === 1) this.choice.append(new Option("nothing beside", ""));
      this.choice.addEventListener("change", () => choose(this, this.choice.value));
      this.counts = make("p", "counts");
      top.append(this.choice, this.counts);
      this.dialRow = make("div");
      const line = make("div", "line");
      this.command = make("code");
      this.command.tabIndex = 0;
      const copy = make("button", "", "Copy");
      copy.type = "button";
      copy.setAttribute("aria-label", `Copy the command line of ${this.letter}`);
      copy.addEventListener("click", () => copyText(this.command, copy));
      line.append(this.command, copy);
      this.nearest = make("p", "nearest");
      head.append(top, this.dialRow, line, this.nearest);

      this.viewport = make("div", "viewport");
      this.viewport.id = "view-" + this.letter.toLowerCase();
      this.viewport.tabIndex = 0;
      this.viewport.setAttribute("role", "group");
      this.viewport.setAttribute("aria-label", `The page as ${this.letter} judges it; j and k go from block to block`);
      this.frame = make("iframe");
      this.frame.setAttribute("sandbox", "allow-same-origin");  // no allow-scripts: nothing in it ever runs
      this.frame.title = `The page, method ${this.letter}`;
      this.frame.tabIndex = -1;
      this.ready = new Promise((done) => this.frame.addEventListener("load", done, { once: true }));
      this.frame.srcdoc = '<!DOCTYPE html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" ' +
        `content="${FRAME_POLICY}"><style>${$("frame-style").textContent}</style></head><body></body></html>`;
      this.viewport.append(this.frame);
      this.viewport.addEventListener("pointermove", (event) => point(this.regionAt(event)));
      this.viewport.addEventListener("pointerleave", () => point(-1));
      this.viewport.addEventListener("click", (event) => hold(this.regionAt(event), this));
      this.viewport.addEventListener("scroll", () => scrollAlong(this), { passive: true });
      this.root.replaceChildren(head, this.viewport);
      new ResizeObserver(() => this.fit()).observe(this.viewport);
    }

    regionAt(event) {
      const box = this.frame.getBoundingClientRect();
      const under = this.frame.contentDocument.elementFromPoint(event.clientX - box.left, event.clientY - box.top);
      const region = under && under.closest("[data-r]");
      return region ? Number(region.dataset.r) : -1;
    }

    fit() {
      const page = this.frame.contentDocument?.documentElement;
      if (!page || this.viewport.clientWidth === 0) return;
      const height = Math.ceil(page.getBoundingClientRect().height);
      if (this.frame.style.height !== height + "px") this.frame.style.height = height + "px";
    }

    draw() {
      const made = this.frame.contentDocument;
      const root = made.createElement("div");
      this.spans = page.words.map(() => []);
      this.states = [];
      let at = root, region = -1;
      for (const token of page.tokens) {
        if (typeof token === "string") {
          if (at.className === "image" || region < 0) {
            at.append(made.createTextNode(token));
            continue;
          }
          const span = made.createElement("span");
          span.className = "r";
          span.dataset.r = region;
          span.append(made.createTextNode(token));
          this.spans[region].push(span);
          at.append(span);
        } else if (token === CLOSE) {
          at = at.parentNode ?? root;
        } else if (token === NEXT_REGION) {
          region += 1;
        } else if (token === BLANK) {
          at.append(made.createTextNode(" "));
        } else {
          const name = index.tags[token];
          const box = made.createElement({ a: "span", image: "span", menu: "ul" }[name] ?? name);
          if (name === "a") box.className = "link";
          if (name === "image" || name === "menu") box.className = name;
          at.append(box);
          at = box;
        }
      }
      if (/^[A-Za-z0-9-]{2,35}$/.test(page.language)) made.documentElement.lang = page.language;
      made.body.replaceChildren(root);
    }

    mark() {
      if (!this.method) return;
      const keeps = keeper(this.method);
      let before = "", kept = 0;
      this.totals = new Map();
      for (let r = 0; r < this.spans.length; r++) {
        const state = categoryOf(this.method, keeps, r);
        this.totals.set(state, (this.totals.get(state) ?? 0) + page.words[r]);
        if (state === "kept") kept += page.words[r];
        const isHidden = off.has(state);
        const key = `${state} ${before === state} ${isHidden}`;
        if (this.states[r] !== key) {
          this.states[r] = key;
          this.spans[r].forEach((span, k) => paint(span, state, k === 0 && before !== state, isHidden));
        }
        if (!isHidden) before = state;
      }
      this.kept = kept;
      this.fit();
    }

    stateOf(r) {
      return this.states[r]?.split(" ")[0];
    }

    class(r, name, is) {
      for (const span of this.spans[r] ?? []) span.classList.toggle(name, is);
    }

    reveal(r) {
      const span = this.spans[r]?.[0];
      if (!span || span.hidden || this.viewport.clientWidth === 0) return;
      const top = span.getBoundingClientRect().top;
      if (isNarrow()) {
        const y = this.frame.getBoundingClientRect().top + top;
        if (y < 90 || y > innerHeight * 0.5) scrollBy({ top: y - innerHeight * 0.3 });
      } else if (top < this.viewport.scrollTop + 30 || top > this.viewport.scrollTop + this.viewport.clientHeight - 60) {
        this.viewport.scrollTop = top - this.viewport.clientHeight / 3;
      }
    }
  }

  function paint(span, state, isFirst, isHidden) {
    const category = categories.find((one) => one.id === state);
    span.dataset.k = state;
    span.hidden = isHidden;
    if (state === "kept") delete span.dataset.f; else span.dataset.f = category.family;
    if (category.hue === undefined) delete span.dataset.h; else {
      span.dataset.h = "";
      span.style.setProperty("--h", category.hue);
    }
    if (isFirst && category.sign && state.startsWith("kind-")) span.dataset.s = category.sign; else delete span.dataset.s;
  }

  const isNarrow = () => matchMedia("(max-width: 900px)").matches;
  let scrolling = null;

  function scrollAlong(pane) {
    if (scrolling && scrolling !== pane) return;
    scrolling = pane;
    const other = panes[1 - pane.number];
    const far = pane.viewport.scrollHeight - pane.viewport.clientHeight;
    const otherFar = other.viewport.scrollHeight - other.viewport.clientHeight;
    if (far > 0 && otherFar > 0) other.viewport.scrollTop = (pane.viewport.scrollTop / far) * otherFar;
    clearTimeout(scrollAlong.timer);
    scrollAlong.timer = setTimeout(() => { scrolling = null; }, 80);
  }

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
    const category = categories.find((one) => one.id === categoryOf(pane.method, keeper(pane.method), r));
    const reason = index.reasons[isKept ? said.kept[r] : said.gone[r]];
    const numbers = [];
    if (said.score[r] !== null) numbers.push(`score ${said.score[r].toFixed(3)}`);
    const limit = said.limit[r], dial = method.dial;
    if (dial && limit >= 0 && limit <= MILLION) {
      numbers.push(dial.more ? `goes at a ${dial.name} of ${shown(limit)} or less` : `stays up to a ${dial.name} of ${shown(limit)}`);
    } else if (dial) {
      numbers.push(isKept ? "stays at every turn of the dial" : "goes at every turn of the dial");
    }
    return { isKept, category, reason, numbers: numbers.join(" · ") };
  }

  function tell() {
    const box = $("detail"), r = pointed >= 0 ? pointed : held;
    box.classList.toggle("empty", r < 0);
    if (!page || r < 0) {
      box.replaceChildren(make("p", "idle", "Point at a block, or press j, to read why it stayed or went. Press ? for all keys."));
      return;
    }
    const left = make("div"), right = make("div");
    left.append(make("p", "quote", textOf(r)));
    const path = make("p", "mono", xpathOf(r));
    path.title = xpathOf(r);
    const place = make("p", "place");
    place.append(make("span", "", plural(page.words[r], "word", "words")));
    place.append(make("span", "", `on ${count(page.pages[r])} of ${plural(site.learned, "page", "pages")} (${percent(page.pages[r], site.learned)})`));
    if (page.element[r] >= 0) {
      const find = make("button", "quiet", "show in the site tree");
      find.type = "button";
      find.addEventListener("click", () => findInTree(page.element[r]));
      place.append(find);
    }
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

  // Marks, counts, command lines

  function refresh() {
    if (!page) return;
    for (const pane of shownPanes()) {
      pane.mark();
      count_(pane);
      command(pane);
    }
    compare();
    legend();
    tell();
  }

  function count_(pane) {
    const listed = site.pages[pageNumber];
    const strong = make("strong", "", `${count(pane.kept)} of ${count(listed.words)}`);
    const sample = sampleKept(pane.method);
    const small = make("small", "", `words kept, ${percent(pane.kept, listed.words)} · sample ${percent(sample, site.words)}`);
    small.title = `${count(sample)} of ${count(site.words)} words of the ${site.pages.length} sample pages`;
    pane.counts.replaceChildren(strong, small);
  }

  function sampleKept(name) {
    const turn = turnOf(name), totals = site.totals[name];
    if (turn === null) return totals.own;
    return typeof turn === "string" ? totals[turn] : site.curves[name][Math.round((turn / MILLION) * index.steps)];
  }

  function command(pane) {
    const method = methodNamed(pane.method), turn = turnOf(pane.method);
    let options = ` -o clean.jsonl --method ${method.name}`, remark = "";
    if (typeof turn === "string") options += ` --favor ${turn}`;
    else if (turn !== null && method.dial.option) options += ` ${method.dial.option} ${turn / MILLION}`;
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
    if (shownPanes().length < 2) return;
    let blocks = 0, words = 0;
    for (let r = 0; r < page.words.length; r++) {
      const is = differs(r);
      for (const pane of panes) pane.class(r, "differs", is);
      if (is) { blocks += 1; words += page.words[r]; }
    }
    if (!blocks) {
      box.append("A and B keep the same.");
      return;
    }
    box.append(`A and B differ on ${plural(blocks, "block", "blocks")}, ${plural(words, "word", "words")}.`);
    const next = make("button", "quiet", "Next difference");
    next.type = "button";
    next.addEventListener("click", () => step(1, differs));
    box.append(next);
  }

  function legend() {
    const box = $("legend"), active = document.activeElement?.dataset?.category;
    box.replaceChildren();
    for (const category of categories) {
      const words = shownPanes().map((pane) => pane.totals.get(category.id) ?? 0);
      const isThere = shownPanes().some((pane) => pane.totals.has(category.id));
      if (!isThere && !["kept", "removed"].includes(category.id)) continue;
      const chip = make("label", "chip"), box_ = make("input");
      box_.type = "checkbox";
      box_.checked = !off.has(category.id);
      box_.dataset.category = category.id;
      box_.addEventListener("change", () => {
        if (box_.checked) off.delete(category.id); else off.add(category.id);
        refresh();
      });
      chip.title = category.about;
      chip.append(box_, swatch(category, category.sign), make("span", "", category.label));
      chip.append(make("small", "", words.map(count).join(" · ")));
      box.append(chip);
      if (active === category.id) box_.focus();
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

  // Dials

  function dialOf(pane) {
    const method = methodNamed(pane.method), dial = method.dial;
    pane.dialRow.replaceChildren();
    if (!dial) {
      pane.dialRow.className = "no-dial";
      pane.dialRow.textContent = `${method.about}; nothing to turn.`;
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

  // Pages and sites

  function listPages() {
    const wanted = $("filter").value.trim().toLowerCase(), name = panes[0].method;
    const rows = [];
    site.pages.forEach((listed, number) => {
      if (wanted && !`${listed.title} ${listed.url}`.toLowerCase().includes(wanted)) return;
      const entry = make("button", "entry");
      entry.type = "button";
      entry.append(make("b", "", listed.title || listed.url || `page ${number + 1}`));
      entry.append(make("span", "where", listed.url.replace(/^[a-z]+:\/\/[^/]*/i, "") || "/"));
      const share = make("span", "share"), meter = make("span", "meter"), bar = make("i");
      bar.style.width = Math.min(100, (100 * listed.kept[name]) / (listed.words || 1)) + "%";
      meter.append(bar);
      share.append(meter, `${percent(listed.kept[name], listed.words)} kept`);
      entry.append(share);
      entry.setAttribute("aria-current", String(number === pageNumber));
      entry.addEventListener("click", () => {
        if (isNarrow()) $("list-fold").open = false;
        openPage(number);
      });
      const row = make("li");
      row.append(entry);
      rows.push(row);
    });
    $("page-list").replaceChildren(...rows);
    $("list-title").textContent = wanted ? `${rows.length} of ${plural(site.pages.length, "page", "pages")}` : `${plural(site.pages.length, "sample page", "sample pages")}`;
    $("list-remark").textContent = site.left_out ? `${plural(site.left_out, "page", "pages")} left out: the report would be too large.` : "";
  }

  let opening = 0;

  async function openPage(number) {
    if (!site.pages.length) return;
    const ticket = ++opening;
    const found = await unpack(`page-${siteNumber}-${number}`);
    if (ticket !== opening) return;
    page = found;
    pageNumber = number;
    page.isHidden = new Uint8Array(page.words.length);
    for (const r of page.hidden) page.isHidden[r] = 1;
    held = pointed = -1;
    const listed = site.pages[number];
    $("page-title").textContent = listed.title || listed.url || `page ${number + 1}`;
    $("page-url").textContent = listed.url;
    const said = Object.values(page.methods).find((one) => one.genre);
    const facts = [plural(listed.words, "word", "words"), plural(page.words.length, "block", "blocks")];
    if (said) facts.push(`reads like ${/^[aeiou]/.test(said.genre) ? "an" : "a"} ${said.genre}`);
    for (const [name, one] of Object.entries(page.methods)) if (one.confidence !== null) facts.push(`${name}: confidence ${one.confidence.toFixed(2)}`);
    if (page.left_out) facts.push(`${count(page.left_out)} more blocks are not shown`);
    $("page-facts").textContent = facts.join(" · ");
    for (const pane of panes) {
      pane.draw();
      pane.viewport.scrollTop = 0;
      if (pane.method) dialOf(pane);
    }
    for (const entry of document.querySelectorAll(".entry[aria-current=true]")) entry.setAttribute("aria-current", "false");
    listPages();
    const current = document.querySelector(".entry[aria-current=true]");
    if (!isNarrow()) current?.scrollIntoView({ block: "nearest" });
    refresh();
  }

  async function openSite(number) {
    siteNumber = number;
    site = index.sites[number];
    tree = null;
    page = null;
    pageNumber = -1;
    $("filter").value = "";
    listPages();
    if (!$("tree-view").hidden) await openTree();
    await openPage(0);
  }

  // The tree

  const signOf = (e) => {
    const turn = treeTurn();
    return tree.noisy[e] <= turn ? "noisy" : turn < tree.spotless[e] ? "meaningful" : "mixed";
  };
  const treeTurn = () => turned.get(turnKey("sst")) ?? site.threshold;

  async function openTree() {
    if (tree) return markTree();
    const found = await unpack(`tree-${siteNumber}`);
    tree = found;
    tree.children = new Map();
    tree.parent.forEach((up, e) => {
      if (!tree.children.has(up)) tree.children.set(up, []);
      tree.children.get(up).push(e);
    });
    tree.items = new Map();
    $("tree-title").textContent = `${site.name}: ${plural(tree.parent.length, "element", "elements")} from ${plural(site.learned, "page", "pages")}`;
    $("tree-remark").textContent = tree.left_out > 0 ? `${plural(tree.left_out, "element", "elements")} on the fewest pages are not shown.` : "";
    const roots = tree.children.get(-1) ?? [];
    $("tree").replaceChildren();
    grow($("tree"), roots, 0);
    if (!roots.length) $("tree").append(make("p", "remark", "Nothing was learned of this site: it has too few pages."));
    let rows = 0;
    const opened = [...roots];
    while (opened.length && rows < 40) {
      const e = opened.shift();
      if (signOf(e) === "mixed" || rows < 3) {
        unfold(e, true);
        rows += (tree.children.get(e) ?? []).length;
        opened.push(...(tree.children.get(e) ?? []));
      }
    }
    tree.items.get(roots[0])?.setAttribute("tabindex", "0");
    markTree();
  }

  function grow(box, elements, level, from = 0) {
    elements.slice(from, from + ROWS_AT_ONCE).forEach((e) => box.append(itemOf(e, level)));
    if (elements.length > from + ROWS_AT_ONCE) {
      const more = make("button", "more", `Show ${count(Math.min(ROWS_AT_ONCE, elements.length - from - ROWS_AT_ONCE))} more of ${count(elements.length)}`);
      more.type = "button";
      more.addEventListener("click", () => {
        more.remove();
        grow(box, elements, level, from + ROWS_AT_ONCE);
        markTree();
      });
      box.append(more);
    }
  }

  function itemOf(e, level) {
    const item = make("div", "tree-item"), row = make("div", "tree-row"), name = make("div", "name");
    const inside = tree.children.get(e) ?? [];
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", level + 1);
    item.tabIndex = -1;
    item.dataset.e = e;
    row.style.setProperty("--level", level);
    name.append(make("span", "twisty", inside.length ? "▸" : ""), make("span", "sign"), make("code", "", tree.label[e]));
    name.title = tree.label[e];
    if (inside.length) {
      item.setAttribute("aria-expanded", "false");
      row.addEventListener("click", () => unfold(e, item.getAttribute("aria-expanded") !== "true"));
    }
    const importance = make("div", "importance"), meter = make("span", "meter"), bar = make("i"), mark = make("u");
    bar.style.width = tree.importance[e] / 1e4 + "%";
    meter.append(bar, mark);
    importance.append((tree.importance[e] / MILLION).toFixed(3), meter);
    const says = make("div", "says");
    const texts = tree.says[e];
    if (texts.length) {
      says.append(make("b", "", texts.length === 1 && tree.seen[e] > 1 ? "repeats" : texts.length > 1 ? "varies" : "once"));
      says.append(texts.join(" | "));
      says.title = texts.join("\n");
    } else if (inside.length && tree.pages[e] > 1) {
      says.append(tree.styles[e] > 1 ? `filled in ${count(tree.styles[e])} ways` : "always filled the same way");
    }
    row.append(name, importance, make("div", "on-pages", `${count(tree.pages[e])} / ${count(site.learned)}`), says);
    item.append(row);
    tree.items.set(e, item);
    return item;
  }

  function unfold(e, isOpen) {
    const item = tree.items.get(e), inside = tree.children.get(e);
    if (!item || !inside) return;
    item.setAttribute("aria-expanded", String(isOpen));
    item.querySelector(".twisty").textContent = isOpen ? "▾" : "▸";
    let box = item.querySelector(":scope > [role=group]");
    if (!box && isOpen) {
      box = make("div");
      box.setAttribute("role", "group");
      item.append(box);
      grow(box, inside, Number(item.getAttribute("aria-level")));
      markTree();
    }
    if (box) box.hidden = !isOpen;
  }

  function markTree() {
    if (!tree) return;
    const turn = treeTurn(), names = { noisy: "−", meaningful: "+", mixed: "~" };
    $("tree-dial").value = Math.round((turn / MILLION) * index.steps);
    $("tree-turn").textContent = shown(turn);
    $("tree-own").setAttribute("aria-pressed", String(!turned.has(turnKey("sst"))));
    $("tree").style.setProperty("--turn", turn / 1e4 + "%");
    for (const [e, item] of tree.items) {
      const sign = signOf(e), box = item.firstChild.querySelector(".sign");
      if (box.textContent !== names[sign]) {
        box.textContent = names[sign];
        box.className = "sign " + sign;
      }
      item.firstChild.querySelector("u").style.left = turn / 1e4 + "%";
    }
  }

  async function findInTree(e) {
    await showView("tree");
    const way = [];
    for (let at = e; at >= 0; at = tree.parent[at]) way.unshift(at);
    for (const at of way) {
      if (!tree.items.has(at)) {
        const box = tree.items.get(tree.parent[at])?.querySelector(":scope > [role=group]");
        while (box && !tree.items.has(at) && box.querySelector(":scope > .more")) box.querySelector(":scope > .more").click();
      }
      if (at !== e) unfold(at, true);
    }
    document.querySelector(".tree-item.found")?.classList.remove("found");
    const item = tree.items.get(e);
    item?.classList.add("found");
    focusItem(item);
  }

  function focusItem(item) {
    if (!item) return;
    $("tree").querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    item.tabIndex = 0;
    item.focus({ preventScroll: true });
    item.firstChild.scrollIntoView({ block: "nearest" });
  }

  function treeKey(event) {
    const item = event.target.closest(".tree-item");
    if (!item) return;
    const visible = [...$("tree").querySelectorAll(".tree-item")].filter((one) => one.offsetParent);
    const at = visible.indexOf(item), e = Number(item.dataset.e), isOpen = item.getAttribute("aria-expanded");
    const to = {
      ArrowDown: () => focusItem(visible[at + 1]),
      ArrowUp: () => focusItem(visible[at - 1]),
      Home: () => focusItem(visible[0]),
      End: () => focusItem(visible.at(-1)),
      ArrowRight: () => (isOpen === "false" ? unfold(e, true) : isOpen === "true" && focusItem(visible[at + 1])),
      ArrowLeft: () => (isOpen === "true" ? unfold(e, false) : focusItem(tree.items.get(tree.parent[e]))),
      Enter: () => isOpen && unfold(e, isOpen !== "true"),
      " ": () => isOpen && unfold(e, isOpen !== "true"),
    }[event.key];
    if (to) {
      event.preventDefault();
      event.stopPropagation();
      to();
    }
  }

  async function showView(name) {
    const isTree = name === "tree";
    $("tree-view").hidden = !isTree;
    $("pages-view").hidden = isTree;
    $("show-tree").setAttribute("aria-pressed", String(isTree));
    $("show-pages").setAttribute("aria-pressed", String(!isTree));
    if (isTree) await openTree();
    else for (const pane of panes) pane.fit();
  }

  // Keys, theme, start

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    const tag = event.target.tagName, type = event.target.type;
    if (event.key === "Escape") return hold(-1);
    if (tag === "SELECT" || tag === "TEXTAREA" || (tag === "INPUT" && type === "search")) return;
    const onPages = $("tree-view").hidden && page;
    const inPage = event.target.closest?.(".viewport");
    const to = {
      "?": () => $("help").showModal(),
      t: () => (onPages ? (held >= 0 && page.element[held] >= 0 ? findInTree(page.element[held]) : showView("tree")) : showView("pages")),
      "/": () => onPages && ($("list-fold").open = true, $("filter").focus()),
      j: () => onPages && step(1),
      k: () => onPages && step(-1),
      d: () => onPages && step(1, differs),
      D: () => onPages && step(-1, differs),
      r: () => onPages && step(1, isRemoved),
      R: () => onPages && step(-1, isRemoved),
      n: () => onPages && pageNumber + 1 < site.pages.length && openPage(pageNumber + 1),
      p: () => onPages && pageNumber > 0 && openPage(pageNumber - 1),
      1: () => onPages && (showSide(0), $("dial-a")?.focus()),
      2: () => onPages && panes[1].method && (showSide(1), $("dial-b")?.focus()),
      ArrowDown: inPage && (() => step(1)),
      ArrowUp: inPage && (() => step(-1)),
    }[event.key];
    if (to) {
      event.preventDefault();
      to();
    }
  }

  const THEMES = ["auto", "light", "dark"];
  let theme = 0;

  function dress() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const worn = THEMES[theme] === "auto" ? (dark ? "dark" : "light") : THEMES[theme];
    document.documentElement.dataset.theme = worn;
    $("theme").textContent = `Theme: ${THEMES[theme]}`;
    for (const pane of panes) if (pane.frame.contentDocument) pane.frame.contentDocument.documentElement.dataset.theme = worn;
  }

  function sortsOf() {
    const seen = {};
    const kinds = index.kinds.map((kind, code) => {
      const number = (seen[kind.family] = (seen[kind.family] ?? -1) + 1);
      return { id: "kind-" + code, label: kind.name.replace(/-/g, " "), family: kind.family, about: kind.about, sign: kind.sign,
        hue: FAMILY_HUE[kind.family] + number * HUE_STEP - 15 };
    });
    return [
      { id: "kept", label: "Kept", sign: "✓", about: "stays in the clean page" },
      { id: "removed", label: "Removed", sign: "×", family: "removed", about: "goes; its kind is not known" },
      ...kinds.slice(1),
      { id: "hidden", label: "Hidden", sign: "H", family: "hidden", about: "goes; browsers do not show it" },
    ];
  }

  async function start() {
    dress();
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old to unpack the report (it lacks DecompressionStream)");
    index = await unpack("index");
    categories = sortsOf();
    index.sites.forEach((one, number) => $("site").append(new Option(`${one.name} (${one.pages.length})`, number)));
    panes.push(new Pane(0), new Pane(1));
    $("pages-view").hidden = false;
    await Promise.all(panes.map((pane) => pane.ready));
    dress();
    const names = index.methods.map((method) => method.name);
    site = index.sites[0];
    showSide(0);
    choose(panes[0], names[0]);
    choose(panes[1], names[1] ?? "");
    $("list-fold").open = !isNarrow();

    $("site").addEventListener("change", () => openSite(Number($("site").value)));
    $("filter").addEventListener("input", listPages);
    $("show-pages").addEventListener("click", () => showView("pages"));
    $("show-tree").addEventListener("click", () => showView("tree"));
    $("tree-dial").addEventListener("input", () => turnTo("sst", (Number($("tree-dial").value) * MILLION) / index.steps));
    $("tree-own").addEventListener("click", () => turnTo("sst", null));
    $("tree").addEventListener("keydown", treeKey);
    $("theme").addEventListener("click", () => { theme = (theme + 1) % THEMES.length; dress(); });
    $("help-open").addEventListener("click", () => $("help").showModal());
    document.querySelectorAll("[data-side]").forEach((button) => button.addEventListener("click", () => showSide(Number(button.dataset.side))));
    document.addEventListener("keydown", key);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
    tell();
    await openSite(0);
    document.documentElement.dataset.ready = Math.round(performance.now());
  }

  start().catch((error) => {
    $("trouble").textContent = `The report cannot be shown: ${error.message}`;
    $("trouble").hidden = false;
  });
})();
