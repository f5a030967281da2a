// What every page has: keys, the dialog that lists them, and word of a server that does not answer.

const dialog = document.getElementById("keys");
const offline = document.getElementById("offline");

export const typing = () => /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");

const keys = new Map([
  ["?", () => dialog.showModal()],
  ["/", () => {
    const field = document.querySelector("input[type=search]");
    if (field) { field.focus(); field.select(); } else { location.assign("/"); }
  }],
]);

/** Let a key do something wherever no field is typed into. */
export function onKey(name, act) { keys.set(name, act); }

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || dialog.open || typing()) return;
  const act = keys.get(event.key);
  if (act && act(event) !== false) event.preventDefault();
});

document.querySelector("[data-keys]")?.addEventListener("click", () => dialog.showModal());

addEventListener("click", (event) => {
  const menu = document.querySelector(".menu[open]");
  if (menu && !menu.contains(event.target)) menu.open = false;
});
addEventListener("keydown", (event) => {
  const menu = document.querySelector(".menu[open]");
  if (event.key === "Escape" && menu) { menu.open = false; menu.querySelector("summary").focus(); }
});

const pause = (ms, signal) => new Promise((done, stop) => {
  const timer = setTimeout(done, ms);
  signal?.addEventListener("abort", () => { clearTimeout(timer); stop(signal.reason); }, { once: true });
});

/**
 * The text that a path of ours answers. Tries again while the server is gone, and says so meanwhile;
 * leads to the login page where the session is over. Rejects when `signal` is aborted.
 */
export async function ask(path, { signal } = {}) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    try {
      const answer = await fetch(path, { signal, credentials: "same-origin", headers: { Accept: "text/html" } });
      offline.hidden = true;
      if (answer.status === 401) {
        location.assign("/login?next=" + encodeURIComponent(location.pathname + location.search));
        return new Promise(() => {});
      }
      return { status: answer.status, text: await answer.text() };
    } catch (problem) {
      if (signal?.aborted) throw problem;
      offline.hidden = false;
      await pause(wait, signal);
    }
  }
}
