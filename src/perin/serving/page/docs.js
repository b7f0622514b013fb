"use strict";
(async () => {
  const make = (tag, text, ...children) => {
    const element = document.createElement(tag);
    element.textContent = text;
    element.append(...children);
    return element;
  };
  const theme = localStorage.getItem("perin-theme");
  if (theme) document.documentElement.dataset.theme = theme;
  const kind = (field) => {
    if (field.anyOf) return field.anyOf.map(kind).join(" or ");
    if (field.enum) return field.enum.map((value) => JSON.stringify(value)).join(" or ");
    if (field.const !== undefined) return JSON.stringify(field.const);
    if (field.type === "array") {
      const items = kind(field.items || {});
      return "list of " + (items === "string" ? "strings" : items.replace(/^list of/, "lists of"));
    }
    return field.type === "null" ? "nothing" : field.type || "anything";
  };
  const api = await (await fetch("/openapi.json")).json();
  const sections = [];
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, about] of Object.entries(methods)) {
      const card = make("article", "");
      card.className = "card";
      card.append(make("header", "", make("h2", `${method.toUpperCase()} `), make("code", path), make("span", about.summary || "")));
      if (about.description) card.append(Object.assign(make("p", about.description), { className: "legend" }));
      const schema = about.requestBody?.content["application/json"]?.schema;
      if (schema) {
        const table = make("table", "");
        table.className = "fields";
        for (const [name, field] of Object.entries(schema.properties)) {
          const needed = (schema.required || []).includes(name);
          const standard = field.default === undefined || field.default === null ? "" : ` (default: ${JSON.stringify(field.default)})`;
          table.append(make("tr", "", make("td", "", make("code", name)), make("td", kind(field)), make("td", (field.description || "") + standard + (needed ? " (needed)" : ""))));
        }
        card.append(table);
      }
      sections.push(card);
    }
  }
  const list = document.getElementById("endpoints");
  list.replaceChildren(...sections);
})();
