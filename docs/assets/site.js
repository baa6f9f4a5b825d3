// What the theme leaves out for readers of screens and users of keyboards, also of what it adds later.
const mend = () => {
  // Lists inside the menu, and buttons to copy, are parts of a page and no landmarks of their own.
  for (const nav of document.querySelectorAll("nav.md-nav[data-md-level]:not([data-md-level='0']), nav.md-code__nav")) {
    if (nav.getAttribute("role") === "none") continue;
    nav.removeAttribute("aria-labelledby");
    nav.removeAttribute("aria-expanded");
    nav.setAttribute("role", "none");
  }
  // What scrolls can be reached by the keyboard.
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, pre > code, .formula")) {
    if (!box.hasAttribute("tabindex")) box.setAttribute("tabindex", "0");
  }
  // The corner of a table heads nothing.
  for (const head of document.querySelectorAll("th:empty")) head.replaceWith(document.createElement("td"));
};
new MutationObserver(mend).observe(document.documentElement, { childList: true, subtree: true });
mend();
