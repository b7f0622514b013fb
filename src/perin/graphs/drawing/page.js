"use strict";
(() => {
  const graphs = JSON.parse(document.getElementById("graphs").textContent);
  const element = (id) => document.getElementById(id);
  const [stage, list, search, status, about] = ["stage", "list", "search", "status", "about"].map(element);
  const buttons = [];
  const hits = graphs.map(() => true); // whether the search finds a graph
  let order = []; // the numbers of all graphs, as they are listed
  let shown = []; // those that the search leaves
  let current = -1;
  let zoom = 1; // 0: fit to the width
  let pinned = null;

  // Graphs of several frameworks are named by them; those of a sentence stand together, below the sentence.
  const several = new Set(graphs.map((graph) => graph.framework)).size > 1;
  const title = (graph) => (several && graph.framework ? `${graph.id} ${graph.framework.toUpperCase()}` : graph.id);
  const sentence = (graph) => JSON.stringify([graph.id, graph.input]);
  const first = new Map();
  graphs.forEach((graph, number) => first.has(sentence(graph)) || first.set(sentence(graph), number));
  const percent = (graph) => (100 * graph.f1).toFixed(1);
  const compared = graphs.some((graph) => "f1" in graph);
  document.body.classList.toggle("compared", compared);

  const orders = {
    file: (one, other) => first.get(sentence(graphs[one])) - first.get(sentence(graphs[other])),
    worst: (one, other) => graphs[one].f1 - graphs[other].f1,
    best: (one, other) => graphs[other].f1 - graphs[one].f1,
  };

  graphs.forEach((graph, number) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.append(title(graph), document.createElement("span"));
    if ("f1" in graph) {
      const score = document.createElement("b");
      score.textContent = percent(graph);
      button.prepend(score);
    }
    button.addEventListener("click", () => show(number));
    item.append(button);
    buttons.push(button);
  });

  function arrange(by) {
    order = graphs.map((_, number) => number).sort((one, other) => orders[by](one, other) || one - other);
    let before = null;
    for (const number of order) {
      const graph = graphs[number];
      buttons[number].lastChild.textContent = sentence(graph) === before ? "" : graph.input;
      before = sentence(graph);
      list.append(buttons[number].parentNode);
    }
    shown = order.filter((number) => hits[number]);
  }
  arrange("file");
  document.body.classList.toggle("single", graphs.length < 2);

  function show(number) {
    if (number === undefined || !graphs[number]) return;
    if (buttons[current]) buttons[current].removeAttribute("aria-current");
    current = number;
    const graph = graphs[number];
    const name = document.createElement("b");
    name.textContent = title(graph);
    const score = "f1" in graph ? ` F1 ${percent(graph)}` : "";
    about.replaceChildren(name, score, graph.input ? " " + graph.input : "");
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
    graphs.forEach((graph, number) => {
      hits[number] = wanted.every((word) => graph.find.includes(word));
      buttons[number].parentNode.hidden = !hits[number];
    });
    shown = order.filter((number) => hits[number]);
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
    if (event.target.tagName === "SELECT") return;
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
  element("order").addEventListener("change", (event) => {
    arrange(event.target.value);
    show(shown[0]);
  });
  search.addEventListener("input", find);
  addEventListener("resize", resize);

  function fromAddress() {
    const wanted = decodeURIComponent(location.hash.slice(1));
    const number = graphs.findIndex((graph) => wanted === graph.id || wanted === title(graph));
    if (number !== current || number < 0) show(number < 0 ? order[0] : number);
  }
  addEventListener("hashchange", fromAddress);
  fromAddress();
  count();
})();
