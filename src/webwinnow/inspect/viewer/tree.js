// The tree

const signOf = (e) => {
  const turn = treeTurn();
  return tree.noisy[e] <= turn ? "noisy" : turn < tree.spotless[e] ? "meaningful" : "mixed";
};
const treeTurn = () => turned.get(turnKey(site.tree)) ?? site.threshold;

// Elements on fewer pages than `least` are left aside: what one page alone has hides what the site is like.
let least = 1;
const inside = (e) => (tree.children.get(e) ?? []).filter((child) => tree.pages[child] >= least);

async function openTree() {
  if (tree) return markTree();
  tree = await unpack(`tree-${siteNumber}`);
  tree.children = new Map();
  tree.parent.forEach((up, e) => {
    if (!tree.children.has(up)) tree.children.set(up, []);
    tree.children.get(up).push(e);
  });
  $("tree-title").textContent = `${site.name}: ${plural(tree.parent.length, "element", "elements")} from ${plural(site.learned, "page", "pages")}`;
  $("tree-remark").textContent = tree.left_out > 0 ? `${plural(tree.left_out, "element", "elements")} on the fewest pages are not shown.` : "";
  const choices = [...new Set([1, 2, Math.ceil(site.learned / 10), Math.ceil(site.learned / 2)])].filter((pages) => pages <= site.learned);
  $("tree-least").replaceChildren(...choices.sort((a, b) => a - b).map((pages) => new Option(plural(pages, "page", "pages"), pages)));
  least = site.learned > 2 ? 2 : 1;
  drawTree();
}

function drawTree() {
  $("tree-least").value = least;
  tree.items = new Map();
  const roots = inside(-1);
  $("tree").replaceChildren();
  grow($("tree"), roots, 0);
  if (!roots.length) $("tree").append(make("p", "remark", "Nothing was learned about this site: it has too few pages."));
  let rows = 0;
  const opened = [...roots];
  while (opened.length && rows < ROWS_OPEN) {
    const e = opened.shift();
    if (signOf(e) === "mixed" || rows < 3) {
      unfold(e, true);
      rows += inside(e).length;
      opened.push(...inside(e));
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
  const below = inside(e);
  item.setAttribute("role", "treeitem");
  item.setAttribute("aria-level", level + 1);
  item.tabIndex = -1;
  item.dataset.e = e;
  row.style.setProperty("--level", level);
  name.append(make("span", "twisty", below.length ? "▸" : ""), make("span", "sign"), make("code", "", tree.label[e]));
  name.title = tree.label[e];
  if (below.length) {
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
  } else if (tree.children.has(e) && tree.pages[e] > 1) {
    says.append(tree.styles[e] > 1 ? `${count(tree.styles[e])} different structures` : "always the same structure");
  }
  row.append(name, importance, make("div", "on-pages", `${count(tree.pages[e])} / ${count(site.learned)}`), says);
  item.append(row);
  tree.items.set(e, item);
  return item;
}

function unfold(e, isOpen) {
  const item = tree.items.get(e), below = inside(e);
  if (!item || !below.length) return;
  item.setAttribute("aria-expanded", String(isOpen));
  item.querySelector(".twisty").textContent = isOpen ? "▾" : "▸";
  let box = item.querySelector(":scope > [role=group]");
  if (!box && isOpen) {
    box = make("div");
    box.setAttribute("role", "group");
    item.append(box);
    grow(box, below, Number(item.getAttribute("aria-level")));
    markTree();
  }
  if (box) box.hidden = !isOpen;
}

function markTree() {
  if (!tree) return;
  const turn = treeTurn(), names = { noisy: "−", meaningful: "+", mixed: "~" };
  $("tree-dial").value = Math.round((turn / MILLION) * index.steps);
  $("tree-turn").textContent = shown(turn);
  $("tree-own").setAttribute("aria-pressed", String(!turned.has(turnKey(site.tree))));
  $("tree").style.setProperty("--turn", turn / 1e4 + "%");
  for (const [e, item] of tree.items) {
    const sign = signOf(e), box = item.firstChild.querySelector(".sign");
    if (box.textContent !== names[sign]) {
      box.textContent = names[sign];
      box.className = "sign " + sign;
      item.firstChild.dataset.sign = sign;
    }
    item.firstChild.querySelector("u").style.left = turn / 1e4 + "%";
  }
}

async function findInTree(e) {
  await showView("tree");
  const way = [];
  for (let at = e; at >= 0; at = tree.parent[at]) way.unshift(at);
  if (tree.pages[e] < least) {
    least = 1;
    drawTree();
  }
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
