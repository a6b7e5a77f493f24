// The site without a network: what KEPT lists is fetched once, after the first visit, and shown when nothing comes.

const KEPT = {}; // file of the site → what it held when the site was built; offline.py writes it
const STORE = `attention:${new URL(registration.scope).pathname}`;
const PAGES = { "": "index.html" }; // as addresses leave them out

/** Where a file is kept: what it held belongs to its place, so that another edition does not take it away. */
const placeOf = (file) => new URL(`${file}?kept=${KEPT[file]}`, registration.scope).href;

/** The file that an address asks for, or undefined where the site keeps none. */
function fileOf(address) {
  if (!address.startsWith(registration.scope)) return undefined;
  const path = decodeURIComponent(new URL(address).pathname.slice(new URL(registration.scope).pathname.length));
  const file = PAGES[path] ?? path;
  return file in KEPT ? file : undefined;
}

async function keep() {
  const store = await caches.open(STORE);
  const has = new Set((await store.keys()).map((request) => request.url));
  for (const file of Object.keys(KEPT).filter((one) => !has.has(placeOf(one)))) {
    const answer = await fetch(new URL(file, registration.scope), { cache: "no-cache" });
    if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
    await store.put(placeOf(file), answer);
  }
}

async function forgetOlder() {
  const store = await caches.open(STORE);
  const now = new Set(Object.keys(KEPT).map(placeOf));
  for (const request of await store.keys()) if (!now.has(request.url)) await store.delete(request);
}

/** As the network has it; as it was kept where there is no network. */
async function answerTo(request) {
  try {
    return await fetch(request);
  } catch (offline) {
    const file = fileOf(request.url) ?? (request.mode === "navigate" ? "404.html" : undefined);
    const answer = file && (await (await caches.open(STORE)).match(placeOf(file)));
    if (answer) return answer;
    throw offline;
  }
}

addEventListener("install", (event) => event.waitUntil(keep()));
addEventListener("activate", (event) => event.waitUntil(forgetOlder().then(() => clients.claim())));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(registration.scope)) event.respondWith(answerTo(request));
});
