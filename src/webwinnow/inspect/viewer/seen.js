// The page as a browser drew it: its screenshot with the regions that method A keeps and removes, and its structures

const seen = { url: null, boxes: [], parts: [], isOn: false };
const PART_NAMES = { table: "Tables", list: "Lists", record: "Records", section: "Sections" };
const partsShown = new Set();

function openSeen() {
  if (seen.url) URL.revokeObjectURL(seen.url);
  seen.url = null;
  seen.boxes = [];
  seen.parts = [];
  $("seen").replaceChildren();
  $("show-seen").hidden = !page.seen;
  if (page.seen) {
    const bytes = Uint8Array.from(atob(page.seen.picture), (c) => c.charCodeAt(0));
    seen.url = URL.createObjectURL(new Blob([bytes], { type: "image/webp" }));
    const picture = make("img");
    picture.alt = "Screenshot of the page";
    picture.src = seen.url;
    picture.addEventListener("load", placeSeen, { once: true });
    $("seen").append(picture);
    for (let r = 0; r < page.words.length; r++) {
      const box = make("i", "seen-box");
      box.dataset.r = r;
      seen.boxes.push(box);
    }
    seen.parts = page.seen.parts.map(([kind, name]) => {
      const box = make("i", "seen-part");
      box.dataset.part = kind;
      box.dataset.name = name;
      return box;
    });
    $("seen").append(...seen.boxes, ...seen.parts);
  }
  offerParts();
  showSeen(seen.isOn);
}

function placeSeen() {
  const picture = $("seen").querySelector("img");
  if (!picture || !picture.naturalWidth) return;
  const high = (page.seen.width * picture.naturalHeight) / picture.naturalWidth;
  const place = (box, [left, top, width, height]) => {
    box.dataset.isOut = String(width <= 0 || height <= 0 || top >= high || left >= page.seen.width);
    box.style.left = (100 * left) / page.seen.width + "%";
    box.style.top = (100 * top) / high + "%";
    box.style.width = (100 * width) / page.seen.width + "%";
    box.style.height = (100 * height) / high + "%";
  };
  seen.boxes.forEach((box, r) => {
    place(box, page.seen.boxes.slice(4 * r, 4 * r + 4));
    box.hidden = box.dataset.isOut === "true";
  });
  seen.parts.forEach((box, k) => place(box, page.seen.parts[k].slice(2)));
  markParts();
}

function markParts() {
  for (const box of seen.parts) box.hidden = !partsShown.has(box.dataset.part) || box.dataset.isOut === "true";
}

function offerParts() {
  const buttons = Object.entries(PART_NAMES).map(([kind, name]) => {
    const found = seen.parts.filter((box) => box.dataset.part === kind).length;
    if (!found) return null;
    const button = make("button", "", `${name} ${count(found)}`);
    button.type = "button";
    button.dataset.part = kind;
    button.setAttribute("aria-pressed", String(partsShown.has(kind)));
    button.addEventListener("click", () => {
      if (partsShown.has(kind)) partsShown.delete(kind); else partsShown.add(kind);
      button.setAttribute("aria-pressed", String(partsShown.has(kind)));
      markParts();
    });
    return button;
  });
  $("seen-parts").replaceChildren(...buttons.filter(Boolean));
  markParts();
}

function markSeen() {
  if (!page?.seen || !panes[0].method) return;
  const keeps = keeper(panes[0].method);
  seen.boxes.forEach((box, r) => {
    box.dataset.k = keeps(r) ? "kept" : "removed";
    box.classList.toggle("held", r === held);
  });
}

function showSeen(isOn) {
  seen.isOn = isOn;
  const isShown = isOn && Boolean(page?.seen);
  $("seen-pane").hidden = !isShown;
  $("panes").classList.toggle("with-seen", isShown);
  $("show-seen").setAttribute("aria-pressed", String(isShown));
  if (isShown) markSeen();
}
