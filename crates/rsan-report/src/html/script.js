"use strict";
// What the page does beyond being read: filters, details of events, stepping through schedules. Text that comes from
// documents is only ever set as text.
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  const target = (entry) => document.getElementById(entry.querySelector("a").hash.slice(1));

  function filters() {
    const form = document.querySelector(".filters");
    if (!form) return;
    const entries = all("nav .entry").map((entry) => ({ entry, finding: target(entry), text: null }));
    const apply = () => {
      const severities = new Set(all("[name=severity]:checked", form).map((box) => box.value));
      const choice = form.elements.severity !== undefined;
      const kind = form.elements.kind ? form.elements.kind.value : "";
      const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const one of entries) {
        const data = one.entry.dataset;
        let fits = (!choice || severities.has(data.severity)) && (!kind || kind === data.kind);
        if (fits && words.length) {
          one.text ??= one.finding.textContent.toLowerCase();
          fits = words.every((word) => one.text.includes(word));
        }
        one.entry.hidden = one.finding.hidden = !fits;
        if (fits) shown += 1;
      }
      for (const group of all(".libraries")) group.hidden = !group.querySelector(".finding:not([hidden])");
      form.querySelector("output").textContent = `${shown} of ${entries.length} findings`;
    };
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    apply();
  }

  // A finding that a link leads to is unfolded, and its entry in the list is the current one.
  function navigation() {
    const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
    const go = () => {
      const id = decodeURIComponent(location.hash.slice(1));
      const place = id && document.getElementById(id);
      if (!place) return;
      for (let at = place.parentElement; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(id)?.setAttribute("aria-current", "true");
      place.scrollIntoView();
    };
    addEventListener("hashchange", go);
    go();
    addEventListener("keydown", (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (typing || event.ctrlKey || event.altKey || event.metaKey || !/^[jk]$/.test(event.key)) return;
      const shown = all("nav .entry:not([hidden]) a");
      const now = shown.findIndex((link) => link.hasAttribute("aria-current"));
      const next = event.key === "j" ? Math.min(now + 1, shown.length - 1) : Math.max(now - 1, 0);
      shown[next]?.click();
    });
  }

  const FACTS = [["thread", "thread"], ["location", "variable"], ["order", "order"], ["read", "reads"], ["written", "writes"], ["place", "at"]];

  // The panel beside a drawing says what is known of the event under the pointer or with the focus.
  function events(figure) {
    const graph = figure.querySelector(".graph");
    const around = figure.closest(".finding") ?? figure;
    const heading = make("h5");
    const list = make("dl", { class: "facts" });
    const panel = make("aside", { class: "panel", "aria-live": "polite" }, heading, list);
    const rest = () => {
      heading.textContent = "Events";
      list.replaceChildren();
      const hint = make("dd", { class: "muted" }, "Point at an event, or reach it with Tab.");
      list.append(hint);
      graph.classList.remove("choosing");
      for (const element of all(".near, .chosen", graph)) element.classList.remove("near", "chosen");
      for (const line of all(".line.lit", around)) line.classList.remove("lit");
    };
    const choose = (event) => {
      rest();
      const data = event.dataset;
      heading.textContent = data.name ? `${data.name}: ${data.operation}` : data.operation;
      list.replaceChildren();
      for (const [key, name] of FACTS) if (data[key] !== undefined) list.append(make("dt", {}, name), make("dd", {}, data[key]));
      event.classList.add("chosen");
      const near = all(`.edge[data-from="${data.event}"], .edge[data-to="${data.event}"]`, graph);
      if (near.length) graph.classList.add("choosing");
      for (const edge of near) edge.classList.add("near");
      if (data.line) for (const line of all(`.source .line[data-line="${data.line}"]`, around)) line.classList.add("lit");
    };
    // The drawing is no longer one picture: its events can be reached.
    graph.setAttribute("role", "group");
    for (const event of all(".event", graph)) {
      event.setAttribute("tabindex", "0");
      event.setAttribute("role", "img");
      event.setAttribute("aria-label", event.querySelector("title").textContent);
      event.addEventListener("mouseenter", () => choose(event));
      event.addEventListener("focus", () => choose(event));
      event.addEventListener("mouseleave", rest);
      event.addEventListener("blur", rest);
    }
    rest();
    figure.querySelector(".stage").append(panel);
  }

  // Steps of the schedule: what is done is lit, what is to come is faint.
  function scrubber(figure) {
    const rows = all(".schedule tbody tr", figure);
    if (!rows.length) return;
    const steps = rows.filter((row) => !row.classList.contains("weak")).length;
    const graph = figure.querySelector(".graph");
    const cells = (row) => [...row.cells].map((cell) => cell.textContent);
    const slider = make("input", { type: "range", min: "0", max: String(rows.length), value: String(rows.length), "aria-label": "Step of the schedule" });
    const words = make("output", { "aria-live": "polite" });
    const show = () => {
      const now = Number(slider.value);
      const done = new Set();
      const flushed = new Set();
      rows.forEach((row, i) => {
        row.classList.toggle("now", i + 1 === now);
        if (i < now) (row.classList.contains("flush") ? flushed : done).add(row.dataset.event);
      });
      const whole = now === rows.length;
      graph.classList.toggle("stepping", true);
      const initial = new Set(all(".event.initial", graph).map((event) => event.dataset.event));
      const is = (number) => whole || done.has(number) || initial.has(number);
      const current = now > 0 ? rows[now - 1] : null;
      const flush = current?.classList.contains("flush");
      for (const event of all(".event", graph)) {
        event.classList.toggle("pending", !is(event.dataset.event));
        event.classList.toggle("now", !whole && current?.dataset.event === event.dataset.event);
      }
      for (const pill of all(".flush", graph)) {
        pill.classList.toggle("pending", !whole && !flushed.has(pill.dataset.flush));
        pill.classList.toggle("now", !whole && Boolean(flush) && current.dataset.event === pill.dataset.flush);
      }
      for (const edge of all(".edge", graph)) edge.classList.toggle("pending", !(is(edge.dataset.from) && is(edge.dataset.to)));
      if (!current) {
        words.textContent = "before the first step";
      } else {
        const [number, thread, at, operation, , memory, buffers] = cells(current);
        const step = number === "weak" ? "weak access" : `step ${number} of ${steps}`;
        const place = at ? ` at ${at}` : "";
        words.textContent = `${step}: ${thread}: ${operation}${place}${memory ? ` · memory: ${memory}` : ""}${buffers ? ` · buffers: ${buffers}` : ""}`;
      }
    };
    const move = (by) => () => {
      slider.value = String(Number(slider.value) + by);
      show();
    };
    const button = (text, label, by) => {
      const element = make("button", { type: "button", "aria-label": label }, text);
      element.addEventListener("click", move(by));
      return element;
    };
    slider.addEventListener("input", show);
    const bar = make("div", { class: "scrubber", role: "group", "aria-label": "Schedule" },
      button("|◀", "to the start", -rows.length), button("◀", "one step back", -1), slider,
      button("▶", "one step on", 1), button("▶|", "to the end", rows.length), words);
    figure.querySelector(".stage").after(bar);
    show();
  }

  // Paper cannot be unfolded.
  function printing() {
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = all("details:not([open])");
      for (const details of closed) details.open = true;
    });
    addEventListener("afterprint", () => {
      for (const details of closed) details.open = false;
    });
  }

  // Drawings get their panels; those of a long page when they come into sight.
  function drawings() {
    const start = (figure) => {
      events(figure);
      scrubber(figure);
    };
    const figures = all(".execution");
    if (figures.length <= 30) return figures.forEach(start);
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries.filter((one) => one.isIntersecting)) {
        seen.unobserve(entry.target);
        start(entry.target);
      }
    }, { rootMargin: "600px" });
    for (const figure of figures) seen.observe(figure);
  }

  filters();
  navigation();
  drawings();
  printing();
})();
