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
  $("page-title").title = $("page-title").textContent;
  $("page-url").textContent = $("page-url").title = listed.url;
  const said = Object.values(page.methods).find((one) => one.genre);
  const facts = [plural(listed.words, "word", "words"), plural(page.words.length, "block", "blocks")];
  const article = said?.genre === "documentation" ? "" : /^[aeiou]/.test(said?.genre) ? "an " : "a ";
  if (said) facts.push(`looks like ${article}${said.genre}`);
  for (const [name, one] of Object.entries(page.methods)) if (one.confidence !== null) facts.push(`${name}: confidence ${one.confidence.toFixed(2)}`);
  if (page.left_out) facts.push(`${count(page.left_out)} more blocks are not shown`);
  $("page-facts").textContent = facts.join(" · ");
  for (const pane of panes) {
    pane.draw();
    if (pane.method) dialOf(pane);
  }
  for (const entry of document.querySelectorAll(".entry[aria-current=true]")) entry.setAttribute("aria-current", "false");
  openSeen();
  listPages();
  if (!isNarrow()) reveal(document.querySelector(".entry[aria-current=true]"), document.querySelector(".list"));
  refresh();
  shownPanes()[0]?.openAtContent();
  shownPanes()[1]?.openAtContent();
}

// Not scrollIntoView: some versions of Chromium (150) then continue from here with the tab key, past the links that skip.
function reveal(entry, list) {
  if (!entry) return;
  const inner = entry.getBoundingClientRect(), outer = list.getBoundingClientRect();
  list.scrollTop += Math.min(inner.top - outer.top, 0) || Math.max(inner.bottom - outer.bottom, 0);
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
