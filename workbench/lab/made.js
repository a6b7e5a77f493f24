// Elements for JupyterLab's page, with properties rather than attributes.

export function made(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  if (properties.role) node.setAttribute("role", properties.role);
  node.append(...children);
  return node;
}

export function button(words, act, kind = "") {
  const node = made("button", { type: "button", className: `attn-button ${kind}` }, words);
  node.addEventListener("click", act);
  return node;
}
