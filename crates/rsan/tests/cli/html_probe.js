// Uses a report as a person would, and puts what was seen into the title. Appended to a report by `html.rs`.
addEventListener("load", async () => {
  const seen = {};
  const turn = () => new Promise((done) => setTimeout(done, 100));
  const visible = (element) => {
    const box = element.getBoundingClientRect();
    return getComputedStyle(element).visibility === "visible" && (box.width > 0 || box.height > 0);
  };
  try {
    document.querySelector("nav .entry a").click();
    await turn();
    await turn();
    const finding = document.querySelector(":target");
    seen.target = finding.id;
    const graph = finding.querySelector("svg.graph");
    const lines = [...graph.querySelectorAll(".edge.on-cycle .line")];
    seen.cycle = lines.filter(visible).length;
    seen.edges = [...graph.querySelectorAll(".edge.on-cycle.label text")].map((text) => text.textContent).sort().join(" ");
    seen.events = [...graph.querySelectorAll(".event.on-cycle .box")].filter(visible).length;
    // Every end of an edge is at the side of its box, and no box covers another.
    const boxes = [...graph.querySelectorAll(".box")].map((box) => box.getBoundingClientRect());
    seen.overlaps = boxes.filter((a, i) => boxes.some((b, j) => i < j && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;

    // Details of an event, by keyboard.
    const event = graph.querySelector(".event.weak");
    event.focus();
    seen.focused = document.activeElement === event;
    seen.panel = [...finding.querySelectorAll(".panel h5, .panel dd")].map((part) => part.textContent).join("|");
    seen.lit = finding.querySelectorAll(".source .line.lit").length > 0;
    event.blur();

    // The schedule, from its start.
    const [start, , on] = ["to the start", "one step back", "one step on"].map((name) => finding.querySelector(`[aria-label="${name}"]`));
    const pending = () => graph.querySelectorAll(".event.pending").length;
    seen.end = pending();
    start.click();
    seen.start = pending();
    on.click();
    seen.first = pending();
    seen.words = finding.querySelector(".scrubber output").textContent;

    // A filter that fits nothing, and one that fits.
    const text = document.querySelector(".filters [name=text]");
    const shown = () => document.querySelectorAll(".finding:not([hidden])").length;
    const all = shown();
    const type = (words) => {
      text.value = words;
      text.dispatchEvent(new Event("input", { bubbles: true }));
      return shown();
    };
    seen.filtered = [type("no such word") === 0, type("") === all, all >= 2];
    seen.folded = [...document.querySelectorAll("details")].every((details) => details.querySelector(":scope > summary"));
    seen.wide = document.documentElement.scrollWidth <= innerWidth;
    seen.fetched = performance.getEntriesByType("resource").length;
  } catch (error) {
    seen.error = String(error);
  }
  document.title = JSON.stringify(seen);
});
