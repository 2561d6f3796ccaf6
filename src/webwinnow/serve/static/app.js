"use strict";
// What a server-rendered page cannot do by itself: send a file with its progress, follow a job, and complete a query.
(() => {
  const byId = (id) => document.getElementById(id);
  const trouble = byId("trouble");
  const fail = (words) => { if (trouble) { trouble.textContent = words; trouble.hidden = false; } };
  const told = (text, otherwise) => { try { return JSON.parse(text).error || otherwise; } catch { return otherwise; } };

  const upload = byId("upload");
  if (upload) {
    const file = byId("file"), drop = byId("drop"), sent = byId("sent"), button = upload.querySelector("button");
    for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.remove("over"); });
    drop.addEventListener("drop", (event) => { if (event.dataTransfer.files.length) file.files = event.dataTransfer.files; });
    upload.addEventListener("submit", (event) => {
      event.preventDefault();
      trouble.hidden = true;
      const chosen = file.files[0];
      if (chosen.size > Number(upload.dataset.most)) { fail("The file is longer than this server takes."); return; }
      const asked = new URLSearchParams({ name: chosen.name });
      for (const name of ["method", "site_by", "task"]) asked.set(name, upload.elements[name].value);
      const where = (upload.elements.learn.checked ? "/sites?" : "/jobs?") + asked;
      const request = new XMLHttpRequest();
      request.open("POST", where);
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.upload.addEventListener("progress", (now) => { if (now.lengthComputable) sent.value = now.loaded / now.total; });
      const over = (words) => { fail(words); sent.hidden = true; button.disabled = false; };
      request.addEventListener("error", () => over("The server cannot be reached, or it cut the upload off."));
      request.addEventListener("load", () => {
        if (request.status === 201) location.href = "/view/jobs/" + JSON.parse(request.responseText).id;
        else over(told(request.responseText, "The server refused the file."));
      });
      sent.hidden = false; button.disabled = true;
      request.send(chosen);
    });
  }

  const inputs = {
    folder: (form) => ({ folder: form.elements.folder.value }),
    crawl: (form) => ({
      crawl: form.elements.crawl.value, crawl_pages: Number(form.elements.crawl_pages.value),
      crawl_render: form.elements.crawl_render?.value ?? "never",
    }),
  };
  for (const [name, input] of Object.entries(inputs)) byId(name)?.addEventListener("submit", async (event) => {
    event.preventDefault();
    trouble.hidden = true;
    const body = JSON.stringify({
      ...input(event.target), method: upload.elements.method.value,
      site_by: upload.elements.site_by.value, task: upload.elements.task.value,
    });
    const where = upload.elements.learn.checked ? "/sites" : "/jobs", button = event.target.querySelector("button");
    button.disabled = true;
    try {
      const answer = await fetch(where, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      if (answer.status === 201) location.href = "/view/jobs/" + (await answer.json()).id;
      else fail(told(await answer.text(), "The server refused it."));
    } catch { fail("The server cannot be reached."); }
    button.disabled = false;
  });

  const job = byId("job");
  if (job) {
    const number = (value) => value.toLocaleString("en");
    const steps = JSON.parse(job.dataset.steps), stages = JSON.parse(job.dataset.stages);
    const follow = async () => {
      let now;
      try { now = await (await fetch("/jobs/" + job.dataset.job)).json(); } catch { setTimeout(follow, 3000); return; }
      if (now.status !== "queued" && now.status !== "running") { location.reload(); return; }
      const bar = byId("bar");
      byId("doing").textContent = now.status === "queued" ? "waiting for its turn"
        : (steps[now.step] || "starting") + (now.stage && stages[now.stage] ? ": " + stages[now.stage] : "");
      if (now.total) { bar.max = now.total; bar.value = now.done; } else bar.removeAttribute("value");
      byId("count").textContent = now.done ? number(now.done) + (now.total ? " of " + number(now.total) : "") : "";
      setTimeout(follow, 500);
    };
    if (["queued", "running"].includes(job.dataset.status)) setTimeout(follow, 300);
    const end = byId("end");
    if (end) end.addEventListener("click", async () => {
      const removing = end.dataset.end === "remove";
      if (removing && !confirm("Remove this crawl and all its results?")) return;
      await fetch("/jobs/" + job.dataset.job, { method: "DELETE" });
      location.href = removing ? "/" : location.href;
    });
  }

  // Completions of a query: a combobox with a list. The words that are typed stay the query until one is chosen.
  const query = byId("q");
  if (query) {
    const list = byId("completions"), said = byId("completing");
    let at = -1, waiting = null, asking = null, typed = query.value;
    query.type = "text";  // a search field may not be a combobox
    query.autocomplete = "off";
    for (const [name, value] of Object.entries({
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id, enterkeyhint: "search",
    })) query.setAttribute(name, value);

    const stop = () => { clearTimeout(waiting); asking?.abort(); };
    const mark = (place) => {
      stop();  // the list does not change under the keys
      at = place;
      for (const [k, option] of [...list.children].entries()) option.setAttribute("aria-selected", k === at);
      if (at < 0) query.removeAttribute("aria-activedescendant");
      else query.setAttribute("aria-activedescendant", list.children[at].id);
      query.value = at < 0 ? typed : list.children[at].textContent;
    };
    const show = (found) => {
      list.replaceChildren(...found.map((text, k) => {
        const option = document.createElement("li");
        option.id = "completion-" + k;
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        option.textContent = text;
        return option;
      }));
      at = -1;
      query.removeAttribute("aria-activedescendant");
      list.hidden = !found.length;
      query.setAttribute("aria-expanded", String(!list.hidden));
      said.textContent = found.length ? found.length + (found.length === 1 ? " suggestion" : " suggestions") : "";
    };
    const close = () => { stop(); show([]); };
    const ask = async () => {
      asking = new AbortController();
      const asked = new URLSearchParams({ job: query.dataset.job, q: typed, limit: 8 });
      try {
        const answer = await fetch("/suggest?" + asked, { signal: asking.signal });
        show(answer.ok ? await answer.json() : []);
      } catch (error) { if (error.name !== "AbortError") show([]); }  // the form works without
    };
    query.addEventListener("input", () => {
      typed = query.value;
      stop();
      if (typed.trim()) waiting = setTimeout(ask, 120); else close();
    });
    query.addEventListener("keydown", (event) => {
      if (event.isComposing || list.hidden) return;
      const last = list.children.length - 1;
      if (event.key === "ArrowDown") mark(at === last ? -1 : at + 1);
      else if (event.key === "ArrowUp") mark(at < 0 ? last : at - 1);
      else if (event.key === "Escape") { mark(-1); close(); }
      else return;
      event.preventDefault();
    });
    query.addEventListener("blur", close);
    list.addEventListener("pointerdown", (event) => event.preventDefault());  // the field keeps the focus
    list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) { query.value = option.textContent; query.form.requestSubmit(); }
    });
    query.form.addEventListener("submit", close);
  }
})();
