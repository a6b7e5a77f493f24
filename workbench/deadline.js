import { ownTime } from "./display/moments.js";

export default {
  render({ model, el }) {
    const own = ownTime(model.get("sentence"));
    el.textContent = own && `The deadline on your own clock: ${own}.`;
  },
};
