"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { tables, edges } = data.graph;
  const canvas = document.getElementById("canvas");
  const said = document.getElementById("said");
  if (!tables.length) return;
  document.getElementById("lineage").hidden = false;

  const ROW = 18, HEAD = 34, PAD = 8, GAP_X = 90, GAP_Y = 22, CHAR = 7.3, MOST = 30;
  const byKey = new Map(tables.map((t) => [t.key, t]));
  const short = (text) => (text.length > MOST ? text.slice(0, MOST - 1) + "…" : text);
  const node = (tag, attributes, parent, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };

  // Only columns that an edge or a change touches are drawn; the others are counted.
  const id = (key, column) => key + "\u0000" + column;
  const used = new Set(edges.flatMap((e) => [id(...e.from), id(...e.to)]));
  for (const t of tables) {
    t.shown = t.columns.filter((c) => c.impact || used.has(id(t.key, c.name)));
    t.more = t.columns.length - t.shown.length;
    t.rows = t.shown.length + (t.more ? 1 : 0);
    const names = [t.name, t.owner || "", ...t.shown.map((c) => c.name)].map((n) => short(n).length);
    t.width = Math.max(90, Math.max(...names) * CHAR + 2 * PAD);
    t.height = HEAD + t.rows * ROW + 6;
  }

  // Layers by the longest way from a table that reads none of those shown; a cycle ends where it was entered.
  const layer = new Map();
  const place = (start) => {
    const stack = [[start, false]], open = new Set();
    while (stack.length) {
      const [t, ready] = stack.pop();
      if (layer.has(t.key)) continue;
      const above = t.reads.map((key) => byKey.get(key));
      if (ready) {
        layer.set(t.key, Math.max(-1, ...above.map((up) => layer.get(up.key) ?? -1)) + 1);
      } else if (!open.has(t.key)) {
        open.add(t.key);
        stack.push([t, true]);
        for (const up of above) if (!layer.has(up.key) && !open.has(up.key)) stack.push([up, false]);
      }
    }
  };
  tables.forEach(place);
  const layers = [];
  for (const t of tables) (layers[layer.get(t.key)] ||= []).push(t);

  // Within a layer, each table near the middle of what it reads.
  const order = new Map();
  layers.forEach((column, depth) => {
    const wish = (t) => {
      const known = t.reads.map((key) => order.get(key)).filter((n) => n !== undefined);
      return known.length ? known.reduce((a, b) => a + b, 0) / known.length : 0;
    };
    if (depth) column.sort((a, b) => wish(a) - wish(b));
    column.forEach((t, n) => order.set(t.key, n / column.length));
  });
  let x = 16, height = 0;
  for (const column of layers) {
    let y = 16;
    for (const t of column) { t.x = x; t.y = y; y += t.height + GAP_Y; }
    height = Math.max(height, y);
    x += Math.max(...column.map((t) => t.width)) + GAP_X;
  }
  const width = x - GAP_X + 16;

  const svg = node("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, canvas);
  const lines = node("g", {}, svg);
  const at = new Map();
  for (const t of tables) t.shown.forEach((c, n) => at.set(id(t.key, c.name), t.y + HEAD + n * ROW + ROW / 2));

  const curve = (from, to, y1, y2, kind) => {
    const x1 = from.x + from.width, x2 = to.x, bend = Math.max(30, (x2 - x1) / 2);
    return node("path", { d: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`, class: kind }, lines);
  };
  const drawn = edges.map((e) => {
    const path = curve(byKey.get(e.from[0]), byKey.get(e.to[0]), at.get(id(...e.from)), at.get(id(...e.to)), "value");
    node("title", {}, path, `${e.kind}: ${e.from[1]} → ${e.to[1]}`);
    return { path, from: id(...e.from), to: id(...e.to) };
  });
  const reads = tables.flatMap((t) => t.reads.map((key) => {
    const up = byKey.get(key);
    return { path: curve(up, t, up.y + HEAD / 2, t.y + HEAD / 2, "rows"), from: key, to: t.key };
  }));

  const spots = new Map(), heads = new Map();
  const button = (group, label, choose) => {
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", label);
    group.addEventListener("click", choose);
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
    });
  };
  for (const t of tables) {
    const group = node("g", { class: `table ${t.impact || ""}` }, svg);
    node("rect", { class: "box", x: t.x, y: t.y, width: t.width, height: t.height, rx: 5 }, group);
    const head = node("g", { class: "head" }, group);
    node("rect", { x: t.x + 1, y: t.y + 1, width: t.width - 2, height: HEAD - 4, rx: 4 }, head);
    node("title", {}, head, t.name);
    node("text", { class: "name", x: t.x + PAD, y: t.y + 15 }, head, short(t.name));
    if (t.owner) node("text", { class: "owner", x: t.x + PAD, y: t.y + 28 }, head, short(t.owner));
    button(head, `table ${t.name}`, () => chooseTable(t));
    heads.set(t.key, head);
    t.shown.forEach((c, n) => {
      const y = t.y + HEAD + n * ROW;
      const spot = node("g", { class: `column ${c.impact || ""}` }, group);
      node("rect", { x: t.x + 2, y, width: t.width - 4, height: ROW, rx: 3 }, spot);
      node("title", {}, spot, `${t.name}.${c.name}`);
      node("text", { x: t.x + PAD, y: y + 13 }, spot, short(c.name));
      button(spot, `column ${t.name}.${c.name}`, () => chooseColumns([id(t.key, c.name)], [], `${t.name}.${c.name}`));
      spots.set(id(t.key, c.name), spot);
    });
    if (t.more) {
      node("text", { class: "owner", x: t.x + PAD, y: t.y + HEAD + t.shown.length * ROW + 13 }, group, `${t.more} more`);
    }
  }

  const byStart = (all) => {
    const found = new Map();
    for (const edge of all) found.has(edge.from) ? found.get(edge.from).push(edge) : found.set(edge.from, [edge]);
    return found;
  };
  const below = byStart(drawn), readers = byStart(reads);
  const walk = (start, next) => {
    const found = new Set(start), queue = [...start], along = new Set();
    while (queue.length) {
      for (const edge of next.get(queue.pop()) || []) {
        along.add(edge);
        if (!found.has(edge.to)) { found.add(edge.to); queue.push(edge.to); }
      }
    }
    return [found, along];
  };

  const light = (columns, columnEdges, lit, tableEdges, told) => {
    svg.classList.add("choosing");
    const touched = new Set([...columns].map((c) => c.split("\u0000")[0]));
    for (const [key, spot] of spots) {
      spot.classList.toggle("lit", columns.has(key));
      spot.classList.toggle("faint", !columns.has(key));
    }
    for (const [key, head] of heads) {
      head.classList.toggle("lit", lit.has(key));
      head.classList.toggle("faint", !lit.has(key) && !touched.has(key));
    }
    for (const edge of drawn) mark(edge, columnEdges);
    for (const edge of reads) mark(edge, tableEdges);
    said.textContent = told;
  };
  const mark = (edge, along) => {
    edge.path.classList.toggle("lit", along.has(edge));
    edge.path.classList.toggle("faint", !along.has(edge));
  };
  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  const chooseColumns = (start, rows, name) => {
    press(null);
    const [columns, along] = walk(start, below);
    const [lit, between] = walk(rows, readers);
    light(columns, along, lit, between, `${name} reaches ${plural(columns.size - start.length, "column")}.`);
  };
  const chooseTable = (t) => {
    chooseColumns(t.shown.map((c) => id(t.key, c.name)), [t.key], t.name);
  };
  const press = (chosen) => {
    for (const one of buttons) one.setAttribute("aria-pressed", String(one === chosen));
  };
  const clear = () => {
    press(null);
    svg.classList.remove("choosing");
    for (const lit of svg.querySelectorAll(".lit")) lit.classList.remove("lit");
    said.textContent = "";
  };

  const buttons = [...document.querySelectorAll("#changes button")];
  const keyOf = new Map(tables.map((t) => [id(t.project, t.name), t.key]));
  const chooseChange = (pressed) => {
    if (pressed.getAttribute("aria-pressed") === "true") { clear(); return; }
    const change = data.changes[Number(pressed.closest("li").dataset.change)];
    const key = keyOf.get(id(data.project, change.table));
    const t = byKey.get(key);
    const columns = new Set(), lit = new Set();
    if (t && change.column) columns.add(id(key, change.column));
    if (t && !change.column) { lit.add(key); t.shown.forEach((c) => columns.add(id(key, c.name))); }
    for (const c of change.reaches) {
      const reached = keyOf.get(id(c.project, c.table));
      if (reached && c.column) columns.add(id(reached, c.column));
      else if (reached) lit.add(reached);
    }
    const columnEdges = new Set(drawn.filter((e) => columns.has(e.from) && columns.has(e.to)));
    const tableEdges = new Set(reads.filter((e) => lit.has(e.to) && (lit.has(e.from) || e.from === key)));
    const values = change.reaches.filter((c) => c.column).length;
    light(columns, columnEdges, lit, tableEdges,
      `${change.table}${change.column ? "." + change.column : ""} reaches ${plural(values, "column")} ` +
      `and the rows of ${plural(change.reaches.length - values, "table")}.`);
    press(pressed);
    if (t) canvas.scrollTo({ left: t.x - 40, top: t.y - 40, behavior: "smooth" });
  };
  for (const one of buttons) one.addEventListener("click", () => chooseChange(one));

  let size = 1;
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") clear();
    if (event.key !== "+" && event.key !== "-") return;
    size = Math.min(2, Math.max(.4, size * (event.key === "+" ? 1.2 : 1 / 1.2)));
    svg.setAttribute("width", width * size);
    svg.setAttribute("height", height * size);
  });
})();
