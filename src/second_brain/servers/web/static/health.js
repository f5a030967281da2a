// Asks what the doctor finds: that reads the whole index, so the page comes without.

import { ask } from "./base.js";

const findings = document.getElementById("findings");
if (findings?.querySelector("[data-look]")) {
  const { status, text } = await ask("/health/findings");
  if (status === 200) findings.innerHTML = text;
}
