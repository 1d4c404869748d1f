"use strict";
// Follows edges, filters, moves with keys. Texts are only ever copied as text; nothing is asked of anybody.
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const graphs = new Map();
  for (const name of ["beliefs", "code"]) {
    const view = $(`view-${name}`), svg = view.querySelector("svg");
    const nodes = svg ? [...svg.querySelectorAll(".node")] : [];
    const edges = svg ? [...svg.querySelectorAll(".edge")] : [];
    const beside = new Map(nodes.map((node) => [node.dataset.n, []]));
    for (const edge of edges) {
      beside.get(edge.dataset.a).push({ edge, to: edge.dataset.b, out: true });
      beside.get(edge.dataset.b).push({ edge, to: edge.dataset.a, out: false });
    }
    const byNumber = new Map(nodes.map((node) => [node.dataset.n, node]));
    if (nodes.length) nodes[0].setAttribute("tabindex", "0");
    graphs.set(name, { name, view, svg, nodes, edges, beside, byNumber, picked: null });
  }
  let now = graphs.get("beliefs").nodes.length || !graphs.get("code").nodes.length ? graphs.get("beliefs") : graphs.get("code");
  let onlyWalked = false;
  const idle = $("focus").firstElementChild.cloneNode(true);
  const title = (node) => node.querySelector("title").textContent;
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  function pick(node) {
    const { svg, edges, nodes, beside } = now;
    now.picked = node;
    svg.classList.toggle("picked", node !== null);
    for (const one of [...nodes, ...edges]) one.classList.remove("on", "near");
    const panel = $("focus");
    panel.replaceChildren();
    if (node === null) return panel.append(idle.cloneNode(true));
    node.classList.add("on");
    const list = element("ul");
    for (const { edge, to, out } of beside.get(node.dataset.n)) {
      if (edge.classList.contains("off")) continue;
      const other = now.byNumber.get(to);
      edge.classList.add("on");
      other.classList.add("near");
      const item = element("li", `${out ? "→" : "←"} ${edge.dataset.k} `), go = element("button", title(other).slice(0, 90));
      go.type = "button";
      go.addEventListener("click", () => { reach(other); pick(other); });
      item.append(go);
      if (edge.dataset.w) item.append(` ${edge.dataset.w}×`);
      list.append(item);
    }
    const head = element("p");
    head.append(element("b", title(node)), element("span", list.children.length ? `  tied to ${list.children.length}` : "  tied to nothing shown", "quiet"));
    panel.append(head, list);
  }

  function reach(node) {
    for (const one of now.nodes) one.setAttribute("tabindex", one === node ? "0" : "-1");
    node.focus({ preventScroll: false });
    node.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function sift() {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const { nodes, edges } = now;
    const walked = new Set(edges.filter((edge) => edge.dataset.w).flatMap((edge) => [edge.dataset.a, edge.dataset.b]));
    let shown = 0;
    const kept = new Set();
    for (const node of nodes) {
      const text = title(node).toLowerCase();
      const stays = words.every((word) => text.includes(word)) && (!onlyWalked || walked.has(node.dataset.n));
      node.classList.toggle("off", !stays);
      if (stays) { kept.add(node.dataset.n); shown += 1; }
    }
    for (const edge of edges) edge.classList.toggle("off", !kept.has(edge.dataset.a) || !kept.has(edge.dataset.b) || (onlyWalked && !edge.dataset.w));
    $("found").textContent = nodes.length && (words.length || onlyWalked) ? `${shown} of ${nodes.length} shown` : "";
    pick(now.picked && !now.picked.classList.contains("off") ? now.picked : null);
  }

  function show(name) {
    now = graphs.get(name);
    for (const one of graphs.values()) {
      one.view.hidden = one !== now;
      $(`show-${one.name}`).setAttribute("aria-pressed", String(one === now));
    }
    if (now.svg) sift(); else { $("focus").replaceChildren(idle.cloneNode(true)); $("found").textContent = ""; }
  }

  function move(from, dx, dy) {
    const here = from.getBBox(), all = now.nodes.filter((one) => one !== from && !one.classList.contains("off"));
    const ahead = all.map((one) => ({ one, box: one.getBBox() })).filter(({ box }) => {
      const x = Math.round(box.x - here.x), y = box.y - here.y;
      return dx ? Math.sign(Math.abs(x) > 40 ? x : 0) === dx : Math.abs(x) < 40 && Math.sign(y) === dy;
    });
    ahead.sort((a, b) => Math.abs(a.box.x - here.x) + Math.abs(a.box.y - here.y) * (dx ? 0.3 : 1) - Math.abs(b.box.x - here.x) - Math.abs(b.box.y - here.y) * (dx ? 0.3 : 1));
    if (ahead.length) { reach(ahead[0].one); if (now.picked) pick(ahead[0].one); }
  }

  for (const graph of graphs.values()) {
    for (const node of graph.nodes) {
      node.addEventListener("click", () => { reach(node); pick(node === now.picked ? null : node); });
      node.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(node === now.picked ? null : node); }
      });
    }
  }
  $("filter").addEventListener("input", sift);
  $("show-beliefs").addEventListener("click", () => show("beliefs"));
  $("show-code").addEventListener("click", () => show("code"));
  function toggleWalked() {
    onlyWalked = !onlyWalked;
    $("walked").setAttribute("aria-pressed", String(onlyWalked));
    if (now.svg) sift();
  }
  $("walked").addEventListener("click", toggleWalked);
  const theme = $("theme");
  const paint = () => { if (theme.value) root.dataset.theme = theme.value; else delete root.dataset.theme; };
  theme.addEventListener("change", paint);
  $("help-open").addEventListener("click", () => $("help").showModal());

  const panels = [...document.querySelectorAll(".panel")];
  let inside = -1; // the panel that was in use last; a node that is hidden takes the focus with it
  document.addEventListener("focusin", (event) => {
    const at = panels.findIndex((panel) => panel.contains(event.target));
    if (at >= 0) inside = at;
  });
  function turn(by) {
    const next = panels[Math.max(0, Math.min(panels.length - 1, inside + by))];
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start" });
  }
  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], h: [-1, 0], l: [1, 0], k: [0, -1], j: [0, 1] };
  function toGraph() {
    $("graph").scrollIntoView({ block: "start" });
    const first = now.nodes.find((node) => !node.classList.contains("off"));
    if (first) reach(now.picked || first); else $("graph").focus();
  }
  const KEYS = {
    "?": () => $("help").showModal(), "/": () => { $("graph").scrollIntoView({ block: "start" }); $("filter").focus(); },
    n: () => turn(1), p: () => turn(-1), g: toGraph, w: toggleWalked,
    v: () => show(now.name === "beliefs" ? "code" : "beliefs"),
    t: () => { theme.selectedIndex = (theme.selectedIndex + 1) % theme.options.length; paint(); },
    Escape: () => { $("filter").value = ""; onlyWalked = true; toggleWalked(); if (now.svg) pick(null); },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    const at = event.target, typing = at.matches("input, select, textarea");
    if (typing && event.key !== "Escape") {
      if (at.id === "filter" && (event.key === "Enter" || event.key === "ArrowDown")) { event.preventDefault(); toGraph(); }
      return;
    }
    const step = STEPS[event.key];
    if (step && at.matches(".node")) { event.preventDefault(); move(at, ...step); return; }
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  show(now.name);
})();
