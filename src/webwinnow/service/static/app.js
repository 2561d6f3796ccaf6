"use strict";
// What a server-rendered page cannot do by itself: send a file with its progress, and follow a job.
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

  const folder = byId("folder");
  if (folder) folder.addEventListener("submit", async (event) => {
    event.preventDefault();
    trouble.hidden = true;
    const body = JSON.stringify({
      folder: folder.elements.folder.value, method: upload.elements.method.value,
      site_by: upload.elements.site_by.value, task: upload.elements.task.value,
    });
    const answer = await fetch("/jobs", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    if (answer.status === 201) location.href = "/view/jobs/" + (await answer.json()).id;
    else fail(told(await answer.text(), "The server refused it."));
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
})();
