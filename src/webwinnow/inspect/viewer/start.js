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
    s: () => onPages && page.seen && showSeen(!seen.isOn),
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
      hue: FAMILY_HUE[kind.family] + number * HUE_STEP - 18 };
  });
  return [
    { id: "kept", label: "Kept", sign: "✓", about: "is kept in the clean page" },
    { id: "removed", label: "Removed", sign: "×", family: "removed", about: "is removed; its kind is unknown" },
    ...kinds.slice(1),
    { id: "hidden", label: "Hidden", sign: "H", family: "hidden", about: "is removed; browsers do not show it" },
  ];
}

async function start() {
  dress();
  document.documentElement.classList.toggle("embedded", self !== top);  // the service has the brand in its own header
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old to unpack the report (it lacks DecompressionStream)");
  index = await unpack("index");
  categories = sortsOf();
  categoryNamed = new Map(categories.map((category) => [category.id, category]));
  document.querySelector(".site-choice").classList.toggle("single", index.sites.length === 1);
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
  $("tree-dial").addEventListener("input", () => turnTo(site.tree, (Number($("tree-dial").value) * MILLION) / index.steps));
  $("tree-own").addEventListener("click", () => turnTo(site.tree, null));
  $("tree-least").addEventListener("change", () => { least = Number($("tree-least").value); drawTree(); });
  $("tree").addEventListener("keydown", treeKey);
  $("show-seen").addEventListener("click", () => showSeen(!seen.isOn));
  $("seen").addEventListener("click", (event) => event.target.dataset.r && hold(Number(event.target.dataset.r), panes[0]));
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
