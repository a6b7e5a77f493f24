// The Python behind a live deck: how it is started, watched and started again, and what the hall reads of it.

import { dropSaved, show } from "./output.js";
import { cells, memories, root, settings } from "./page.js";

export const python = { kernel: null, session: null, ran: new Set() };
// What is to be run, one thing after another; a restart begins another life, to which the old ones' work is nothing.
const work = { queue: Promise.resolve(), life: 0, isRestarting: false };
const corner = document.querySelector(".python");
let busyClock = 0;

// ------------------------------------------------------------------------------------------------ what is said

// What Python does, in a corner of the slide; trouble, and what a key has done, stay until something is run, and what
// is said of one slide, stays: "slide", goes with it or with its next step.
export function say(text, { trouble = false, stays = trouble } = {}) {
  corner.textContent = text;
  corner.hidden = !text;
  corner.classList.toggle("trouble", trouble);
  corner.dataset.stays = stays;
}

export const leaveSlide = () => corner.dataset.stays === "slide" && say("");

const stays = () => ["true", "slide"].includes(corner.dataset.stays);
const sayNothing = () => stays() || say("");
const sayDied = () => say("Python has died. r starts it again; boards go on without it.", { trouble: true });

function sayWhy(error) {
  if (!python.kernel) {
    say(`Python cannot be reached: ${error.message}. r tries again; boards go on without it.`, { trouble: true });
  } else if (python.kernel.isDisposed) sayDied();
  else if (!work.isRestarting) say(`Python does not answer: ${error.message}`, { trouble: true });
}

function follow(status) {
  clearInterval(busyClock);
  root.dataset.status = status;
  if (status === "restarting" || status === "autorestarting") restarted();
  else if (status === "idle") sayNothing();
  else if (status === "busy") {
    const since = Date.now();
    busyClock = setInterval(() => {
      if (!stays()) say(`Python is busy, ${Math.round((Date.now() - since) / 1000)} s. i interrupts it.`);
    }, 1000);
  }
}

// ------------------------------------------------------------------------------------------------------- its life

// One thing after another; what fails does not keep the next from its turn.
export function enqueue(task) {
  const { life } = work;
  work.queue = work.queue.then(() => life === work.life && task()).catch(sayWhy);
  return work.queue;
}

export async function start() {
  say("Python is starting …");
  const connection = await attnKernel.connect({
    ...settings.server,
    path: settings.name,
    id: memories.session.get()?.id,
  });
  python.session = connection.session;
  python.kernel = connection.session.kernel;
  python.session.statusChanged.connect((_, status) => follow(status));
  python.session.connectionStatusChanged.connect((_, status) => status === "disconnected" && sayDied()); // or is dead
  if (connection.again) {
    goOn();
    say("");
  } else {
    await prepare();
  }
  if (settings.server.stays) say(settings.server.stays, { trouble: true });
  root.dataset.python = "ready";
}

// After a reload: what was run, and what it said, stays.
function goOn() {
  python.ran = new Set(memories.session.get().ran);
  for (const [id, outputs] of Object.entries(memories.outputs.get() ?? {})) {
    const cell = cells.find((one) => one.dataset.id === id);
    if (!cell) continue;
    for (const output of outputs) show(cell, output);
    dropSaved(cell);
  }
}

export const remember = () => memories.session.set({ id: python.session.id, ran: [...python.ran] });

export const runSilently = (code) => python.kernel.requestExecute({ code, silent: true, store_history: false }).done;

async function prepare() {
  python.ran = new Set();
  memories.outputs.set({});
  await runSilently(settings.preamble);
  remember();
  for (const cell of cells) cell.classList.toggle("stale", cell.hasOutput ?? false);
  sayNothing();
}

// By itself, after it died: nothing is defined any more. What was running and what waited has ended.
function restarted() {
  if (work.isRestarting) return;
  work.isRestarting = true;
  work.life += 1;
  say("Python was restarted: nothing is defined any more. u runs all cells up to here.", { trouble: true });
  const idle = statusAfterwards();
  enqueue(async () => {
    // before anything that a key asks for meanwhile
    const status = await idle;
    work.isRestarting = false;
    if (status === "dead") throw new Error("it died again");
    await prepare();
  });
}

async function statusAfterwards() {
  const { kernel, session } = python;
  // it may have been ready before the server listened
  const asking = setInterval(() => kernel.requestKernelInfo().catch(() => {}), 1000);
  const status = await new Promise((resolve) => {
    session.statusChanged.connect(function back(_, now) {
      if (now !== "idle" && now !== "dead") return;
      session.statusChanged.disconnect(back);
      resolve(now);
    });
  });
  clearInterval(asking);
  return status;
}

// By a key. Not in the queue, which may be what is stuck.
export async function restart() {
  say("Python is starting again …", { stays: true });
  work.isRestarting = true;
  work.life += 1;
  work.queue = Promise.resolve();
  try {
    if (!python.kernel || python.kernel.connectionStatus === "disconnected") {
      await python.session?.shutdown().catch(() => {});
      memories.session.set(null);
      await start();
    } else {
      await python.kernel.restart();
      await prepare();
    }
    say("Python has started again. u runs all cells up to here.", { stays: true });
  } catch (error) {
    say(`Python does not start again: ${error.message}.`, { trouble: true });
  } finally {
    work.isRestarting = false;
  }
}

export const interrupt = () => python.kernel?.interrupt();

// A page that is left tells the server, which ends its Python unless the page comes back.
export function endWithPage() {
  const { baseUrl, token } = settings.server;
  window.addEventListener("pagehide", () => {
    if (python.session) navigator.sendBeacon(`${baseUrl}left/${python.session.id}?token=${token}`);
  });
}
