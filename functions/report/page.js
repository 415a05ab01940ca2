"use strict";
// The table of nodes, with search, states, order and pages. Whatever comes from the data is put in as text.
(() => {
  const table = document.getElementById("table");
  if (!table) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 50;
  const get = (id) => document.getElementById(id);
  const body = table.tBodies[0];
  const names = [], groupOf = [];
  data.groups.forEach((group, at) => {
    for (const name of group[4].split(" ")) { names.push(name); groupOf.push(at); }
  });
  const several = data.clusters.length > 1;
  const words = data.groups.map(([cluster, kernel, state, gets]) => [
    several ? data.clusters[cluster] : "", data.kernels[kernel], data.states[state][0],
    ...gets.flatMap(([module, one, mapping, what]) => [module, mapping, what].map((text) => data.texts[text]).concat(data.states[one][0])),
  ].join("\n").toLowerCase());
  const all = names.map((_, at) => at);
  const collator = new Intl.Collator("en", {numeric: true});
  const orders = {};

  function ranked(texts) {
    const rank = [];
    texts.map((_, at) => at).sort((a, b) => collator.compare(texts[a], texts[b])).forEach((at, place) => { rank[at] = place; });
    return rank;
  }

  // The rank of every node in the order of a column; made when it is first asked for.
  function rankOf(column) {
    if (!orders[column]) {
      const field = {cluster: 0, kernel: 1, state: 2}[column];
      if (field === undefined) orders[column] = ranked(names);
      else {
        const rank = field === 2 ? null : ranked(field ? data.kernels : data.clusters);
        orders[column] = groupOf.map((at) => (rank ? rank[data.groups[at][field]] : data.groups[at][field]));
      }
    }
    return orders[column];
  }

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function dot(state) {
    const made = element("i", data.states[state][1]);
    made.setAttribute("aria-hidden", "true");
    return made;
  }

  function row(at) {
    const [cluster, kernel, state, gets] = data.groups[groupOf[at]];
    const line = element("tr");
    const head = element("th", "mono", names[at]);
    head.scope = "row";
    line.append(head);
    if (table.tHead.querySelector("[data-sort=cluster]")) line.append(element("td", "mono", data.clusters[cluster]));
    line.append(element("td", "mono", data.kernels[kernel] || "not known"));
    const badge = element("span", "badge " + data.states[state][1]);
    badge.append(dot(state), data.states[state][0]);
    const cell = element("td");
    cell.append(badge);
    const what = element("td");
    for (const [module, own, mapping, text] of gets) {
      const one = element("div", "gets"), name = element("span", "mono");
      name.append(dot(own), data.texts[module]);
      one.append(name, " ", element("small", "", data.texts[mapping]), element("span", "mono what", data.texts[text]));
      what.append(one);
    }
    if (!gets.length) what.append(element("span", "any", "nothing"));
    line.append(cell, what);
    return line;
  }

  let found = all, page = 0, column = "", down = false;

  function select() {
    const terms = get("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const states = new Set([...document.querySelectorAll("[name=state]:checked")].map((box) => Number(box.value)));
    // What a group's words do not answer, a node's name has to.
    const left = data.groups.map((group, at) =>
      states.size && !states.has(group[2]) ? null : terms.filter((term) => !words[at].includes(term)));
    found = all.filter((at) => left[groupOf[at]] && left[groupOf[at]].every((term) => names[at].toLowerCase().includes(term)));
    if (column) {
      const rank = rankOf(column), sign = down ? -1 : 1;
      found.sort((a, b) => sign * (rank[a] - rank[b]) || a - b);
    }
    page = 0;
    show();
  }

  function show() {
    const pages = Math.max(1, Math.ceil(found.length / PAGE)), first = page * PAGE;
    body.replaceChildren(...found.slice(first, first + PAGE).map(row));
    const number = (value) => value.toLocaleString("en");
    get("status").textContent = `${number(found.length)} of ${number(names.length)} nodes`;
    get("page").textContent = `Page ${number(page + 1)} of ${number(pages)}`;
    get("previous").disabled = page === 0;
    get("next").disabled = page >= pages - 1;
    get("pages").hidden = pages === 1;
  }

  for (const head of table.tHead.querySelectorAll("[data-sort]")) {
    const button = element("button", "", head.textContent);
    button.type = "button";
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      down = column === head.dataset.sort && !down;
      column = head.dataset.sort;
      for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      select();
    });
  }
  let waiting = 0;
  get("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(select, 80); });
  get("controls").addEventListener("change", select);
  get("controls").addEventListener("submit", (event) => event.preventDefault());
  get("previous").addEventListener("click", () => { page -= 1; show(); });
  get("next").addEventListener("click", () => { page += 1; show(); });
  addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details")) one.open = true; });
  get("controls").hidden = false;
  if (get("rest")) get("rest").hidden = true;
  show();
})();
