// The model that a board of a page has in place of a kernel's, from its traits, which stand in a script beside it. It
// says "moved" with its state after every change; place.put sets another state, as one step of undo; place.now is what
// stands there, and place.start what stood there first.

const bytesOf = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));

/** Makes place.model, and the holder for its widget, which replaces the saved tables. */
export function modelOf(place) {
  const traits = JSON.parse(place.querySelector("script").textContent);
  const { spec } = traits;
  const listeners = {};
  traits.frames = Object.fromEntries(Object.entries(traits.frames).map(([name, text]) => [name, bytesOf(text)]));

  function accept({ inputs, settings, answer = null, proof = null, past = [] }) {
    const revision = (traits.state.revision ?? 0) + 1;
    const fitting = past.filter((one) => place.fits(one, spec));
    traits.state = { inputs, settings, answer, proof: place.fits(proof, spec) ? proof : null, past: fitting, revision };
    listeners["change:state"]?.();
  }

  place.model = {
    alone: true,
    more: [], // of its menu
    get: (name) => traits[name],
    set(name, value) {
      traits[name] = value;
    },
    on(event, then) {
      listeners[event] = then;
    },
    off() {},
    save_changes() {
      place.dispatchEvent(new CustomEvent("moved", { detail: traits.state }));
    },
  };
  place.start = spec.start;
  place.now = () => traits.state;
  /** Begins with the first of these states that fits it, and says which that is. */
  place.resume = (...offered) => {
    const fitting = offered.find((state) => state && place.fits(state, spec));
    if (fitting) accept(fitting);
    return fitting;
  };
  let last = null; // the gesture that changed it last: one is one step of undo
  place.put = ({ inputs, settings }, gesture = null) => {
    if (!place.fits({ inputs, settings }, spec)) return false;
    const { answer, proof, past = [], ...before } = traits.state;
    const goesOn = gesture !== null && gesture === last;
    const steps = goesOn ? past : [...past, { inputs: before.inputs, settings: before.settings }];
    last = gesture;
    accept({ inputs, settings, answer, proof, past: steps });
    place.model.save_changes();
    return true;
  };
  place.holder = document.createElement("div");
  place.replaceChildren(place.holder);
}
