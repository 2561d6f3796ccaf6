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
    if (this.number === 1) this.choice.append(new Option("no second method", ""));
    this.choice.addEventListener("change", () => choose(this, this.choice.value));
    this.counts = make("p", "counts");
        this.dialRow = make("div");
    const line = make("div", "line"), unfold = make("button", "quiet", "Command");
    line.id = "line-" + this.letter.toLowerCase();
    line.hidden = true;
    unfold.type = "button";
    unfold.setAttribute("aria-controls", line.id);
    unfold.setAttribute("aria-expanded", "false");
    unfold.addEventListener("click", () => {
      line.hidden = !line.hidden;
      unfold.setAttribute("aria-expanded", String(!line.hidden));
    });
    this.command = make("code");
    this.command.tabIndex = 0;
    const copy = make("button", "", "Copy");
    copy.type = "button";
    copy.setAttribute("aria-label", `Copy the command line of ${this.letter}`);
    copy.addEventListener("click", () => copyText(this.command, copy));
    line.append(this.command, copy);
    top.append(this.choice, unfold, this.counts);
    this.nearest = make("p", "nearest");
    head.append(top, this.dialRow, line, this.nearest);

    this.viewport = make("div", "viewport");
    this.viewport.id = "view-" + this.letter.toLowerCase();
    this.viewport.tabIndex = 0;
    this.viewport.setAttribute("role", "group");
    this.viewport.setAttribute("aria-label", `The page with the decisions of ${this.letter}; j and k go from block to block`);
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
    this.differing = new Uint8Array(page.words.length);
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
    for (const table of made.querySelectorAll("table")) {  // only where whole words do not fit may they break
      table.classList.toggle("wide", table.getBoundingClientRect().right > made.documentElement.clientWidth);
    }
  }

  mark() {
    if (!this.method) return;
    const keeps = keeper(this.method), words = page.methods[this.method].words ?? page.words;
    let before = "", kept = 0;
    this.totals = new Map();
    for (let r = 0; r < this.spans.length; r++) {
      const state = categoryOf(this.method, keeps, r);
      this.totals.set(state, (this.totals.get(state) ?? 0) + page.words[r]);
      if (state === "kept") kept += words[r];
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

  // Scroll to the first block that the method keeps, so that a page opens at its content and not at its menu.
  openAtContent() {
    const first = this.spans.findIndex((spans, r) => spans.length && !spans[0].hidden && this.stateOf(r) === "kept");
    this.viewport.scrollTop = first < 0 ? 0 : Math.max(this.spans[first][0].getBoundingClientRect().top - 24, 0);
  }

  reveal(r) {
    const span = this.spans[r]?.[0];
    if (!span || span.hidden || this.viewport.clientWidth === 0) return;
    const top = span.getBoundingClientRect().top;
    if (top < this.viewport.scrollTop + 30 || top > this.viewport.scrollTop + this.viewport.clientHeight - 60) {
      this.viewport.scrollTop = top - this.viewport.clientHeight / 3;
    }
  }
}

function paint(span, state, isFirst, isHidden) {
  const category = categoryNamed.get(state);
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
