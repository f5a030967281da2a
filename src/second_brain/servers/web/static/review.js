// Asks for the pairs of like notes until they are found.

import { ask } from "./base.js";

const pairs = document.getElementById("pairs");
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

while (pairs?.querySelector("[data-finding]")) {
  await pause(400);
  const { status, text } = await ask("/review/alike" + location.search);
  if (status !== 200) break;
  pairs.innerHTML = text;
}
