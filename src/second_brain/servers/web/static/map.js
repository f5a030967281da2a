// Draws the map: a worker says where the nodes stand, this paints them and follows pointer, wheel and keys.

import { ask } from "./base.js";

const box = document.querySelector(".canvas");
if (box) begin(box);

const COLOURS = 8; // the ninth is for all others
const LABEL = "500 12px system-ui, sans-serif";

async function begin(box) {
  box.querySelector(".drawing").hidden = false;
  const { status, text } = await ask(box.dataset.source);
  if (status !== 200) return;
  const graph = JSON.parse(text);
  const canvas = box.querySelector("canvas");
  const pen = canvas.getContext("2d");
  const chosen = box.querySelector(".chosen");
  const list = document.querySelector(".listed ol");
  const count = graph.titles.length;
  const fine = Math.min(1, Math.max(0.5, Math.sqrt(350 / count))); // many dots are small ones
  const radii = Float32Array.from(graph.degrees, (degree, n) =>
    fine * Math.min(17, 2.4 + 1.4 * Math.sqrt(degree)) + (graph.begins && n === 0 ? 3 : 0));
  const near = Array.from({ length: count }, () => []);
  for (let at = 0; at < graph.edges.length; at += 2) {
    near[graph.edges[at]].push(graph.edges[at + 1]);
    near[graph.edges[at + 1]].push(graph.edges[at]);
  }
  const byImportance = Array.from({ length: count }, (_, n) => n).sort((a, b) => radii[b] - radii[a] || a - b);
  const widths = new Map(); // of names, as painted
  const hidden = new Set();
  let places = null; // x, y, x, y, ...
  let view = { x: 0, y: 0, scale: 1 };
  let touched = false; // until then the view follows the drawing
  let over = -1;
  let found = null;
  let colours = graph.colours[startColour()];
  let palette = [];
  let ink = "", line = "", paper = "", accent = "";
  let waiting = false;

  function startColour() {
    const several = (name) => graph.colours[name] && graph.colours[name].names.length > 1;
    const names = Object.keys(graph.colours);
    const name = names.find(several) ?? names[0];
    box.querySelector("#colour").value = name;
    return name;
  }

  // -- painting ------------------------------------------------------------------------------------------

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(name).trim();
    palette = Array.from({ length: COLOURS + 1 }, (_, n) => value(`--c${n}`));
    [ink, line, paper, accent] = ["--ink", "--soft", "--raised", "--accent"].map(value);
  }

  const group = (n) => Math.min(colours.of[n], COLOURS);
  const shown = (n) => !hidden.has(group(n));

  function paint() {
    waiting = false;
    if (!places) return;
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    if (!touched) fit();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const { x, y, scale } = view;
    const focus = over >= 0 ? new Set([over, ...near[over]]) : found;
    const grown = Math.sqrt(scale);

    pen.lineWidth = Math.min(1.2, 0.5 + 0.4 * scale);
    pen.strokeStyle = line;
    pen.globalAlpha = focus ? 0.07 : Math.min(0.35, 0.13 + 0.1 * scale);
    pen.beginPath();
    for (let at = 0; at < graph.edges.length; at += 2) {
      const [a, b] = [graph.edges[at], graph.edges[at + 1]];
      if (!shown(a) || !shown(b)) continue;
      pen.moveTo(places[2 * a] * scale + x, places[2 * a + 1] * scale + y);
      pen.lineTo(places[2 * b] * scale + x, places[2 * b + 1] * scale + y);
    }
    pen.stroke();
    if (over >= 0) paintOwnEdges(scale, x, y);
    if (graph.labels.length) paintRelations(scale, x, y);

    for (const n of byImportance.toReversed()) {
      if (!shown(n)) continue;
      const [px, py] = [places[2 * n] * scale + x, places[2 * n + 1] * scale + y];
      const radius = radii[n] * grown;
      if (px < -radius || py < -radius || px > width + radius || py > height + radius) continue;
      pen.globalAlpha = !focus || focus.has(n) ? 1 : 0.16;
      pen.fillStyle = palette[group(n)];
      pen.beginPath();
      pen.arc(px, py, radius, 0, 7);
      pen.fill();
      pen.lineWidth = 1;
      pen.strokeStyle = paper;
      pen.stroke();
      if (n === over || (graph.begins && n === 0)) {
        pen.lineWidth = 2;
        pen.strokeStyle = n === over ? accent : ink;
        pen.beginPath();
        pen.arc(px, py, radius + 2.5, 0, 7);
        pen.stroke();
      }
    }
    paintLabels(focus, width, height, grown);
    pen.globalAlpha = 1;
  }

  function paintOwnEdges(scale, x, y) {
    pen.strokeStyle = accent;
    pen.globalAlpha = 0.8;
    pen.lineWidth = 1.4;
    pen.beginPath();
    for (const other of near[over]) {
      pen.moveTo(places[2 * over] * scale + x, places[2 * over + 1] * scale + y);
      pen.lineTo(places[2 * other] * scale + x, places[2 * other + 1] * scale + y);
    }
    pen.stroke();
  }

  /** What the relations are called: of a few all, of many those of the node that is looked at. */
  function paintRelations(scale, x, y) {
    const all = graph.labels.length <= 40 || scale > 3;
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = line;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let at = 0; at < graph.edges.length; at += 2) {
      const [a, b] = [graph.edges[at], graph.edges[at + 1]], own = a === over || b === over;
      if (!shown(a) || !shown(b) || !(own || (all && over < 0))) continue;
      pen.globalAlpha = own ? 1 : 0.75;
      const middle = [(places[2 * a] + places[2 * b]) / 2 * scale + x, (places[2 * a + 1] + places[2 * b + 1]) / 2 * scale + y];
      pen.lineWidth = 4;
      pen.strokeStyle = paper;
      pen.strokeText(graph.labels[at / 2].slice(0, 40), ...middle);
      pen.fillText(graph.labels[at / 2].slice(0, 40), ...middle);
    }
  }

  /** The more important a node and the nearer one looks, the sooner it has its name; no name covers another. */
  function paintLabels(focus, width, height, grown) {
    const { x, y, scale } = view;
    const most = Math.round((12 + width / 30) * Math.max(1, scale * scale));
    const room = scale > 3 ? 60 : width > 620 ? 28 : 18;
    const taken = byImportance.slice(0, 12).filter(shown).map((n) => {
      const [px, py] = [places[2 * n] * scale + x, places[2 * n + 1] * scale + y], radius = radii[n] * grown - 1;
      return [px - radius, py - radius, px + radius, py + radius]; // no name covers a hub
    });
    pen.font = LABEL;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.lineJoin = "round";
    const first = focus ? [...(over >= 0 ? [over] : []), ...byImportance.filter((n) => focus.has(n))] : byImportance;
    let painted = 0;
    for (const n of first) {
      if (painted >= most) break;
      if (!shown(n)) continue;
      const [px, py] = [places[2 * n] * scale + x, places[2 * n + 1] * scale + y];
      if (px < 0 || py < 0 || px > width || py > height) continue;
      const title = graph.titles[n].length > room ? graph.titles[n].slice(0, room - 1) + "…" : graph.titles[n];
      const half = (widths.get(title) ?? widths.set(title, pen.measureText(title).width).get(title)) / 2;
      const top = py + radii[n] * grown + 2;
      const middle = Math.min(Math.max(px, half + 4), width - half - 4);
      const area = [middle - half - 3, top, middle + half + 3, top + 14];
      if (taken.some((other) => area[0] < other[2] && area[2] > other[0] && area[1] < other[3] && area[3] > other[1])) continue;
      taken.push(area);
      pen.globalAlpha = 0.9;
      pen.lineWidth = 4;
      pen.strokeStyle = paper;
      pen.strokeText(title, middle, top);
      pen.globalAlpha = n === over ? 1 : 0.9;
      pen.fillStyle = n === over ? accent : ink;
      pen.fillText(title, middle, top);
      painted += 1;
    }
  }

  function paintSoon() {
    if (!waiting) { waiting = true; requestAnimationFrame(paint); }
  }

  // -- the view ------------------------------------------------------------------------------------------

  function fit() {
    const { clientWidth: width, clientHeight: height } = canvas;
    const visible = [];
    for (let n = 0; n < count; n++) if (shown(n)) visible.push(n);
    if (!visible.length) return;
    const ends = (offset) => {
      const all = visible.map((n) => places[2 * n + offset]).sort((a, b) => a - b);
      const cut = Math.floor(all.length * 0.01); // a few far away do not make all others small
      return [all[cut], all[all.length - 1 - cut]];
    };
    const [[left, right], [top, bottom]] = [ends(0), ends(1)];
    const legend = box.querySelector(".legend"); // beside the drawing where there is room, else above it
    const [begin, end, above] = width > 620 ? [legend.offsetWidth + 24, 64, 34] : [28, 28, legend.offsetHeight + 16];
    const below = height - 46;
    const scale = Math.min(2.2, (width - begin - end) / Math.max(60, right - left), (below - above) / Math.max(60, bottom - top));
    view = {
      scale, x: (begin + width - end) / 2 - (left + right) / 2 * scale, y: (above + below) / 2 - (top + bottom) / 2 * scale,
    };
  }

  function zoom(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
    const scale = Math.min(12, Math.max(0.03, view.scale * factor));
    const real = scale / view.scale;
    view = { scale, x: px - (px - view.x) * real, y: py - (py - view.y) * real };
    touched = true;
    paintSoon();
  }

  function pan(dx, dy) {
    view = { ...view, x: view.x + dx, y: view.y + dy };
    touched = true;
    paintSoon();
  }

  function at(px, py, slack = 4) {
    let best = -1, nearest = Infinity;
    if (!places) return best;
    const grown = Math.sqrt(view.scale);
    for (let n = 0; n < count; n++) {
      if (!shown(n)) continue;
      const distance = Math.hypot(places[2 * n] * view.scale + view.x - px, places[2 * n + 1] * view.scale + view.y - py) - radii[n] * grown;
      if (distance < slack && distance < nearest) { best = n; nearest = distance; }
    }
    return best;
  }

  function choose(n, { link = false } = {}) {
    if (n === over && !link) return;
    over = n;
    canvas.classList.toggle("over", n >= 0);
    chosen.hidden = n < 0;
    if (n >= 0) {
      const name = document.createElement(link ? "a" : "strong");
      if (link) name.href = graph.urls[n];
      name.textContent = graph.titles[n];
      const detail = document.createElement("span");
      detail.textContent = ` ${graph.degrees[n]} ${box.dataset.neighbours}`;
      chosen.replaceChildren(name, detail);
    }
    paintSoon();
  }

  // -- pointer, wheel, keys ------------------------------------------------------------------------------

  const pointers = new Map();
  let moved = 0;
  const where = (event) => {
    const frame = canvas.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, where(event));
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = where(event), before = pointers.get(event.pointerId);
    if (!before) { if (event.pointerType === "mouse") choose(at(...now)); return; }
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (pointers.size === 1) {
      if (moved > 4) pan(now[0] - before[0], now[1] - before[1]);
    } else {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const apart = (place) => Math.max(10, Math.hypot(place[0] - other[0], place[1] - other[1]));
      zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    }
    pointers.set(event.pointerId, now);
  });
  canvas.addEventListener("pointerup", (event) => {
    const alone = pointers.size === 1;
    pointers.delete(event.pointerId);
    if (!alone || moved > 4 || event.button > 1) return;
    const n = at(...where(event), event.pointerType === "mouse" ? 4 : 14);
    if (event.pointerType !== "mouse") choose(n, { link: true }); // a finger covers what it points at: first look, then go
    else if (n >= 0 && (event.ctrlKey || event.metaKey || event.button === 1)) open(graph.urls[n], "_blank", "noopener");
    else if (n >= 0) location.assign(graph.urls[n]);
  });
  canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => { if (!pointers.size && !chosen.querySelector("a")) choose(-1); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : event.ctrlKey ? 0.01 : 0.002)), ...where(event));
  }, { passive: false });

  const keys = {
    "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: () => { touched = false; paintSoon(); },
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
    n: () => step(1), p: () => step(-1),
    Enter: () => { if (over >= 0) location.assign(graph.urls[over]); },
    Escape: () => choose(-1),
  };
  let stepped = -1;
  function step(by) { // through the nodes by importance, each brought to the middle
    stepped = (stepped + by + count) % count;
    show(byImportance[stepped]);
  }
  function show(n) {
    if (!places) return;
    const [px, py] = [places[2 * n] * view.scale + view.x, places[2 * n + 1] * view.scale + view.y];
    const { clientWidth: width, clientHeight: height } = canvas;
    if (px < 60 || py < 40 || px > width - 60 || py > height - 60) pan(width / 2 - px, height / 2 - py);
    choose(n);
  }
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    keys[event.key]();
    event.preventDefault();
    event.stopPropagation();
  });
  for (const button of box.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => ({ in: keys["+"], out: keys["-"], fit: keys[0] })[button.dataset.zoom]());
  }

  // -- the legend and the list ---------------------------------------------------------------------------

  function fillLegend() {
    const names = colours.names.slice(0, COLOURS).map((name, n) => [name || box.dataset.none, colours.counts[n]]);
    const others = colours.counts.slice(COLOURS).reduce((sum, each) => sum + each, 0);
    if (others) names.push([box.dataset.other, others]);
    box.querySelector(".legend ul").replaceChildren(...names.map(([name, number], n) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!hidden.has(n)));
      const dot = document.createElement("i"), label = document.createElement("span"), many = document.createElement("b");
      dot.style.background = palette[n];
      label.textContent = name;
      many.textContent = number;
      button.append(dot, label, many);
      button.addEventListener("click", () => {
        if (hidden.delete(n) === false) hidden.add(n);
        button.setAttribute("aria-pressed", String(!hidden.has(n)));
        paintSoon();
      });
      const item = document.createElement("li");
      item.append(button);
      return item;
    }));
    box.querySelector(".legend").hidden = false;
  }
  box.querySelector("#colour").addEventListener("change", (event) => {
    colours = graph.colours[event.target.value];
    hidden.clear();
    fillLegend();
    paintSoon();
  });

  const entries = [...list.children];
  const sheets = document.querySelector(".listed .sheets");
  const find = document.querySelector(".listed .find");
  find.hidden = count < 12;
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLocaleLowerCase();
    if (!wanted) {
      found = null;
      list.replaceChildren(...entries);
    } else {
      const matches = byImportance.filter((n) => graph.titles[n].toLocaleLowerCase().includes(wanted));
      found = new Set(matches);
      list.replaceChildren(...matches.slice(0, 100).map(entry));
      if (matches.length) show(matches[0]);
      over = -1;
      chosen.hidden = true;
    }
    if (sheets) sheets.hidden = Boolean(wanted);
    paintSoon();
  });
  function entry(n) {
    const item = document.createElement("li");
    item.dataset.place = n;
    const link = document.createElement("a"), degree = document.createElement("span");
    link.href = graph.urls[n];
    link.textContent = graph.titles[n];
    degree.className = "count";
    degree.textContent = graph.degrees[n];
    item.append(link, degree);
    return item;
  }
  for (const name of ["focusin", "mouseover"]) {
    list.addEventListener(name, (event) => {
      const item = event.target.closest("li");
      if (item) show(Number(item.dataset.place));
    });
  }
  list.addEventListener("mouseleave", () => choose(-1));

  // -- beginning -----------------------------------------------------------------------------------------

  readColours();
  fillLegend();
  const looksChanged = () => { readColours(); fillLegend(); paintSoon(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", looksChanged);
  new ResizeObserver(paintSoon).observe(canvas);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const worker = new Worker(new URL("./map-layout.js", import.meta.url));
  worker.onmessage = ({ data }) => {
    if (!calm || data.done) { places = data.places; paintSoon(); }
    if (data.done) {
      box.querySelector(".drawing").hidden = true;
      box.dataset.settled = "true";
      worker.terminate();
    }
  };
  worker.postMessage({ radii, edges: Uint32Array.from(graph.edges) });
}
