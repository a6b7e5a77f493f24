// Whatever scrolls sideways on this screen can be reached, and so scrolled, with the keyboard.
function reach() {
  for (const box of document.querySelectorAll(".content :is(pre, .math-wrapper, .table-wrapper, .output div)")) {
    if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible") box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
window.addEventListener("load", reach);
window.addEventListener("resize", reach);
