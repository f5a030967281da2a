// A note that is being read: what is similar to it, and word of what happens to it meanwhile.

import { ask, onKey } from "./base.js";

const EVERY_MS = 15_000;

const reading = document.querySelector(".reading");
const name = reading.dataset.name.split("/").map(encodeURIComponent).join("/");
const fresh = document.getElementById("fresh");
const before = fresh.innerHTML;

async function look() {
  if (document.hidden) return;
  const { status, text } = await ask(`/fresh/${name}?was=${reading.dataset.version}`);
  const said = status === 204 ? "" : text;
  if (status < 400 && fresh.dataset.said !== said) {
    fresh.dataset.said = said;
    fresh.innerHTML = said || (status === 204 ? "" : before);
  }
}

addEventListener("visibilitychange", look);
addEventListener("focus", look);
setInterval(look, EVERY_MS);

const similar = document.getElementById("similar");
ask(`/similar/${name}`).then(({ status, text }) => { if (status === 200) similar.outerHTML = text; });

for (const [key, step] of [["j", 120], ["k", -120]]) onKey(key, () => scrollBy({ top: step }));
