// Marks in the table of contents the section that is being read: at first the one of the address, else the first.
"use strict";
(() => {
  const links = new Map();
  for (const link of document.querySelectorAll(".toc a")) links.set(link.hash.slice(1), link);
  const mark = (current) => {
    for (const [id, link] of links) id === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
  };
  const ids = [...links.keys()];
  mark(links.has(location.hash.slice(1)) ? location.hash.slice(1) : ids[0]);
  const seen = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) entry.isIntersecting ? seen.add(entry.target.id) : seen.delete(entry.target.id);
    const current = ids.find((id) => seen.has(id));
    if (current !== undefined) mark(current);
  }, { rootMargin: "-10% 0px -60% 0px" });
  for (const section of document.querySelectorAll("main > section")) observer.observe(section);
})();
