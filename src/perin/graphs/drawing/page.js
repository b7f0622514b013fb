"use strict";
(() => {
  const graphs = JSON.parse(document.getElementById("graphs").textContent);
  const element = (id) => document.getElementById(id);
  const [stage, list, search, status, about] = ["stage", "list", "search", "status", "about"].map(element);
  const buttons = [];
  let shown = graphs.map((_, number) => number); // the graphs that the search leaves
  let current = -1;
  let zoom = 1; // 0: fit to the width
  let pinned = null;

  // Graphs of several frameworks are named by them, and a sentence stands once above all of its graphs.
  const several = new Set(graphs.map((graph) => graph.framework)).size > 1;
  const title = (graph) => (several && graph.framework ? `${graph.id} ${graph.framework.toUpperCase()}` : graph.id);
  const same = (one, other) => Boolean(other) && one.id === other.id && one.input === other.input;

  graphs.forEach((graph, number) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    const sentence = document.createElement("span");
    button.type = "button";
    button.textContent = title(graph);
    sentence.textContent = same(graph, graphs[number - 1]) ? "" : graph.input;
    button.append(sentence);
    button.addEventListener("click", () => show(number));
    item.append(button);
    list.append(item);
    buttons.push(button);
  });
  document.body.classList.toggle("single", graphs.length < 2);

  function show(number) {
    if (number === undefined || !graphs[number]) return;
    if (buttons[current]) buttons[current].removeAttribute("aria-current");
    current = number;
    const graph = graphs[number];
    const name = document.createElement("b");
    name.textContent = title(graph);
    about.replaceChildren(name, graph.input ? " " + graph.input : "");
    // The markup was escaped when the page was written; it holds no script, and the page's policy would run none.
    stage.innerHTML = graph.svg;
    stage.scrollTo(0, 0);
    pinned = null;
    buttons[number].setAttribute("aria-current", "true");
    buttons[number].scrollIntoView({ block: "nearest" });
    history.replaceState(null, "", "#" + encodeURIComponent(title(graph)));
    resize();
    count();
  }

  function count() {
    const place = shown.indexOf(current);
    const found = shown.length < graphs.length ? ` of ${graphs.length}` : "";
    status.textContent = shown.length ? `${place < 0 ? "–" : place + 1} / ${shown.length}${found}` : "nothing found";
    element("previous").disabled = !shown.length || place === 0;
    element("next").disabled = !shown.length || place === shown.length - 1;
  }

  function step(by) {
    const place = shown.indexOf(current);
    show(place < 0 ? shown[0] : shown[Math.min(Math.max(place + by, 0), shown.length - 1)]);
  }

  function find() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = [];
    graphs.forEach((graph, number) => {
      const hit = wanted.every((word) => graph.find.includes(word));
      buttons[number].parentNode.hidden = !hit;
      if (hit) shown.push(number);
    });
    if (shown.length && !shown.includes(current)) show(shown[0]);
    count();
  }

  function resize() {
    const svg = stage.querySelector("svg");
    if (!svg) return;
    const { width, height } = svg.viewBox.baseVal;
    const scale = zoom || Math.min(1, (stage.clientWidth - 34) / width);
    svg.setAttribute("width", width * scale);
    svg.setAttribute("height", height * scale);
    element("fit").setAttribute("aria-pressed", String(!zoom));
  }

  function setZoom(value) {
    zoom = value && Math.min(Math.max(value, 0.2), 4);
    resize();
  }

  function light(node) {
    const svg = stage.querySelector("svg");
    if (!svg) return;
    svg.querySelectorAll(".lit").forEach((part) => part.classList.remove("lit"));
    svg.classList.toggle("lit", Boolean(node));
    if (!node) return;
    const id = node.dataset.n;
    const near = new Set([id]);
    svg.querySelectorAll(".link").forEach((link) => {
      if (link.dataset.s === id || link.dataset.t === id) {
        link.classList.add("lit");
        near.add(link.dataset.s).add(link.dataset.t);
      }
    });
    svg.querySelectorAll(".node").forEach((other) => other.classList.toggle("lit", near.has(other.dataset.n)));
    const words = new Set((node.dataset.w || "").split(" "));
    svg.querySelectorAll(".word").forEach((word) => word.classList.toggle("lit", words.has(word.dataset.w)));
  }

  stage.addEventListener("mouseover", (event) => pinned || light(event.target.closest(".node")));
  stage.addEventListener("mouseleave", () => pinned || light(null));
  stage.addEventListener("click", (event) => {
    const node = event.target.closest(".node");
    pinned = node === pinned ? null : node;
    light(pinned);
  });

  const root = document.documentElement;
  function toggleTheme() {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  }

  const keys = {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    Home: () => show(shown[0]),
    End: () => show(shown[shown.length - 1]),
    "/": () => search.select(),
    "+": () => setZoom((zoom || 1) * 1.25),
    "-": () => setZoom((zoom || 1) / 1.25),
    0: () => setZoom(1),
    f: () => setZoom(zoom ? 0 : 1),
    t: toggleTheme,
    Escape: () => {
      pinned = null;
      light(null);
    },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Escape") {
        search.value = "";
        find();
        search.blur();
      } else if (event.key === "Enter") search.blur();
      return;
    }
    if (event.shiftKey && event.key.startsWith("Arrow")) {
      const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      stage.scrollBy(x * 160, y * 120);
      event.preventDefault();
      return;
    }
    const action = keys[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  element("previous").addEventListener("click", () => step(-1));
  element("next").addEventListener("click", () => step(1));
  element("fit").addEventListener("click", () => setZoom(zoom ? 0 : 1));
  element("theme").addEventListener("click", toggleTheme);
  search.addEventListener("input", find);
  addEventListener("resize", resize);

  function fromAddress() {
    const wanted = decodeURIComponent(location.hash.slice(1));
    const number = graphs.findIndex((graph) => wanted === graph.id || wanted === title(graph));
    if (number !== current || number < 0) show(Math.max(number, 0));
  }
  addEventListener("hashchange", fromAddress);
  fromAddress();
  count();
})();
