// What the page does besides showing the terminal: offers to open it again, and puts the keys where they belong.
"use strict";
const LEAST_COLUMNS = 56; // the workbench needs 50
// Once the socket is closed the terminal hears nothing more: it would try to send it.
for (const what of ["blur", "focus", "keydown", "keypress", "input", "paste", "mousedown", "mouseup", "mousemove", "wheel", "resize"]) {
  window.addEventListener(what, (event) => {
    const at = event.target;
    if (document.body.classList.contains("-closed") && (at === window || at.closest?.("#terminal"))) event.stopImmediatePropagation();
  }, true);
}
document.addEventListener("DOMContentLoaded", () => {
  const terminal = document.getElementById("terminal"); // the toolkit's script reads it when everything is loaded
  terminal.dataset.sessionWebsocketUrl += window.matchMedia("(prefers-color-scheme: light)").matches ? "/light" : "/dark";
  const cells = Math.floor((window.innerWidth / LEAST_COLUMNS) / 0.6); // a cell of this font is 0.6 of its size wide
  terminal.dataset.fontSize = String(Math.max(9, Math.min(15, cells)));
  const again = document.getElementById("again");
  again.addEventListener("click", () => window.location.reload());
  new MutationObserver(() => {
    if (document.body.classList.contains("-closed")) again.focus();
    else if (document.body.classList.contains("-first-byte")) document.querySelector(".xterm-helper-textarea").focus();
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
