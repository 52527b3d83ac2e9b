// Searches what is in this page: products, assets, columns, measures, entities, usage and tests. No network.
"use strict";
(() => {
  const products = JSON.parse(document.getElementById("data").textContent);
  const form = document.querySelector(".find");
  const box = form.elements.q;
  const said = document.getElementById("said");
  const found = document.getElementById("found");
  const all = document.getElementById("all");
  const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  const cards = new Map();
  for (const card of document.querySelectorAll(".card")) cards.set(card.dataset.id, { card, home: card.parentElement });
  const searched = products.map((p) => ({
    ...p,
    title: plain(`${p.name} ${p.id}`),
    about: plain(p.text),
    parts: p.parts.map(([kind, name, text, anchor]) => ({
      // A column is found by its own name: its asset is found as well.
      kind, name, text, anchor, key: plain(kind === "column" ? name.slice(name.indexOf(".") + 1) : name), words: plain(text),
    })),
  }));
  const HITS = 5;

  // How well a text answers a word: its start, a word's start, anywhere, not at all.
  const fit = (text, word) => {
    const at = text.indexOf(word);
    if (at < 0) return 0;
    if (at === 0) return 3;
    return /[^a-z0-9]/.test(text[at - 1]) ? 2 : 1;
  };

  // Every word has to be somewhere in the product; names count more than texts.
  const score = (product, words) => {
    let total = 0;
    const hits = new Map();
    for (const word of words) {
      let best = Math.max(fit(product.title, word) * 8, fit(product.about, word));
      for (const part of product.parts) {
        const points = Math.max(fit(part.key, word) * 3, fit(part.words, word));
        if (points > 0) hits.set(part, (hits.get(part) || 0) + points);
        best = Math.max(best, points);
      }
      if (best === 0) return null;
      total += best;
    }
    return { total, hits: [...hits].sort((a, b) => b[1] - a[1]).map(([part]) => part) };
  };

  // Text with the words marked; built of nodes, so that nothing in it becomes markup.
  const marked = (text, words) => {
    const node = document.createDocumentFragment();
    // As it is searched, each letter at its place.
    const lower = Array.from(text, (c) => (plain(c).length === c.length ? plain(c) : c)).join("");
    let from = 0;
    while (from < text.length) {
      let next = -1, length = 0;
      for (const word of words) {
        const at = lower.indexOf(word, from);
        if (at >= 0 && (next < 0 || at < next || (at === next && word.length > length))) { next = at; length = word.length; }
      }
      if (next < 0) break;
      node.append(text.slice(from, next));
      const mark = document.createElement("mark");
      mark.textContent = text.slice(next, next + length);
      node.append(mark);
      from = next + length;
    }
    node.append(text.slice(from));
    return node;
  };

  const showHits = (card, product, hits, words) => {
    const list = card.querySelector(".hits");
    list.replaceChildren();
    for (const part of hits.slice(0, HITS)) {
      const item = document.createElement("li");
      const what = document.createElement("span");
      what.className = "what";
      what.textContent = part.kind;
      const link = document.createElement("a");
      link.href = `${product.id.replace(".", "/")}.html#${part.anchor}`;
      link.append(marked(part.name, words));
      item.append(what, link);
      if (part.text) item.append(" — ", marked(part.text, words));
      list.append(item);
    }
    if (hits.length > HITS) {
      const more = document.createElement("li");
      more.className = "what";
      more.textContent = `and ${hits.length - HITS} more`;
      list.append(more);
    }
  };

  const chosen = (name) => [...form.querySelectorAll(`input[name="${name}"]:checked`)].map((i) => i.value);

  const search = () => {
    const words = plain(box.value).split(/\s+/).filter(Boolean);
    const layers = chosen("layer"), states = chosen("state");
    const kept = searched.filter((p) => (!layers.length || layers.includes(p.layer)) && (!states.length || states.includes(p.state)));
    const ranked = kept.map((product) => ({ product, result: score(product, words) })).filter((r) => r.result);
    if (words.length) ranked.sort((a, b) => b.result.total - a.result.total);
    const shown = new Set(ranked.map((r) => r.product.id));
    for (const [id, { card, home }] of cards) {
      card.hidden = !shown.has(id);
      if (!words.length && card.parentElement !== home) home.append(card);
    }
    for (const { product, result } of ranked) {
      const { card } = cards.get(product.id);
      showHits(card, product, words.length ? result.hits : [], words);
      if (words.length) found.append(card);
    }
    found.hidden = !words.length;
    all.hidden = words.length > 0;
    for (const section of document.querySelectorAll(".domain")) section.hidden = !section.querySelector(".card:not([hidden])");
    const filtering = words.length || layers.length || states.length;
    said.textContent = !filtering ? "" : ranked.length === 1 ? "1 product found" : `${ranked.length} products found`;
  };

  box.value = new URLSearchParams(location.search).get("q") || "";
  form.hidden = false;
  form.addEventListener("input", () => {
    search();
    const query = box.value ? `?q=${encodeURIComponent(box.value)}` : location.pathname;
    try { history.replaceState(null, "", query); } catch { /* a file that was opened from disk keeps its address */ }
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); box.focus(); }
    if (event.key === "Escape" && document.activeElement === box) { box.value = ""; search(); }
  });
  search();
})();
