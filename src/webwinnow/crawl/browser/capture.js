// Runs in a world of its own: the page's scripts cannot change these prototypes. Methods are taken from prototypes all
// the same, because a form with <input name=setAttribute> hides its own. Returns the page and its layout as one object.
(({maxElements, maxHtml, maxSamples, maxSteps, text}) => {
  const own = (type, name) => { const method = type.prototype[name]; return (node, ...given) => method.apply(node, given); };
  const getter = (type, name) => { const {get} = Object.getOwnPropertyDescriptor(type.prototype, name); return node => get.call(node); };
  const setAttribute = own(Element, "setAttribute"), getAttribute = own(Element, "getAttribute");
  const removeAttribute = own(Element, "removeAttribute"), boxOf = own(Element, "getBoundingClientRect");
  const isSeen = own(Element, "checkVisibility"), htmlOf = own(Element, "getHTML"), clone = own(Node, "cloneNode");
  const contains = own(Node, "contains"), rootOf = own(Node, "getRootNode"), query = own(Document, "querySelectorAll");
  const first = getter(Node, "firstChild"), next = getter(Node, "nextSibling"), kind = getter(Node, "nodeType");
  const value = getter(Node, "nodeValue"), shadow = getter(Element, "shadowRoot"), tag = getter(Element, "localName");
  const bodyOf = getter(Document, "body"), rootElement = getter(Document, "documentElement"), headOf = getter(Document, "head");
  const setText = Object.getOwnPropertyDescriptor(Node.prototype, "textContent").set;
  const atPoint = own(Document, "elementFromPoint"), modeOf = getter(Document, "compatMode"), baseOf = getter(Node, "baseURI");
  const host = getter(ShadowRoot, "host");

  const positions = ["static", "relative", "absolute", "fixed", "sticky"];
  const displays = ["none", "inline", "block", "inline-block", "list-item", "flex", "grid", "table"];
  const names = ["left", "top", "width", "height", "flags", "font_size", "font_weight", "colour", "background", "position", "display", "covered"];
  const columns = Object.fromEntries(names.map(name => [name, []]));
  const body = bodyOf(document), root = rootElement(document);
  if (!body || tag(body) !== "body") return {failed: "it has no body"};
  if (query(document, "*").length > maxElements) return {failed: `it has more than ${maxElements} elements`};

  const pixel = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const colours = new Map();
  const colour = written => {
    if (!colours.has(written)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = "#000";
      pixel.fillStyle = written;
      pixel.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
      colours.set(written, r * 0x1000000 + g * 0x10000 + b * 0x100 + a);
    }
    return colours.get(written);
  };
  const displayOf = written => {
    const code = displays.indexOf(written);
    if (code >= 0) return code;
    if (written.startsWith("table-")) return 8;
    return {"inline-flex": 5, "inline-grid": 6, "inline-table": 7, "flow-root": 2}[written] ?? 9;
  };

  scrollTo({left: 0, top: 0, behavior: "instant"});
  for (const element of query(document, "noscript")) setText.call(element, "");
  for (const element of query(document, "script"))
    if (!(getAttribute(element, "type") || "").toLowerCase().includes("ld+json")) setText.call(element, "");
  const shadows = [], sampled = [], fixed = [];
  const waiting = [[body, false]];
  let count = 0;
  while (waiting.length) {
    const [element, inFixed] = waiting.pop();
    if (++count > maxElements) return {failed: `it has more than ${maxElements} elements`};
    const style = getComputedStyle(element), box = boxOf(element), name = tag(element);
    const isFixed = inFixed || style.position === "fixed";
    if (isFixed && !inFixed) fixed.push(element);
    const children = [];
    let hasText = false;
    for (let child = first(element); child; child = next(child)) {
      if (kind(child) === 1) children.push(child);
      else if (kind(child) === 3 && !hasText && value(child).trim()) hasText = true;
    }
    const visible = isSeen(element, {opacityProperty: true, visibilityProperty: true});
    setAttribute(element, "ww-box", String(count - 1));
    columns.left.push(Math.round(box.left + scrollX));
    columns.top.push(Math.round(box.top + scrollY));
    columns.width.push(Math.round(box.width));
    columns.height.push(Math.round(box.height));
    columns.flags.push(
      visible | hasText << 1 | (style.backgroundImage !== "none") << 2
      | (parseFloat(style.borderTopWidth) + parseFloat(style.borderBottomWidth) + parseFloat(style.borderLeftWidth) + parseFloat(style.borderRightWidth) > 0) << 3
      | (style.fontStyle !== "normal") << 4 | style.textDecorationLine.includes("underline") << 5
      | (style.float !== "none") << 6 | (style.overflowX !== "visible" || style.overflowY !== "visible") << 7);
    columns.font_size.push(Math.round(parseFloat(style.fontSize) * 4));
    columns.font_weight.push(Number(style.fontWeight));
    columns.colour.push(colour(style.color));
    columns.background.push(colour(style.backgroundColor));
    columns.position.push(Math.max(0, positions.indexOf(style.position)));
    columns.display.push(displayOf(style.display));
    columns.covered.push(255);
    if (visible && box.width > 0 && box.height > 0 && sampled.length < maxSamples && (hasText || name === "img" || name === "iframe"))
      sampled.push([element, count - 1, isFixed, box.left, box.top, box.width, box.height]);
    const inside = shadow(element);
    if (inside) {
      shadows.push(inside);
      for (let child = first(inside), at = 0; child; child = next(child))
        if (kind(child) === 1) children.splice(at++, 0, child);
    }
    if (name !== "svg" && name !== "math") for (const child of children.reverse()) waiting.push([child, isFixed]);
  }

  // Which elements are covered: five points of each, when the point is in the middle of the window. Points below a
  // fixed box are not tested: it hides one line after the other.
  const within = (outer, inner) => {
    for (let node = inner; node; ) {
      if (contains(outer, node)) return true;
      const top = rootOf(node);
      node = top instanceof ShadowRoot ? host(top) : null;
    }
    return false;
  };
  const parentOf = getter(Node, "parentNode");
  const drawn = new Set(["img", "video", "canvas", "iframe", "picture", "object", "embed"]);
  const hides = (top, element) => {  // something opaque is drawn there: links and effects over a text are often not
    for (let node = top; node && kind(node) === 1 && !within(node, element); node = parentOf(node)) {
      const style = getComputedStyle(node);
      if (drawn.has(tag(node)) || style.backgroundImage !== "none" || colour(style.backgroundColor) % 256 >= 128) return true;
    }
    return false;
  };
  const spread = [[0.5, 0.5], [0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]];
  const points = sampled.flatMap(([element, row, isFixed, left, top, width, height]) =>
    spread.map(([dx, dy]) => [element, row, isFixed, left + dx * width, top + dy * height]));
  const taken = new Map();
  const take = ([element, row, isFixed], x, y) => {
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return;
    const top = atPoint(document, x, y);
    if (!isFixed && top && fixed.some(box => within(box, top))) return;
    const tally = taken.get(row) || [0, 0];
    tally[0] += 1;
    tally[1] += !!top && !within(element, top) && !within(top, element) && hides(top, element);
    taken.set(row, tally);
  };
  for (const point of points) if (point[2]) take(point, point[3], point[4]);
  const flowing = points.filter(point => !point[2]).sort((one, other) => one[4] - other[4]);
  let at = 0;
  for (let step = 0; step < maxSteps && at < flowing.length; step++) {
    scrollTo({left: 0, top: step * innerHeight / 2, behavior: "instant"});
    const isLast = scrollY + innerHeight >= root.scrollHeight - 1;
    const below = isLast ? Infinity : scrollY + innerHeight * 0.75;
    for (; at < flowing.length && flowing[at][4] < below; at++) take(flowing[at], flowing[at][3] - scrollX, flowing[at][4] - scrollY);
    if (isLast) break;
  }
  scrollTo({left: 0, top: 0, behavior: "instant"});
  for (const [row, [all, over]] of taken) columns.covered[row] = Math.round(100 * over / all);

  const outer = Object.getOwnPropertyDescriptor(Element.prototype, "outerHTML").get.call(clone(root, false));
  let inner = htmlOf(root, {shadowRoots: shadows});
  if (baseOf(document) !== text.url && !query(document, "base").length) {
    const base = document.implementation.createHTMLDocument("").createElement("base");
    setAttribute(base, "href", baseOf(document));
    inner = inner.replace(/<head[^>]*>/, found => found + Object.getOwnPropertyDescriptor(Element.prototype, "outerHTML").get.call(base));
  }
  const html = (modeOf(document) === "CSS1Compat" ? "<!DOCTYPE html>" : "") + outer.replace(/<\/html>$/, "") + inner + "</html>";
  if (html.length > maxHtml) return {failed: `its HTML has more than ${maxHtml} characters`};
  return {html, columns, viewport: [innerWidth, innerHeight], pageSize: [root.scrollWidth, root.scrollHeight]};
})
