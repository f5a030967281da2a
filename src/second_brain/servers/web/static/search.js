// Search as one types: by word at once, by meaning when typing stops. The last that was typed wins, whatever the
// order of the answers; the address always says what is shown, so that back, forward and a copied link work.

import { ask, onKey } from "./base.js";

const AT_ONCE_MS = 30;
const SETTLED_MS = 350;

const form = document.querySelector("form.ask");
const field = form.elements.q;
const found = document.getElementById("found");

let current = null;
let soon = 0;
let later = 0;
let typedFrom = null; // what the newest entry of the history asked while it is still being typed

const small = matchMedia("(max-width: 52rem)");
const fold = () => { const facets = found.querySelector(".facets"); if (facets && small.matches) facets.open = false; };

function wanted() {
  const text = field.value.trim();
  const mode = form.elements.mode.value;
  const query = new URLSearchParams();
  if (text) query.set("q", text);
  if (mode && mode !== "hybrid") query.set("mode", mode);
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (!["q", "mode", "cursor"].includes(name)) query.append(name, value);
  }
  return query;
}

const addressOf = (query) => (query.size ? "/?" + query : "/");

async function show(query, { typing = false } = {}) {
  current?.abort();
  const mine = current = new AbortController();
  const slow = setTimeout(() => found.classList.add("waiting"), 200);
  const asked = new URLSearchParams(query);
  if (typing) asked.set("typing", "1");
  try {
    const { text } = await ask("/found?" + asked, { signal: mine.signal });
    if (current !== mine) return false;
    found.innerHTML = text;
    fold();
    performance.mark("painted");
    return true;
  } catch (problem) {
    if (!mine.signal.aborted) throw problem;
    return false;
  } finally {
    clearTimeout(slow);
    if (current === mine) found.classList.remove("waiting");
  }
}

function remember(query) {
  const address = addressOf(query);
  if (address === location.pathname + location.search) return;
  const goesOn = typedFrom !== null && field.value.startsWith(typedFrom);
  history[goesOn ? "replaceState" : "pushState"](null, "", address);
  typedFrom = field.value;
  document.title = document.title.replace(/^(?:.* · )?(?=[^·]+ · [^·]+$)/, field.value.trim() ? field.value.trim() + " · " : "");
}

async function settle() {
  clearTimeout(soon);
  clearTimeout(later);
  const query = wanted();
  remember(query);
  await show(query);
}

field.addEventListener("input", (event) => {
  if (event.isComposing) return;
  clearTimeout(soon);
  clearTimeout(later);
  soon = setTimeout(() => show(wanted(), { typing: true }), AT_ONCE_MS);
  later = setTimeout(settle, SETTLED_MS);
});
field.addEventListener("compositionend", () => { later = setTimeout(settle, SETTLED_MS); });

form.addEventListener("submit", (event) => { event.preventDefault(); settle(); });
form.addEventListener("change", (event) => { if (event.target.name === "mode") settle(); });

found.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-ask], a[data-more]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const query = new URL(link.href).searchParams;
  if ("more" in link.dataset) {
    const { text } = await ask("/found?" + query);
    const before = link.closest("li").previousElementSibling;
    link.closest("li").outerHTML = text;
    before?.nextElementSibling?.querySelector(".hit-link")?.focus();
    return;
  }
  typedFrom = null;
  history.pushState(null, "", addressOf(query));
  await fromAddress();
  found.querySelector(".hit-link")?.focus({ preventScroll: true });
});

function fromAddress() {
  const query = new URLSearchParams(location.search);
  field.value = query.get("q") ?? "";
  form.elements.mode.value = query.get("mode") ?? "hybrid";
  for (const hidden of form.querySelectorAll("input[type=hidden]")) hidden.remove();
  for (const [name, value] of query) {
    if (name === "q" || name === "mode" || name === "cursor") continue;
    const hidden = Object.assign(document.createElement("input"), { type: "hidden", name, value });
    form.append(hidden);
  }
  return show(query);
}

addEventListener("popstate", () => {
  clearTimeout(soon);
  clearTimeout(later);
  typedFrom = null;
  fromAddress();
});

// -- keys ------------------------------------------------------------------------------------------------------

const links = () => [...found.querySelectorAll(".hit-link")];

function move(step) {
  const all = links();
  if (!all.length) return false;
  const at = all.indexOf(document.activeElement.closest?.(".hit")?.querySelector(".hit-link") ?? document.activeElement);
  if (at === 0 && step < 0) { field.focus(); return true; }
  const next = all[Math.max(0, Math.min(all.length - 1, at + step))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

for (const key of ["j", "ArrowDown"]) onKey(key, () => move(1));
for (const key of ["k", "ArrowUp"]) onKey(key, () => move(-1));
onKey("w", () => {
  const why = document.activeElement.closest?.(".hit")?.querySelector(".why");
  if (!why) return false;
  why.open = !why.open;
  return true;
});

field.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "ArrowDown" && links().length) { event.preventDefault(); links()[0].focus(); }
  if (event.key === "Escape") field.blur();
});

fold();
