"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const EXAMPLES = [
    ["eng", "The dog wants to sleep in the garden.", "control: who sleeps?"],
    ["eng", "Every farmer who owns a donkey feeds it.", "quantifiers and scope"],
    ["eng", "Pierre Vinken, 61 years old, will join the board as a nonexecutive director Nov. 29.", "names and dates"],
    ["deu", "Am nächsten Morgen fuhr er mit dem Zug nach Hause.", "German"],
    ["ces", "Podle něj se situace v příštím roce zlepší.", "Czech"],
    ["zho", "他希望明年能够去北京学习。", "Chinese"],
  ];

  const GUIDE = {
    eds: ["Elementary Dependency Structures", "What every word contributes: predicates, quantifiers and their arguments, each anchored to the text."],
    amr: ["Abstract Meaning Representation", "Who does what to whom, without the words: frames, roles, names and dates. A node with two parents is one thing in two roles."],
    drg: ["Discourse Representation Graphs", "Boxes hold what is said under a negation, a condition or a presupposition; concepts are WordNet senses."],
    ucca: ["Universal Conceptual Cognitive Annotation", "Units of meaning over the words: scenes with a process (P) or state (S), participants (A), and what links them."],
    ptg: ["Prague Tectogrammatical Graphs", "Deep syntax: content words with functors, and generated nodes for what is left unsaid."],
    umr: ["Uniform Meaning Representation", "AMR for all languages, with aspect, modality, person and number."],
  };
  const ALTERNATIVES = 5;
  // Scales of drawings: the least with which graphs share a row, and the least of all, below which they are scrolled.
  const READABLE = 0.8;
  const SMALLEST = 0.65;

  // ---- state: sentences, each with its tokens and views; a view is a graph, its drawing and what is known about it
  let known = null; // what /v1/models says
  let sentences = [];
  let current = 0;
  let gold = null; // {text, format, name}
  let chosen = null; // {view, node} or {view, edge}: what the panel shows
  let connecting = null; // {view, source}: the next click on a node makes an edge
  let edited = false;

  // ---- talking to the service
  async function ask(path, body, raw = false) {
    const headers = { "Content-Type": "application/json" };
    const key = sessionStorage.getItem("perin-key");
    if (key) headers.Authorization = "Bearer " + key;
    let answer;
    try {
      answer = await fetch(path, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
    } catch {
      throw new Error("The service can't be reached. Is it still running?");
    }
    if (answer.ok) return raw ? answer.blob() : answer.json();
    let told = `The service answered ${answer.status}.`;
    try {
      told = (await answer.json()).error.message;
    } catch {}
    if (answer.status === 401 && (await askForKey())) return ask(path, body, raw);
    if (answer.status === 429) told = "The service is busy; try again in a moment.";
    throw Object.assign(new Error(told), { status: answer.status });
  }

  function complain(error) {
    const message = byId("message");
    message.hidden = !error;
    message.textContent = error ? error.message || String(error) : "";
  }

  let fading = 0;
  function toast(text) {
    byId("toast").textContent = text;
    clearTimeout(fading);
    fading = setTimeout(() => (byId("toast").textContent = ""), 2500);
  }

  async function attempt(work) {
    document.body.classList.add("busy");
    complain(null);
    try {
      await work();
    } catch (error) {
      complain(error);
    } finally {
      document.body.classList.remove("busy");
    }
  }

  // ---- asking for graphs
  const chosenFrameworks = () => [...byId("frameworks").querySelectorAll("input:checked")].map((box) => box.value);

  // A model is chosen together with a language, as multi/ces.
  const keyOf = (model) => `${model.name}/${model.language}`;
  const modelBy = (key) => known.models.find((each) => keyOf(each) === key) || known.models.find((each) => each.name === key);
  const chosenModel = () => modelBy(byId("model").value);
  const LANGUAGES = { ces: "Czech", deu: "German", eng: "English", zho: "Chinese" };

  function fillFrameworks(wanted) {
    const model = chosenModel();
    const kept = wanted || chosenFrameworks();
    const boxes = model.frameworks.map((name) => {
      const checked = kept.length ? kept.includes(name) : true;
      return make("label", { class: "pill", title: (GUIDE[name] || [])[0] }, make("input", { type: "checkbox", value: name, checked }), make("span", {}, name));
    });
    const none = !boxes.some((label) => label.firstChild.checked);
    if (none) boxes.forEach((label) => (label.firstChild.checked = true));
    byId("frameworks").replaceChildren(make("legend", { class: "hidden" }, "Frameworks"), ...boxes);
  }

  async function parse(options = {}) {
    const text = byId("text").value.trim();
    if (!text) {
      byId("text").focus();
      return complain("Type a sentence first.");
    }
    await attempt(async () => {
      const frameworks = chosenFrameworks();
      if (!frameworks.length) throw new Error("Choose at least one framework.");
      const { name: model, language } = chosenModel();
      const answer = await ask("/v1/parse", { text, split: true, model, language, frameworks, probabilities: true, alternatives: ALTERNATIVES, with_tokens: true });
      if (!answer.sentences.length) throw new Error("There is nothing to parse in this text.");
      sentences = answer.sentences.map((each) => ({ text: each.text, tokens: each.tokens || [], error: each.error, graphs: each.graphs || [], views: null }));
      edited = false;
      remember({ text, model: byId("model").value, frameworks });
      await show(options.at || 0);
      if (answer.warning) complain(`Note: ${answer.warning}.`);
      setAddress();
    });
  }

  async function view(graphs) {
    const body = { graphs };
    if (gold) Object.assign(body, { gold: gold.text, gold_from: gold.format });
    const { views } = await ask("/v1/view", body);
    return views.map((each) => ({ ...each, undo: [], redo: [] }));
  }

  async function show(number) {
    current = Math.min(Math.max(number, 0), sentences.length - 1);
    const sentence = sentences[current];
    if (!sentence.views) sentence.views = sentence.error ? [] : await view(sentence.graphs);
    choose(null);
    byId("welcome").hidden = true;
    byId("results").hidden = false;
    byId("leaf").hidden = sentences.length < 2;
    byId("place").textContent = `${current + 1} of ${sentences.length}`;
    byId("previous").disabled = current === 0;
    byId("next").disabled = current === sentences.length - 1;
    if (sentence.error) complain(`This sentence: ${sentence.error}`);
    drawSentence(sentence);
    const cards = byId("cards");
    cards.replaceChildren(...sentence.views.map(card));
    sentence.views.forEach(fit);
  }

  async function showGraphs(text, format) {
    await attempt(async () => {
      const answer = await ask("/v1/convert", { graphs: text, from: format, to: "mrp" }, true);
      const graphs = (await answer.text()).split("\n").filter(Boolean).map((line) => JSON.parse(line));
      if (!graphs.length) throw new Error("There are no graphs in this file.");
      const groups = new Map();
      graphs.forEach((graph) => {
        const name = graph.input || graph.id;
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(graph);
      });
      sentences = [...groups].map(([name, group]) => ({ text: group[0].input || name, tokens: [], graphs: group, views: null }));
      await show(0);
    });
  }

  // ---- the sentence, word by word
  function drawSentence(sentence) {
    const place = byId("sentence");
    place.replaceChildren();
    let tokens = sentence.tokens;
    if (!tokens.length) tokens = [...sentence.text.matchAll(/\S+/g)].map((m) => ({ start: points(sentence.text, m.index), end: points(sentence.text, m.index + m[0].length) }));
    const characters = [...sentence.text]; // anchors count characters, not UTF-16 units
    let before = 0;
    for (const { start, end } of tokens) {
      if (start > before) place.append(characters.slice(before, start).join(""));
      const token = make("span", { class: "token" }, characters.slice(start, end).join(""));
      token.dataset.from = start;
      token.dataset.to = end;
      place.append(token);
      before = end;
    }
    place.append(characters.slice(before).join(""));
  }
  const points = (text, units) => [...text.slice(0, units)].length;

  byId("sentence").addEventListener("mouseover", (event) => {
    const token = event.target.closest(".token");
    light(token ? [[+token.dataset.from, +token.dataset.to]] : null);
  });
  byId("sentence").addEventListener("mouseleave", () => light(null));

  const overlaps = (ranges, from, to) => ranges.some(([start, end]) => start < to && from < end);
  const anchorsOf = (node) => (node.anchors || []).map((anchor) => [anchor.from, anchor.to]);
  // Where a node stands in the text: its anchors or, in graphs without any, the words that its label is made of.
  const placesOf = (node, anchored) => {
    if (anchored || !node.label) return anchorsOf(node);
    const stem = node.label.toLowerCase().replace(/^"|"$/g, "").replace(/-\d+$|\.[a-z]\.\d+$/, "");
    const tokens = sentences[current].tokens.filter((token) => [token.form, token.lemma].some((word) => word && word.toLowerCase() === stem));
    return tokens.map((token) => [token.start, token.end]);
  };
  const isAnchored = (graph) => graph.nodes.some((node) => node.anchors);

  // Light up what stands for these ranges of characters: words, and nodes of every graph; `own` is the view that the
  // pointer is in, where the node itself, its neighbours and its edges are lit whatever they are anchored to.
  function light(ranges, own = null, id = null) {
    document.querySelectorAll(".lit").forEach((part) => part.classList.remove("lit"));
    if (!ranges && id === null) return;
    const spans = ranges || [];
    byId("sentence").querySelectorAll(".token").forEach((token) => token.classList.toggle("lit", overlaps(spans, +token.dataset.from, +token.dataset.to)));
    for (const each of sentences[current].views || []) {
      const svg = each.svgElement;
      if (!svg || each.comparing) continue;
      const near = new Set();
      if (each === own) near.add(id);
      else each.graph.nodes.forEach((node) => placesOf(node, isAnchored(each.graph)).some(([from, to]) => overlaps(spans, from, to) && (own === null || to - from <= width(spans) + 1)) && near.add(node.id));
      each.words.forEach(([, from, to], number) => overlaps(spans, from, to) && svg.querySelectorAll(`.word[data-w="${number}"]`).forEach((word) => word.classList.add("lit")));
      if (!near.size) continue;
      svg.classList.add("lit");
      const lit = new Set(near);
      svg.querySelectorAll(".link").forEach((link) => {
        const touches = each === own ? near.has(+link.dataset.s) || near.has(+link.dataset.t) : near.has(+link.dataset.s) && near.has(+link.dataset.t);
        if (!touches) return;
        link.classList.add("lit");
        lit.add(+link.dataset.s).add(+link.dataset.t);
      });
      svg.querySelectorAll(".node").forEach((node) => lit.has(+node.dataset.n) && node.classList.add("lit"));
    }
  }
  const width = (spans) => Math.max(0, ...spans.map(([from, to]) => to - from));

  // ---- cards
  function card(each) {
    const graph = each.graph;
    const stage = make("div", { class: "stage", tabindex: "0", role: "region", "aria-label": `drawing of the ${graph.framework || "unnamed"} graph` });
    const edges = graph.edges ? graph.edges.length : 0;
    const head = make("header", {}, make("h2", { title: (GUIDE[graph.framework] || [])[0] }, graph.framework || "graph"), make("span", { class: "about" }, `${graph.nodes.length} nodes, ${edges} edges`));
    const errors = each.findings.filter((finding) => finding.severity === "error");
    if (errors.length) head.append(make("span", { class: "badge bad" }, `${errors.length} finding${errors.length > 1 ? "s" : ""}`));
    else head.append(make("span", { class: "badge good" }, "valid"));
    if (each.difference) head.append(make("span", { class: "badge", title: "F1 by the MRP metric" }, `F1 ${(100 * each.difference.f1).toFixed(1)}`));
    const actions = make("span", { class: "actions" });
    head.append(actions);
    if (each.difference) {
      const toggle = make("button", { type: "button", class: "compare", "aria-pressed": String(Boolean(each.comparing)) }, "Difference");
      toggle.addEventListener("click", () => {
        each.comparing = !each.comparing;
        choose(null);
        redraw(each);
      });
      actions.append(toggle);
    }
    actions.append(
      ...(each.undo.length || each.redo.length ? [
        make("button", { type: "button", title: "undo (Ctrl + Z)", "aria-label": "undo", disabled: !each.undo.length, onclick: () => travel(each, "undo", "redo") }, "↶"),
        make("button", { type: "button", title: "redo (Ctrl + Y)", "aria-label": "redo", disabled: !each.redo.length, onclick: () => travel(each, "redo", "undo") }, "↷"),
      ] : []),
      make("button", { type: "button", title: "add a node", onclick: () => addNode(each) }, "+ node"),
      make("button", { type: "button", class: "whole", "aria-pressed": String(Boolean(each.full)), title: "the whole width", "aria-label": "the whole width", onclick: () => { each.full = !each.full; redraw(each); } }, "⤢"),
      menu(each),
    );
    const box = make("article", { class: each.full ? "card wide" : "card", "aria-label": `${graph.framework || "unnamed"} graph` }, head, stage);
    // The service escapes all text in its drawings; they hold no script, and the page's policy would run none.
    stage.innerHTML = each.comparing ? each.difference.svg : each.svg;
    each.svgElement = stage.querySelector("svg");
    each.stage = stage;
    each.box = box;
    // Wide graphs get more of a row, and rows hold as many graphs as stay readable.
    box.style.setProperty("--need", `${Math.ceil(READABLE * each.svgElement.viewBox.baseVal.width) + 28}px`);
    if (each.comparing) box.append(make("p", { class: "legend" }, make("span", { class: "missing" }, "red, dashed: in gold only"), " · ", make("span", { class: "extra" }, "blue: in this graph only"), " · black: in both"));
    else wire(each);
    if (each.findings.length) {
      const items = each.findings.map((finding) => make("li", { class: finding.severity }, finding.message));
      box.append(make("ul", { class: errors.length ? "findings" : "findings notes", "aria-label": "findings of the validator" }, ...items));
    }
    return box;
  }

  function redraw(each) {
    const old = each.box;
    const scrolled = each.stage ? [each.stage.scrollLeft, each.stage.scrollTop] : [0, 0];
    old.replaceWith(card(each));
    fit(each);
    each.stage.scrollTo(...scrolled);
    mark();
  }

  function fit(each) {
    const svg = each.svgElement;
    if (!svg) return;
    const { width, height } = svg.viewBox.baseVal;
    const scale = Math.min(1, Math.max(SMALLEST, (each.stage.clientWidth - 28) / width));
    svg.setAttribute("width", width * scale);
    svg.setAttribute("height", height * scale);
  }

  // Edges are drawn in their order; those from or to nowhere are not drawn.
  const drawnEdges = (graph) => {
    const ids = new Set(graph.nodes.map((node) => node.id));
    return (graph.edges || []).map((edge, number) => [edge, number]).filter(([edge]) => ids.has(edge.source) && ids.has(edge.target));
  };

  function wire(each) {
    const svg = each.svgElement;
    svg.setAttribute("role", "group");
    const edges = drawnEdges(each.graph);
    const nodes = new Map(each.graph.nodes.map((node) => [node.id, node]));
    const anchored = isAnchored(each.graph);
    svg.querySelectorAll(".node").forEach((shape) => {
      const node = nodes.get(+shape.dataset.n);
      const title = shape.querySelector("title");
      prepare(shape, `node ${title ? title.textContent.replace(/^node /, "") : node.label || node.id}`, node.probability);
      shape.addEventListener("mouseenter", () => light(placesOf(node, anchored), each, node.id));
      shape.addEventListener("focus", () => light(placesOf(node, anchored), each, node.id));
      shape.addEventListener("click", () => pick(each, { node: node.id }));
    });
    svg.querySelectorAll(".link").forEach((shape, place) => {
      const [edge, number] = edges[place];
      prepare(shape, `edge ${edge.label || "without label"} from ${name(nodes.get(edge.source))} to ${name(nodes.get(edge.target))}`, edge.probability);
      shape.addEventListener("click", () => pick(each, { edge: number }));
    });
    svg.querySelectorAll(".word").forEach((word) => {
      const [, from, to] = each.words[+word.dataset.w];
      word.addEventListener("mouseenter", () => light([[from, to]]));
    });
    svg.addEventListener("mouseleave", () => light(null));
    svg.addEventListener("focusout", () => light(null));
    fade(each);
  }

  function prepare(shape, label, probability) {
    shape.setAttribute("tabindex", "0");
    shape.setAttribute("role", "button");
    shape.setAttribute("aria-label", probability === undefined ? label : `${label}, probability ${probability.toFixed(2)}`);
    if (probability !== undefined) shape.dataset.p = probability;
    shape.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        shape.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      }
    });
  }

  function fade(each) {
    const least = +byId("least").value;
    const on = byId("fade").checked;
    each.svgElement.querySelectorAll("[data-p]").forEach((shape) => {
      const probability = +shape.dataset.p;
      shape.style.setProperty("--p", on ? (0.3 + 0.7 * probability).toFixed(3) : "1");
      shape.classList.toggle("faint", probability < least);
    });
  }

  const name = (node) => (node ? node.label || `node ${node.id}` : "nowhere");

  // ---- downloads
  function menu(each) {
    const framework = each.graph.framework;
    const formats = known ? known.formats.filter((format) => format.write && (!format.frameworks.length || format.frameworks.includes(framework))) : [];
    const items = [...formats.map((format) => [format.name, format.suffix, "/v1/convert"]), ...["svg", "html", "png", "pdf", "text"].map((format) => [format, format === "text" ? ".txt" : "." + format, "/v1/draw"])];
    const buttons = items.map(([format, suffix, path]) =>
      make("button", { type: "button", onclick: () => attempt(() => download(each, format, suffix, path)) }, format));
    const copy = make("button", { type: "button", onclick: () => attempt(() => copyTikz(each)) }, "copy TikZ");
    const box = make("details", { class: "menu" }, make("summary", { "aria-label": "download or copy" }, "Save ▾"), make("div", {}, copy, ...buttons));
    box.addEventListener("click", (event) => event.target.closest("div button") && (box.open = false));
    return box;
  }

  // A graph without what formats other than MRP can't say, such as probabilities.
  const FIELDS = ["id", "flavor", "framework", "version", "time", "source", "language", "input", "tops", "nodes", "edges"];
  const NODE_FIELDS = ["id", "label", "properties", "values", "anchors"];
  const EDGE_FIELDS = ["id", "source", "target", "label", "normal", "attributes", "values", "anchors"];
  const only = (item, fields) => Object.fromEntries(fields.filter((name) => item[name] !== undefined).map((name) => [name, item[name]]));
  const bare = (graph) => ({
    ...only(graph, FIELDS),
    nodes: graph.nodes.map((node) => only(node, NODE_FIELDS)),
    edges: (graph.edges || []).map((edge) => only(edge, EDGE_FIELDS)),
  });

  async function download(each, format, suffix, path) {
    const body = { graphs: format === "mrp" ? each.graph : bare(each.graph), to: format };
    if (path === "/v1/draw" && each.comparing) body.gold = { ...each.difference.gold, id: each.graph.id, framework: each.graph.framework, language: each.graph.language };
    const address = URL.createObjectURL(await ask(path, body, true));
    make("a", { href: address, download: `${each.graph.framework || "graph"}-${each.graph.id}${suffix}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  async function copyTikz(each) {
    const blob = await ask("/v1/convert", { graphs: bare(each.graph), to: "tikz" }, true);
    await copy(await blob.text());
    toast("TikZ copied");
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { class: "hidden" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  // ---- choosing and editing
  function pick(each, what) {
    if (connecting && connecting.view === each && what.node !== undefined) {
      const source = connecting.source;
      connecting = null;
      return edit(each, (graph) => graph.edges.push({ source, target: what.node, label: "ARG1" }), (graph) => ({ edge: graph.edges.length - 1 }));
    }
    choose({ view: each, ...what });
  }

  function mark() {
    document.querySelectorAll(".chosen").forEach((part) => part.classList.remove("chosen"));
    if (!chosen || !chosen.view.svgElement) return;
    const svg = chosen.view.svgElement;
    if (chosen.node !== undefined) svg.querySelectorAll(`.node[data-n="${chosen.node}"]`).forEach((shape) => shape.classList.add("chosen"));
    else {
      const place = drawnEdges(chosen.view.graph).findIndex(([, number]) => number === chosen.edge);
      const shape = svg.querySelectorAll(".link")[place];
      if (shape) shape.classList.add("chosen");
    }
  }

  function choose(what) {
    chosen = what;
    if (!what) connecting = null;
    byId("panel").hidden = !what;
    document.body.classList.toggle("panelled", Boolean(what));
    if (what) byId("panel").replaceChildren(...(what.node !== undefined ? nodePanel(what.view, what.node) : edgePanel(what.view, what.edge)));
    mark();
    (sentences[current] && sentences[current].views ? sentences[current].views : []).forEach((each) => each.svgElement && fit(each));
  }

  const field = (label, value, change, list) => {
    const input = make("input", { type: "text", value: value || "", spellcheck: "false", "aria-label": label, list });
    input.addEventListener("change", () => change(input.value.trim()));
    return make("label", {}, label, input);
  };
  const heading = (text) => make("h2", {}, text, make("span", { class: "space" }), make("button", { type: "button", "aria-label": "close details", onclick: () => choose(null) }, "✕"));
  const likely = (label, value) => {
    if (value === undefined) return [];
    const bar = make("i");
    bar.style.setProperty("--p", value);
    return [make("h3", {}, `${label} ${value.toFixed(3)}`), make("div", { class: "meter", "aria-hidden": "true" }, bar)];
  };
  const alternatives = (item, apply) => {
    const others = (item.alternatives || []).filter(([label]) => label !== item.label);
    if (!others.length) return [];
    return [make("h3", {}, "Next best labels"), make("div", { class: "list" }, ...others.map(([label, value]) => {
      const button = make("button", { type: "button", class: "alternative", title: "take this label", onclick: () => apply(label) }, label, make("b", {}, value < 0.001 ? "< 0.001" : value.toFixed(3)));
      button.style.setProperty("--p", value);
      return button;
    }))];
  };

  function nodePanel(each, id) {
    const graph = each.graph;
    const node = graph.nodes.find((one) => one.id === id);
    const nodes = new Map(graph.nodes.map((one) => [one.id, one]));
    const change = (work) => edit(each, (copy) => work(copy.nodes.find((one) => one.id === id), copy), () => ({ node: id }));
    const words = anchorsOf(node).map(([from, to]) => [...(graph.input || "")].slice(from, to).join("")).join(" … ");
    const names = node.properties || [];
    const pairs = names.map((key, place) => make("div", { class: "pair" },
      make("input", { type: "text", value: key, "aria-label": "name of property", onchange: (event) => change((one) => (one.properties[place] = event.target.value)) }),
      make("input", { type: "text", value: node.values[place], "aria-label": `value of ${key}`, onchange: (event) => change((one) => (one.values[place] = event.target.value)) }),
      make("button", { type: "button", "aria-label": `remove ${key}`, onclick: () => change((one) => { one.properties.splice(place, 1); one.values.splice(place, 1); }) }, "✕")));
    const around = (graph.edges || []).map((edge, number) => [edge, number]).filter(([edge]) => edge.source === id || edge.target === id);
    const links = around.map(([edge, number]) => make("button", { type: "button", onclick: () => choose({ view: each, edge: number }) },
      edge.source === id ? `${edge.label || "–"} → ${name(nodes.get(edge.target))}` : `${name(nodes.get(edge.source))} → ${edge.label || "–"}`));
    const top = (graph.tops || []).includes(id);
    return [
      heading(`Node ${id}${top ? " (top)" : ""}`),
      field("Label", node.label, (value) => change((one) => { if (value) one.label = value; else delete one.label; delete one.alternatives; delete one.label_probability; })),
      ...(words ? [make("h3", {}, "Words"), make("div", {}, `“${words}”`)] : []),
      ...likely("Probability", node.probability),
      ...likely("Of the label", node.label_probability),
      ...alternatives(node, (label) => change((one) => (one.label = label))),
      make("h3", {}, "Properties"), ...pairs,
      make("button", { type: "button", onclick: () => change((one) => { (one.properties ||= []).push("name"); (one.values ||= []).push("value"); }) }, "Add a property"),
      ...(links.length ? [make("h3", {}, "Edges"), make("div", { class: "list" }, ...links)] : []),
      make("div", { class: "actions" },
        make("button", { type: "button", id: "connect", onclick: () => { connecting = { view: each, source: id }; toast("Click the node that the edge leads to"); } }, "Connect to …"),
        make("button", { type: "button", onclick: () => change((one, copy) => { copy.tops = top ? copy.tops.filter((other) => other !== id) : [id]; }) }, top ? "No top" : "Make it the top"),
        make("button", { type: "button", class: "danger", onclick: () => remove() }, "Delete node")),
    ];
  }

  function edgePanel(each, number) {
    const edge = each.graph.edges[number];
    const change = (work) => edit(each, (copy) => work(copy.edges[number], copy), () => ({ edge: number }));
    const ends = (which) => {
      const list = make("select", { "aria-label": which });
      each.graph.nodes.forEach((node) => list.append(make("option", { value: node.id, selected: node.id === edge[which] }, `${node.id}: ${name(node)}`)));
      list.addEventListener("change", () => change((one) => (one[which] = +list.value)));
      return make("label", {}, which === "source" ? "From" : "To", list);
    };
    const labels = [...new Set(each.graph.edges.map((one) => one.label).filter(Boolean))];
    const attributes = (edge.attributes || []).map((key, place) => `${key} = ${(edge.values || [])[place]}`).join(", ");
    return [
      heading("Edge"),
      field("Label", edge.label, (value) => change((one) => { if (value) one.label = value; else delete one.label; delete one.alternatives; delete one.label_probability; }), "edge-labels"),
      make("datalist", { id: "edge-labels" }, ...labels.map((label) => make("option", { value: label }))),
      ends("source"), ends("target"),
      ...(attributes ? [make("h3", {}, "Attributes"), make("div", {}, attributes)] : []),
      ...likely("Probability", edge.probability),
      ...likely("Of the label", edge.label_probability),
      ...alternatives(edge, (label) => change((one) => (one.label = label))),
      make("div", { class: "actions" },
        make("button", { type: "button", onclick: () => change((one) => ([one.source, one.target] = [one.target, one.source])) }, "Turn round"),
        make("button", { type: "button", class: "danger", onclick: () => remove() }, "Delete edge")),
    ];
  }

  function remove() {
    if (!chosen) return;
    const { view: each, node, edge } = chosen;
    edit(each, (graph) => {
      if (edge !== undefined) return graph.edges.splice(edge, 1);
      graph.nodes = graph.nodes.filter((one) => one.id !== node);
      graph.edges = graph.edges.filter((one) => one.source !== node && one.target !== node);
      graph.tops = (graph.tops || []).filter((top) => top !== node);
    }, () => null);
  }

  function addNode(each) {
    const id = Math.max(-1, ...each.graph.nodes.map((node) => node.id)) + 1;
    edit(each, (graph) => graph.nodes.push({ id, label: "new" }), () => ({ node: id }));
  }

  function edit(each, work, after) {
    const copy = structuredClone(each.graph);
    copy.edges ||= [];
    work(copy);
    return replaceGraph(each, copy, () => {
      each.undo.push(each.graph);
      each.redo.length = 0;
    }, after);
  }

  function travel(each, from, to) {
    if (!each[from].length) return;
    const graph = each[from][each[from].length - 1];
    return replaceGraph(each, graph, () => {
      each[from].pop();
      each[to].push(each.graph);
    }, () => null);
  }

  function replaceGraph(each, graph, before, after) {
    return attempt(async () => {
      const [fresh] = await view([graph]);
      before();
      Object.assign(each, { graph: fresh.graph, svg: fresh.svg, words: fresh.words, findings: fresh.findings, difference: fresh.difference });
      edited = true;
      redraw(each);
      const what = after ? after(each.graph) : null;
      choose(what ? { view: each, ...what } : null);
      setAddress();
    });
  }

  // ---- gold
  const formatOf = (fileName) => {
    const stem = fileName.toLowerCase().replace(/\.gz$/, "");
    const found = known.formats.find((format) => format.read && stem.endsWith(format.suffix));
    return found ? found.name : /\.(jsonl?|mrp)$/.test(stem) ? "mrp" : null;
  };

  async function compare(file) {
    await attempt(async () => {
      if (!sentences.length) throw new Error("Parse a sentence first, then compare it with gold.");
      if (file.size > known.limits.bytes / 2) throw new Error(`The file is too large to be compared here (${known.limits.bytes / 2} bytes at most).`);
      gold = { text: await file.text(), format: formatOf(file.name) || "mrp", name: file.name };
      try {
        await regard();
      } catch (error) {
        gold = null;
        await regard();
        throw error;
      }
      byId("no-gold").hidden = false;
      const found = sentences[current].views.filter((each) => each.difference).length;
      if (!found) throw new Error(`${file.name} has no gold graph of this sentence and these frameworks.`);
    });
  }

  async function regard() {
    for (const sentence of sentences) {
      if (sentence.views) sentence.graphs = sentence.views.map((each) => each.graph);
      sentence.views = null;
    }
    await show(current);
    if (gold) {
      sentences[current].views.forEach((each) => {
        each.comparing = Boolean(each.difference);
        if (each.comparing) redraw(each);
      });
    }
  }

  // ---- permalink
  async function packed(value) {
    const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    let text = "";
    bytes.forEach((byte) => (text += String.fromCharCode(byte)));
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  }
  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }

  async function setAddress() {
    const parts = new URLSearchParams({ t: byId("text").value.trim(), m: byId("model").value, f: chosenFrameworks().join(",") });
    if (current) parts.set("n", current + 1);
    if (+byId("least").value) parts.set("p", byId("least").value);
    if (edited && sentences[current].views) parts.set("g", await packed(sentences[current].views.map((each) => each.graph)));
    history.replaceState(null, "", "#" + parts);
  }

  async function fromAddress() {
    const parts = new URLSearchParams(location.hash.slice(1));
    if (!parts.get("t") && !parts.get("g")) return;
    byId("text").value = parts.get("t") || "";
    if (modelBy(parts.get("m"))) byId("model").value = keyOf(modelBy(parts.get("m")));
    fillFrameworks((parts.get("f") || "").split(",").filter(Boolean));
    byId("least").value = parts.get("p") || 0;
    byId("least-value").textContent = (+byId("least").value).toFixed(2);
    if (!parts.get("g")) return parse({ at: (+parts.get("n") || 1) - 1 });
    await attempt(async () => {
      let graphs;
      try {
        graphs = await unpacked(parts.get("g"));
      } catch {
        throw new Error("The link is damaged: its graphs can't be read.");
      }
      sentences = [{ text: graphs[0].input || parts.get("t") || "", tokens: [], graphs, views: null }];
      edited = true;
      await show(0);
    });
  }

  // ---- history
  const past = () => {
    try {
      return JSON.parse(localStorage.getItem("perin-history") || "[]");
    } catch {
      return [];
    }
  };
  function remember(entry) {
    const others = past().filter((each) => each.text !== entry.text || each.model !== entry.model);
    try {
      localStorage.setItem("perin-history", JSON.stringify([entry, ...others].slice(0, 30)));
    } catch {}
  }

  // ---- dialogs
  function dialog(title, ...content) {
    byId("dialog-title").textContent = title;
    byId("dialog-body").replaceChildren(...content);
    byId("dialog").showModal();
  }
  function showHistory() {
    const entries = past();
    const list = entries.map((entry) => make("button", { type: "button", onclick: () => { byId("dialog").close(); load(entry); } }, entry.text.slice(0, 200), make("small", {}, `${entry.model}: ${entry.frameworks.join(", ")}`)));
    const clear = make("button", { type: "button", class: "danger", onclick: () => { localStorage.removeItem("perin-history"); byId("dialog").close(); } }, "Forget all");
    dialog("History", ...(entries.length ? [make("div", { class: "list" }, ...list), clear] : [make("p", {}, "Nothing yet. What you parse is remembered in this browser only.")]));
  }
  const KEYS = [["Ctrl + Enter", "parse"], ["/", "to the text"], ["← →", "other sentences"], ["Tab, Enter", "walk through nodes and edges, open one"], ["Delete", "delete the open node or edge"], ["Ctrl + Z, Ctrl + Y", "undo, redo"], ["t", "light or dark"], ["Escape", "close"], ["?", "this help"]];
  function showHelp() {
    const rows = KEYS.map(([keys, what]) => make("tr", {}, make("td", {}, make("kbd", {}, keys)), make("td", {}, what)));
    dialog("Help", make("p", {}, "Point at a word to see its nodes, and at a node to see its words and neighbours. Click a node or an edge for its probabilities, and to change it; the validator's findings follow at once. Drop a file of text or graphs on the page, or compare with a gold file."), make("table", {}, make("tbody", {}, ...rows)), make("p", {}, "For programs there is an interface: ", make("a", { href: "/docs" }, "what it can do"), "."));
  }
  function askForKey() {
    return new Promise((resolve) => {
      const input = make("input", { type: "password", "aria-label": "key", autocomplete: "off" });
      dialog("This service asks for a key", input);
      input.focus();
      byId("dialog").addEventListener("close", () => {
        if (input.value) sessionStorage.setItem("perin-key", input.value);
        resolve(Boolean(input.value));
      }, { once: true });
    });
  }
  function load(entry) {
    byId("text").value = entry.text;
    if (modelBy(entry.model)) byId("model").value = keyOf(modelBy(entry.model));
    fillFrameworks(entry.frameworks);
    parse();
  }

  // ---- files
  async function drop(file) {
    const format = formatOf(file.name);
    if (file.size > known.limits.bytes / 2) return complain(`The file is too large for the page (${known.limits.bytes / 2} bytes at most); the interface takes more.`);
    const text = await file.text();
    if (format) return showGraphs(text, format);
    byId("text").value = text;
    return parse();
  }

  // ---- theme and keys
  const root = document.documentElement;
  function toggleTheme() {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("perin-theme", root.dataset.theme);
  }
  const theme = localStorage.getItem("perin-theme");
  if (theme) root.dataset.theme = theme;

  const step = (by) => sentences.length && attempt(() => show(current + by).then(setAddress));
  const keys = {
    "/": () => byId("text").select(),
    "?": showHelp,
    t: toggleTheme,
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    Delete: remove,
    Escape: () => { choose(null); light(null); },
  };
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") return parse();
    const typing = event.target.matches("input, textarea, select");
    if ((event.ctrlKey || event.metaKey) && !typing && "zy".includes(event.key)) {
      const each = chosen ? chosen.view : (sentences[current]?.views || []).find((one) => one[event.key === "z" ? "undo" : "redo"].length);
      if (each) event.key === "z" ? travel(each, "undo", "redo") : travel(each, "redo", "undo");
      return event.preventDefault();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || byId("dialog").open) return;
    if (typing && event.key !== "Escape") return;
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  byId("form").addEventListener("submit", (event) => { event.preventDefault(); parse(); });
  byId("model").addEventListener("change", () => fillFrameworks([]));
  byId("theme").addEventListener("click", toggleTheme);
  byId("help-button").addEventListener("click", showHelp);
  byId("history-button").addEventListener("click", showHistory);
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("link").addEventListener("click", async () => { await setAddress(); await copy(location.href); toast("Link copied"); });
  byId("gold").addEventListener("change", (event) => { if (event.target.files[0]) compare(event.target.files[0]); event.target.value = ""; });
  byId("no-gold").addEventListener("click", () => attempt(async () => { gold = null; byId("no-gold").hidden = true; await regard(); }));
  const refade = () => {
    byId("least-value").textContent = (+byId("least").value).toFixed(2);
    (sentences[current]?.views || []).forEach((each) => each.comparing || fade(each));
  };
  byId("least").addEventListener("input", refade);
  byId("least").addEventListener("change", setAddress);
  byId("fade").addEventListener("change", refade);
  addEventListener("resize", () => (sentences[current]?.views || []).forEach(fit));
  addEventListener("hashchange", () => known && fromAddress());
  document.addEventListener("click", (event) => document.querySelectorAll("details.menu[open]").forEach((box) => box.contains(event.target) || (box.open = false)));
  addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
  addEventListener("dragleave", () => document.body.classList.remove("dropping"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const file = event.dataTransfer.files[0];
    if (file && known) attempt(() => drop(file));
  });

  async function models() {
    for (let left = 60; ; left--) {
      try {
        return await ask("/v1/models");
      } catch (error) {
        if (error.status !== 503 || !left) throw error;
        complain(error); // the models are being loaded
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  }

  attempt(async () => {
    known = await models();
    complain(null);
    byId("model").replaceChildren(...known.models.map((model) => make("option", { value: keyOf(model) }, `${LANGUAGES[model.language] || model.language} (${model.name})`)));
    fillFrameworks([]);
    const fitting = EXAMPLES.map(([language, ...rest]) => [known.models.find((model) => model.language === language), ...rest]).filter(([model]) => model);
    byId("examples").replaceChildren(...fitting.map(([model, text, note]) =>
      make("li", {}, make("button", { type: "button", onclick: () => load({ text, model: keyOf(model), frameworks: model.frameworks }) }, text, make("small", {}, note)))));
    const there = new Set(known.models.flatMap((model) => model.frameworks));
    const guided = Object.entries(GUIDE).filter(([framework]) => there.has(framework));
    byId("guide").replaceChildren(...guided.map(([framework, [title, about]]) =>
      make("div", {}, make("dt", {}, `${framework.toUpperCase()} · ${title}`), make("dd", {}, about))));
    document.body.dataset.ready = "true";
    await fromAddress();
  });
})();
