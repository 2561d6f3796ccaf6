// The map: zoom by wheel, buttons and keys, pan by dragging. The hierarchy: a slider merges clusters into groups.
(() => {
  const main = document.querySelector("main");
  const svg = document.querySelector(".map svg");
  const cards = [...document.querySelectorAll(".cluster[data-cluster]")];
  const clusters = cards.length;
  let tidy = () => {};
  document.documentElement.classList.toggle("embedded", self !== top);  // the service has the brand in its own header

  if (svg) {
    const whole = svg.viewBox.baseVal;
    const full = [whole.x, whole.y, whole.width, whole.height];
    const deepest = 1 / 40;
    let view = full.slice();
    const show = () => {
      svg.setAttribute("viewBox", view.join(" "));
      svg.style.setProperty("--z", view[2] / full[2]);
      tidy();
    };
    const names = [...svg.querySelectorAll(".name")];  // of the largest cluster first
    names.forEach((label) => { label.dataset.name = label.textContent; });
    const covers = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
    // Names stay inside the map; one that would cover another is shown as its number, or not at all.
    tidy = () => {
      const placed = [];
      names.filter((label) => label.style.visibility !== "hidden").forEach((label) => {
        label.textContent = label.dataset.name;
        label.style.textAnchor = "middle";
        const box = label.getBBox();
        if (box.x < view[0]) label.style.textAnchor = "start";
        if (box.x + box.width > view[0] + view[2]) label.style.textAnchor = "end";
        if (placed.some((other) => covers(label.getBBox(), other))) {
          label.textContent = String(Number(label.dataset.cluster) + 1);
          label.style.textAnchor = "middle";
        }
        if (placed.some((other) => covers(label.getBBox(), other))) label.textContent = "";
        placed.push(label.getBBox());
      });
    };
    tidy();
    const place = (x, y) => {
      const point = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse());
      return [point.x, point.y];
    };
    const zoom = (factor, [x, y]) => {
      const width = Math.min(Math.max(view[2] * factor, full[2] * deepest), full[2]);
      const by = width / view[2];
      view = [x - (x - view[0]) * by, y - (y - view[1]) * by, width, view[3] * by];
      pan(0, 0);
    };
    const pan = (dx, dy) => {
      view[0] = Math.min(Math.max(view[0] + dx, full[0]), full[0] + full[2] - view[2]);
      view[1] = Math.min(Math.max(view[1] + dy, full[1]), full[1] + full[3] - view[3]);
      show();
    };
    const middle = () => [view[0] + view[2] / 2, view[1] + view[3] / 2];
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoom(event.deltaY < 0 ? 0.8 : 1.25, place(event.clientX, event.clientY));
    }, { passive: false });
    let held = null;
    let moved = false;
    svg.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; moved = false; });
    window.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [x, y] = place(event.clientX, event.clientY);
      const [fromX, fromY] = place(...held);
      if (Math.hypot(event.clientX - held[0], event.clientY - held[1]) < 3 && !moved) return;
      moved = true;
      held = [event.clientX, event.clientY];
      pan(fromX - x, fromY - y);
    });
    window.addEventListener("pointerup", () => { held = null; });
    svg.addEventListener("click", (event) => { if (moved) event.preventDefault(); }, true);
    svg.addEventListener("dragstart", (event) => event.preventDefault());
    document.getElementById("nearer").addEventListener("click", () => zoom(0.7, middle()));
    document.getElementById("farther").addEventListener("click", () => zoom(1 / 0.7, middle()));
    document.getElementById("whole").addEventListener("click", () => { view = full.slice(); show(); });
    document.querySelector(".zoom").hidden = false;
  }

  const slider = document.getElementById("groups");
  if (slider) {
    const merges = JSON.parse(main.dataset.merges);
    const sheet = document.styleSheets[0];
    const first = sheet.cssRules.length;
    const names = cards.map((card) => card.querySelector("h2").textContent);
    const colours = cards.map((card) => getComputedStyle(card).getPropertyValue("--c"));
    const labels = new Map([...document.querySelectorAll(".map .name")].map((label) => [Number(label.dataset.cluster), label]));
    const own = new Map([...labels].map(([cluster, label]) => [cluster, label.dataset.name]));
    const cut = (groups) => {
      const group = names.map((_, cluster) => cluster);
      merges.slice(0, clusters - groups).forEach(([one, other], number) => {
        group.forEach((of, cluster) => { if (of === one || of === other) group[cluster] = clusters + number; });
      });
      return group;
    };
    const change = () => {
      const groups = Number(slider.value);
      const group = cut(groups);
      while (sheet.cssRules.length > first) sheet.deleteRule(first);
      const leader = new Map();
      group.forEach((of, cluster) => { if (!leader.has(of)) leader.set(of, cluster); });
      group.forEach((of, cluster) => {
        const lead = leader.get(of);
        const name = of < clusters ? names[cluster] : merges[of - clusters][2];
        if (lead !== cluster) sheet.insertRule(`.c${cluster} { --c: ${colours[lead]}; }`, sheet.cssRules.length);
        const label = labels.get(cluster);
        if (label) {
          label.style.visibility = lead === cluster ? "visible" : "hidden";
          label.dataset.name = of < clusters ? own.get(cluster) : name;
        }
        const shown = cards[cluster].querySelector(".group");
        shown.textContent = of < clusters ? "" : `in the group ${name}`;
      });
      tidy();
      document.getElementById("count").textContent = groups === clusters ? `all ${clusters} clusters` : `${groups} groups`;
    };
    slider.addEventListener("input", change);
    document.querySelector(".cut").hidden = false;
    change();
  }
})();
