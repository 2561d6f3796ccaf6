// Scrolls down window by window, so that what is loaded when it comes into view is loaded, and back to the top.
(async screens => {
  const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
  const root = Object.getOwnPropertyDescriptor(Document.prototype, "documentElement").get.call(document);
  let steps = 0;
  while (steps < screens && scrollY + innerHeight < root.scrollHeight - 1) {
    scrollTo({left: 0, top: scrollY + innerHeight, behavior: "instant"});
    await frame();
    steps += 1;
  }
  if (steps) {
    scrollTo({left: 0, top: 0, behavior: "instant"});
    await frame();
  }
  return steps;
})
