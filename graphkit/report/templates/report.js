(() => {
  // Text from data reaches the page by textContent and setAttribute only; spine.js inserts what was escaped before.
  const SVG = "http://www.w3.org/2000/svg";
  const PER_PAGE = 100;
  // What can be true of a question, in the order in which the table sorts it, with the kind and the text of its tag.
  const FLAGS = {
    failed: ["bad", "failed"], absent: ["bad", "no record"], complete: ["good", "path complete"], turn: ["turn", "wrong turn"],
    incoherent: ["bad", "incoherent"], off_pin: ["turn", "off pin"], invalid: ["bad", "invalid"], unlogged: ["turn", "traversal not logged"],
  };
  const TAG_ORDER = ["failed", "absent", "invalid", "unlogged", "complete", "turn", "incoherent", "off_pin"];
  const data = JSON.parse(document.getElementById("summary").textContent);
  const $ = (id) => document.getElementById(id);

  const fill = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") for (const [event, call] of Object.entries(value)) node.addEventListener(event, call);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return node;
  };
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const shown = (value) => (value === null || value === undefined ? "–" : value.toFixed(4));
  const middle = (text, room) => {
    const marks = Array.from(text);
    return marks.length <= room ? text : marks.slice(0, Math.ceil(room / 2) - 1).join("") + "…" + marks.slice(-Math.floor(room / 2)).join("");
  };
  const counted = (count, noun, plural = `${noun}s`) => `${count} ${count === 1 ? noun : plural}`;
  // A name in a table: cut in the middle where it is long, with the whole in its title.
  const brief = (text, room) => {
    const short = middle(text, room);
    return el("bdi", { title: short === text ? null : text }, short);
  };
  const measureAt = (name) => data.measures.findIndex((one) => one.name === name);
  const EDGE_RECALL = Math.max(measureAt("EdgeRecall"), 0);

  const state = { run: 0, page: 0, sort: -1, down: false, open: -1, asked: null, address: "", list: [] };
  const run = () => data.runs[state.run];
  const outcome = (number) => run().questions[number];

  // Distributions ------------------------------------------------------------------------------------------------
  const drawDistributions = () => {
    $("dist").replaceChildren(...data.measures.map((measure, place) => {
      const values = run().values[place].filter((value) => value !== null);
      const bins = new Array(10).fill(0);
      const [low, high] = measure.range;
      const edge = (bin) => (low + ((high - low) * bin) / 10).toFixed(1);
      for (const value of values) bins[Math.max(0, Math.min(9, Math.floor(((value - low) / (high - low)) * 10 + 1e-9)))] += 1;
      const most = Math.max(1, ...bins);
      const words = bins.map((count, bin) => (count ? `${edge(bin)} to ${edge(bin + 1)}: ${count}` : "")).filter(Boolean).join(", ") || "nothing was scored";
      const drawing = svg("svg", { viewBox: "0 0 220 78", role: "img", "aria-label": words },
        svg("title", {}, words),
        bins.map((count, bin) => (count ? [
          svg("rect", { x: bin * 22 + 2, y: 62 - (48 * count) / most, width: 18, height: Math.max((48 * count) / most, 1.5) }),
          svg("text", { x: bin * 22 + 11, y: 59 - (48 * count) / most, "text-anchor": "middle" }, count)] : [])),
        svg("line", { x1: 0, y1: 62.5, x2: 220, y2: 62.5 }),
        svg("text", { x: 2, y: 74 }, String(low)), svg("text", { x: 218, y: 74, "text-anchor": "end" }, String(high)));
      return el("figure", { class: "card" },
        el("figcaption", {}, el("span", { title: measure.definition }, measure.name, measure.lower ? el("span", { class: "dim" }, " (lower is better)") : null),
          el("span", {}, shown(run().means[place]), el("span", { class: "dim" }, ` ${values.length}/${data.questions.length}`))),
        drawing);
    }));
  };

  // Table --------------------------------------------------------------------------------------------------------
  const texts = data.questions.map((question) => `${question.id} ${question.text}`.toLowerCase());
  const has = (flag) => (number) => outcome(number).flags.includes(flag);
  // The status, the passed tests and all tests of an answer's code; null where none was executed.
  const execution = (n) => (run().executions || [])[n] || null;
  const tested = (n) => (execution(n) && execution(n).total ? execution(n) : null);
  const lucky = (n) => outcome(n).answer === "right" && outcome(n).path === "wrong";
  const WHAT = [
    ["", "anything", () => true],
    ["complete", "path complete", has("complete")],
    ["incomplete", "path incomplete", (n) => !has("complete")(n) && outcome(n).required > 0],
    ["turn", "wrong turn", has("turn")],
    ["incoherent", "incoherent commits", has("incoherent")],
    ["off-pin", "off pin", has("off_pin")],
    ["failed", "failed", has("failed")],
    ["absent", "without a record", has("absent")],
    ["invalid", "invalid for stale gold", has("invalid")],
    ["unlogged", "traversal not logged", has("unlogged")],
    ["right", "right answer", (n) => outcome(n).answer === "right"],
    ["wrong", "wrong answer", (n) => outcome(n).answer === "wrong"],
    ["undecided", "answer undecided", (n) => outcome(n).answer === "undecided"],
    ["sound", "right answer by the right path", (n) => outcome(n).answer === "right" && outcome(n).path === "right"],
    ["luck", "right answer by a wrong path", lucky],
    ["misread", "wrong answer by the right path", (n) => outcome(n).answer === "wrong" && outcome(n).path === "right"],
    ["lost", "wrong answer by a wrong path", (n) => outcome(n).answer === "wrong" && outcome(n).path === "wrong"],
    ...(data.statuses ? [["code-failed", "code: not every test passed", (n) => execution(n) !== null && execution(n).status !== "success"]] : []),
    ...Object.entries(data.statuses || {}).map(([status, words]) => [`code-${status}`, `code: ${words}`, (n) => execution(n) !== null && execution(n).status === status]),
    ...data.stages.map((name, place) => [`stage-${place}`, `ended: ${name}`, (n) => outcome(n).stage === name]),
  ];
  const LEVELS = ["easy", "medium", "hard"];
  // Questions whose key is null come last, in both directions.
  const columns = () => [
    ["question", (n) => data.questions[n].id],
    ["text", (n) => data.questions[n].text],
    ["category", (n) => data.questions[n].category],
    ["difficulty", (n) => LEVELS.indexOf(data.questions[n].difficulty) + 1 || null],
    ["edges found", (n) => (outcome(n).required ? outcome(n).found / outcome(n).required : null)],
    [data.measures[Number($("f-measure").value) || 0].name, (n) => run().values[Number($("f-measure").value) || 0][n]],
    ...(data.statuses ? [["tests passed", (n) => (tested(n) ? tested(n).passed / tested(n).total : null)]] : []),
    ["what happened", (n) => Object.keys(FLAGS).reduce((sum, flag, place) => sum + (has(flag)(n) ? 2 ** place : 0), 0)],
  ];
  const codeTag = (status, words) => el("span", { class: `tag ${status === "success" ? "good" : "bad"}` }, words);
  const tags = (n) => {
    const found = TAG_ORDER.filter((flag) => has(flag)(n)).map((flag) => el("span", { class: `tag ${FLAGS[flag][0]}` }, FLAGS[flag][1]));
    if (outcome(n).answer === "right") found.push(el("span", { class: "tag good" }, "right answer"));
    if (outcome(n).answer === "wrong") found.push(el("span", { class: "tag bad" }, "wrong answer"));
    if (lucky(n)) found.push(el("span", { class: "tag turn" }, "luck"));
    if (execution(n)) found.push(codeTag(execution(n).status, data.statuses[execution(n).status]));
    return found;
  };
  const link = (number) => `#${encodeURIComponent(run().name)}/${encodeURIComponent(data.questions[number].id)}${address.query()}`;

  const filter = () => {
    const words = $("f-text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const category = $("f-category").value, difficulty = $("f-difficulty").value;
    const what = WHAT.find(([name]) => name === $("f-what").value)[2];
    const measure = Number($("f-measure").value) || 0;
    const bound = $("f-bound").value === "" ? null : Number($("f-bound").value);
    const edge = $("f-edge").value === "" ? null : Number($("f-edge").value);
    state.list = [];
    for (let n = 0; n < data.questions.length; n += 1) {
      const question = data.questions[n];
      if (category && question.category !== category) continue;
      if (difficulty && question.difficulty !== difficulty) continue;
      if (words.length && !words.every((word) => texts[n].includes(word))) continue;
      if (!what(n)) continue;
      if (edge !== null && !($("f-missed").checked ? run().missed[n] : data.edges.needs[n]).includes(edge)) continue;
      if (bound !== null) {
        const value = run().values[measure][n];
        if (value === null || value > bound) continue;
      }
      state.list.push(n);
    }
    if (state.sort >= 0) {
      const key = columns()[state.sort][1];
      const keys = new Map(state.list.map((n) => [n, key(n)]));
      const sign = state.down ? -1 : 1;
      state.list.sort((a, b) => {
        const one = keys.get(a), two = keys.get(b);
        if (one === null || two === null) return (one === null) - (two === null) || a - b;
        return (one < two ? -sign : one > two ? sign : 0) || a - b;
      });
    }
    state.page = 0;
    $("count").textContent = `${state.list.length} of ${counted(data.questions.length, "question")}`;
    drawTable();
  };

  const drawTable = () => {
    const pages = Math.max(1, Math.ceil(state.list.length / PER_PAGE));
    const measure = Number($("f-measure").value) || 0;
    $("table").tHead.replaceChildren(el("tr", {}, columns().map(([name], place) =>
      el("th", { scope: "col", "aria-sort": state.sort === place ? (state.down ? "descending" : "ascending") : "none" },
        el("button", { type: "button", on: { click: () => sortBy(place) } }, name, state.sort === place ? (state.down ? " ▼" : " ▲") : "")))));
    $("table").tBodies[0].replaceChildren(...state.list.slice(state.page * PER_PAGE, (state.page + 1) * PER_PAGE).map((n) => {
      const { id, text, category, difficulty } = data.questions[n];
      const { found, required } = outcome(n);
      return el("tr", {},
        el("th", { scope: "row" }, el("a", { href: link(n) }, brief(id, 40))),
        el("td", {}, el("bdi", {}, text)),
        el("td", {}, brief(category, 24)),
        el("td", {}, difficulty),
        el("td", { class: "num" }, required ? `${found} of ${required}` : "–"),
        el("td", { class: "num" }, shown(run().values[measure][n])),
        data.statuses ? el("td", { class: "num" }, tested(n) ? `${tested(n).passed} of ${tested(n).total}` : "–") : null,
        el("td", {}, tags(n)));
    }));
    const turn = (step) => () => { state.page += step; drawTable(); $("questions").scrollIntoView(); };
    $("pages").replaceChildren(
      el("button", { type: "button", disabled: state.page === 0, on: { click: turn(-1) } }, "Previous page"),
      el("span", {}, `Page ${state.page + 1} of ${pages}`),
      el("button", { type: "button", disabled: state.page >= pages - 1, on: { click: turn(1) } }, "Next page"));
  };
  const sortBy = (place) => {
    state.down = state.sort === place ? !state.down : false;
    state.sort = place;
    filter();
    $("table").tHead.querySelectorAll("button")[place].focus();
  };

  // Detail -------------------------------------------------------------------------------------------------------
  // The details, verdicts and executions of the open question's block; undefined where there are none.
  const held = { d: undefined, j: undefined, x: undefined };
  const hold = async (number) => {
    const found = await Promise.all(Object.keys(held).map((kind) => blocks.read(`${kind}-${state.run}-${outcome(number).block}`)));
    return () => Object.keys(held).forEach((kind, place) => { held[kind] = found[place]; });
  };
  const within = (kind, number) => held[kind]?.[number];
  const detailOf = (number) => within("d", number);
  const word = (kind) => ({ turn: "wrong turn", unattempted: "not attempted", unlogged: "not logged" })[kind] || kind;
  const KINDS = [
    ["matched", "matched: gold and traversed", "solid"],
    ["missed", "missed: required, not traversed", "dashed"],
    ["unattempted", "not attempted: the question failed or has no record", "dash-dot-dot"],
    ["unlogged", "not logged: the record has no traversal", "dash-dot-dot"],
    ["turn", "wrong turn: where the traversal left the path", "thick"],
    ["optional", "optional, not traversed: no loss", "dotted"],
    ["alternative", "from another alternative: no loss", "dash-dotted"],
    ["extra", "extra: traversed, not gold", "thin"],
  ];

  const clashesOf = (detail) => {
    const found = new Map();
    detail.pairs.forEach(({ commits }, number) => {
      for (const commit of commits) found.set(commit, [...(found.get(commit) || []), number + 1]);
    });
    return found;
  };
  const commitText = (detail, number) => {
    const { sha, name } = detail.commits[number];
    return sha.slice(0, 8) + (name ? ` ${middle(name, 12)}` : "");
  };

  const marked = (marks) => [
    ["left", "✕ path left here", "where the traversal left a gold path"],
    ["never_entered", "never entered", "the start of a gold path that no traversal reached"],
  ].filter(([mark]) => marks.includes(mark));

  const drawing = (detail) => {
    const clashes = clashesOf(detail);
    const { width, height, lanes, nodes, edges, omitted } = detail.drawing;
    const counts = Object.fromEntries(KINDS.map(([kind]) => [kind, edges.filter((edge) => edge.status === kind).length]));
    const words = `${counted(lanes.length, "repository", "repositories")}, ${counted(nodes.length, "node")}; edges: ` +
      KINDS.filter(([kind]) => counts[kind]).map(([kind]) => `${counts[kind]} ${word(kind)}`).join(", ") + ". The table below lists them.";
    const arrow = (kind) => svg("marker", { id: `arrow-${kind}`, viewBox: "0 0 10 10", refX: 9, refY: 5, markerUnits: "userSpaceOnUse", markerWidth: kind === "turn" ? 16 : 10, markerHeight: kind === "turn" ? 16 : 10, orient: "auto" },
      svg("path", { d: "M0 0L10 5L0 10z", class: `arrow-${kind}` }));
    const stray = new Set(nodes.keys());
    for (const edge of edges) if (edge.status !== "extra") { stray.delete(edge.source); stray.delete(edge.target); }
    const drawEdge = ({ source, target, relation, status, line, x, y }) => svg("g", { class: `edge ${status}`, "data-status": status },
      svg("title", {}, `${status}: ${nodes[source].id} -${relation}-> ${nodes[target].id}`),
      svg("path", { d: line, "marker-end": `url(#arrow-${status})` }),
      relation ? svg("text", { x, y: y - 4 }, middle(relation, 14)) : null);
    const box = ({ id, label, file, x, y, commits, pin, marks, rank }, number) => {
      const pinned = pin === "pinned";
      const numbers = [...new Set(commits.flatMap((commit) => (pinned ? [] : clashes.get(commit) || [])))];
      const badge = commits.length ? commitText(detail, commits[0]) + (commits.length > 1 ? ` +${commits.length - 1}` : "") : "";
      const clash = numbers.length ? ` ✕${numbers.slice(0, 3).join(",")}${numbers.length > 3 ? "…" : ""}` : "";
      const note = clash + (pin === "off pin" ? " ≠pin" : "");
      const full = commits.map((commit) => detail.commits[commit]).map(({ repo, sha, name }) => `${repo} at ${sha}${name ? ` (${name})` : ""}`);
      const title = [id, ...full, pinned ? "not read: the pinned commit" : pin === "off pin" ? "not the pinned commit" : "",
        numbers.length ? `in incoherent pairs ${numbers.join(", ")}` : "", rank ? `retrieved at rank ${rank}` : "", ...marked(marks).map(([, , text]) => text)].filter(Boolean).join("\n");
      return svg("g", { class: `node${marks.includes("gold") ? " gold" : ""}${stray.has(number) ? " stray" : ""}`, transform: `translate(${x} ${y})` },
        svg("title", {}, title),
        svg("rect", { class: "box", width: 196, height: 56, rx: 7 }),
        numbers.length ? svg("rect", { class: "clash", x: 5, y: 39, width: 186, height: 14, rx: 3 }) : null,
        svg("text", { class: "name", x: 9, y: 17 }, middle(label, rank ? 20 : 26)),
        svg("text", { class: "file", x: 9, y: 32 }, middle(file, 33)),
        badge ? svg("text", { class: `badge${numbers.length ? " clash" : pinned ? " pinned" : ""}`, x: 9, y: 49.5 }, middle(badge, 16) + note + (pinned ? " pinned" : "")) : null,
        rank ? svg("text", { class: "rank", x: 189, y: 17, "text-anchor": "end" }, `#${rank}`) : null,
        marked(marks).length ? svg("text", { class: "left", x: 0, y: -5 }, marked(marks).map(([, name]) => name).join(", ")) : null);
    };
    const drawn = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Gold path and traversal, overlaid: ${words}`, id: "drawing" },
      svg("defs", {}, KINDS.map(([kind]) => arrow(kind))),
      lanes.map(({ name, y, height: size }, number) => svg("g", {},
        svg("rect", { class: `lane${number % 2 ? " odd" : ""}`, x: 0, y, width, height: size }),
        svg("text", { class: "lane-name", x: 8, y: y + 15 }, name))),
      svg("g", {}, [...edges].reverse().filter((edge) => edge.status === "extra").map(drawEdge)),
      svg("g", {}, edges.filter((edge) => edge.status !== "extra").map(drawEdge)),
      svg("g", {}, nodes.map(box)));
    const legend = el("ul", { class: "legend", "aria-label": "Legend" }, KINDS.filter(([kind]) => counts[kind]).map(([kind, name, style]) =>
      el("li", {}, svg("svg", { width: 44, height: 16, "aria-hidden": "true", class: kind }, svg("path", { d: "M2 8L36 8", "marker-end": `url(#arrow-${kind})` })), `${counts[kind]} ${name} (${style} line)`)));
    const frame = el("div", { class: "drawing", tabindex: 0, role: "region", "aria-label": "Drawing; scroll with the arrow keys" }, drawn);
    const quiet = counts.extra ? el("label", {}, el("input", { type: "checkbox", on: { change: (event) => frame.classList.toggle("quiet", event.target.checked) } }), " hide extra edges") : null;
    return [
      legend,
      quiet,
      nodes.length ? frame : el("p", {}, "The question has no gold path, and the traversal is empty."),
      omitted ? el("p", { class: "note" }, `${counted(omitted, "more extra edge")} ${omitted === 1 ? "is" : "are"} not drawn.`) : null,
      el("p", { class: "dim", id: "marks" }, "A thick frame is a node of a gold path; #1 is a retrieved rank; ✕1 marks a commit of incoherent pair 1 below; ≠pin a commit other than the question's; pinned a node that was not read",
        marked(nodes.flatMap((node) => node.marks)).map(([, name, text]) => `; “${name}” is ${text}`), "."),
    ];
  };

  const table = (caption, heads, rows, kind) => el("div", { class: "scroll" }, el("table", { class: kind || "wide" },
    el("caption", { class: "dim" }, caption),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows)));
  const data_ = (text) => el("span", { class: "data" }, text);

  // Verdicts ------------------------------------------------------------------------------------------------------
  const mark = ([kind, text]) => [" ", el("span", { class: `tag ${kind}` }, text), " "];
  const SUPPORT = { DIRECT: ["good", "supported directly"], INFERRED: ["good", "supported by inference"], UNSUPPORTED: ["bad", "not supported"] };
  const GOLD_SAYS = { SUPPORTED: ["good", "the gold answer says so"], CONTRADICTED: ["bad", "the gold answer says otherwise"], NOT_MENTIONED: ["turn", "the gold answer doesn't say"] };
  const IN_GOLD = new Map([[true, ["good", "in gold"]], [false, ["turn", "not in gold"]], [null, ["", "gold is unknown"]]]);
  const CORRECT = new Map([[true, ["good", "correct"]], [false, ["bad", "wrong"]], [null, ["", "not judged"]]]);

  const judgedSections = (detail, number) => {
    const where = (chunk) => {
      const place = detail.chunks.findIndex(({ id }) => id === chunk);
      if (place < 0) return el("span", { class: "dim" }, detail.more_chunks ? "" : " (not retrieved)");
      const { commit } = detail.chunks[place];
      return el("span", { class: "dim" }, ` (rank ${place + 1}`, commit !== null ? [" at ", data_(commitText(detail, commit))] : null, ")");
    };
    const evidence = ({ chunk, quote, occurs, alone }) => el("li", { class: occurs ? null : "missed" },
      el("q", { class: "data" }, quote), " in ", data_(chunk), where(chunk),
      occurs ? null : ": the quote doesn't occur there and doesn't count", occurs && !alone ? el("span", { class: "dim" }, " together with the others only") : null);
    const citation = ({ text, target, chunks, correct, needed, reason }) => el("li", { class: "citation" },
      "cites ", data_(text), text === target ? null : [" (", data_(target), ")"], mark(CORRECT.get(correct)),
      reason === null ? null : data_(reason), needed === false ? el("span", { class: "dim" }, " not needed") : null,
      chunks.length ? el("span", { class: "dim" }, needed === false ? ", means " : " means ", chunks.map((chunk, place) => [place ? ", " : "", data_(chunk)])) : null);
    const claim = (one, citations) => el("li", { class: `claim ${one.support.toLowerCase()}` },
      el("span", { class: "data" }, one.text), mark(SUPPORT[one.support]), one.gold === null ? null : mark(GOLD_SAYS[one.gold]),
      one.sentence === null ? null : el("span", { class: "dim" }, `sentence ${one.sentence}`),
      one.mismatch === null ? null : el("p", { class: "missed data" }, one.mismatch),
      el("ul", {}, one.evidence.map(evidence),
        one.more_evidence ? el("li", { class: "dim" }, `and ${one.more_evidence} more`) : null,
        one.edge === null ? null : el("li", { class: "edge-of" }, "rests on the traversed edge ", data_(`${one.edge.source} -${one.edge.relation}-> ${one.edge.target}`), mark(IN_GOLD.get(one.edge.in_gold))),
        one.cited.map((place) => citation(citations[place])),
        one.cited_support === null ? null : el("li", { class: "dim" }, one.cited_support ? "its citations together support it" : "its citations together don't support it")));
    const verdict = (one) => {
      const stray = one.citations.filter((_, place) => !one.claims.some(({ cited }) => cited.includes(place)));
      return el("section", { class: "verdict" },
        el("h4", {}, brief(one.grader, 40), el("span", { class: "dim" }, " by ", brief(one.judge, 40), one.model === null ? null : [", ", brief(one.model, 40)])),
        one.failure === null ? null : el("p", { class: "note" }, el("b", {}, "No verdict: "), data_(one.failure), one.reason === null ? null : [": ", data_(one.reason)]),
        one.grade === null && one.label === null && one.confidence === null ? null : el("p", {}, one.grade === null ? null : el("b", { class: "data" }, one.grade), one.label === null ? null : [" ", el("span", { class: "tag turn" }, one.label)],
          one.confidence === null ? null : el("span", { class: "dim" }, ` confidence ${one.confidence.toFixed(2)}`)),
        one.explanation === null ? null : el("p", { class: "data" }, one.explanation),
        one.fields.length ? el("details", { open: one.explanation === null }, el("summary", {}, "The verdict in full"),
          el("dl", {}, one.fields.map(({ name, text }) => [el("dt", { class: "data" }, name), el("dd", { class: "data" }, text)]))) : null,
        one.claims.length ? el("ol", { class: "claims" }, one.claims.map((each) => claim(each, one.citations))) : null,
        one.more_claims ? el("p", { class: "dim" }, `and ${counted(one.more_claims, "more claim")}`) : null,
        stray.length && !one.more_claims ? [el("p", {}, one.claims.length ? "Citations at no claim:" : "Citations:"), el("ul", {}, stray.map(citation))] : null,
        one.left_out.length ? el("p", { class: "note left-out" }, el("b", {}, "Not shown to the judge, for lack of space: "), one.left_out.map((id, place) => [place ? ", " : "", data_(id)]), one.more_left_out ? ` and ${one.more_left_out} more` : null) : null,
        one.notes.length ? el("ul", { class: "dim" }, one.notes.map((note) => el("li", { class: "data" }, note))) : null);
    };
    const verdicts = within("j", number) || [];
    return verdicts.length ? [el("h3", { id: "judged" }, "Verdicts on the answer"), verdicts.map(verdict)] : null;
  };

  // Executions ------------------------------------------------------------------------------------------------------
  const time = (ms) => (ms >= 1000 ? `${Number((ms / 1000).toPrecision(3))} s` : `${Number(ms.toPrecision(3))} ms`);
  const together = (...parts) => parts.filter(Boolean).flatMap((part, place) => [place ? ", " : "", part]);

  const codeSections = (number) => {
    const found = within("x", number);
    if (!found) return null;
    const { failing } = found;
    const more = (test) => (test.more_attempts ? ` and ${test.more_attempts} more` : "");
    const value = (name, text) => el("div", {}, el("h5", {}, name), text === null ? el("p", { class: "dim" }, "nothing") : el("pre", { class: "chunk" }, text));
    const whole = (test) => el("div", { class: "failing" },
      el("h4", {}, "The first test that didn't pass: ", data_(test.name)),
      el("p", {}, test.message === null ? null : el("b", { class: "data" }, test.message),
        test.line === null && test.duration === null ? null : el("span", { class: "dim" }, " (", together(test.line === null ? null : `line ${test.line}`, test.duration === null ? null : time(test.duration)), ")")),
      test.expected === null && test.returned === null ? null : el("div", { class: "values" }, value("expected", test.expected), value("returned", test.returned)),
      test.printed ? [el("h5", {}, "printed"), el("pre", { class: "chunk printed" }, test.printed)] : null,
      test.attempts.length ? [el("h5", {}, "tried what the sandbox doesn't allow"), el("ul", { class: "attempts" }, test.attempts.map((one) => el("li", { class: "data" }, one)), test.more_attempts ? el("li", { class: "dim" }, more(test)) : null)] : null);
    const short = (test) => el("li", {},
      codeTag(test.status, test.status === "success" ? "passed" : data.statuses[test.status]), " ", data_(test.name),
      test.message === null ? null : [": ", data_(test.message)],
      test.attempts.length ? [", tried ", together(...test.attempts.map(data_)), more(test)] : null,
      test.duration === null ? null : el("span", { class: "dim" }, ` ${time(test.duration)}`));
    const line = (at) => (text, place) => {
      const hit = failing !== null && at + place === failing.line;
      return el("li", { value: at + place, class: hit ? "hit" : null }, hit ? el("mark", {}, text) : text);
    };
    const gap = (count) => (count > 0 ? el("p", { class: "dim gap" }, `… ${counted(count, "more line")}`) : null);
    const upTo = ({ first, lines }) => first + lines.length - 1;
    const listing = found.code.map((piece, place) => [
      gap(place ? piece.first - upTo(found.code[place - 1]) - 1 : 0), el("ol", {}, piece.lines.map(line(piece.first)))]);
    return [
      el("h3", {}, "Code"),
      el("section", { class: "code", id: "code" },
        el("p", {}, codeTag(found.status, data.statuses[found.status]), " ",
          found.mechanism === "none" ? [el("strong", { class: "tag bad" }, "‼ no sandbox"), " "] : null,
          found.total ? `${found.passed} of ${counted(found.total, "test")} passed ` : null,
          el("span", { class: "dim" }, together(data_(found.language), found.entry_point ? ["entry point ", data_(found.entry_point)] : null,
            found.mechanism === null ? "nothing ran" : found.mechanism === "none" ? null : `in ${found.mechanism}`, found.duration === null ? null : time(found.duration)))),
        failing === null ? null : whole(failing),
        found.lines ? el("details", { open: failing !== null }, el("summary", {}, `The code, ${counted(found.lines, "line")}`),
          el("div", { class: "listing" }, listing, gap(found.lines - upTo(found.code.at(-1))))) : null,
        found.others.length ? [el("h4", {}, failing === null ? "The tests" : "The other tests"), el("ul", { class: "tests" }, found.others.map(short))] : null,
        found.more_tests ? el("p", { class: "dim" }, `and ${counted(found.more_tests, "more test")}`, found.more_failing ? `, ${found.more_failing} of which didn't pass` : "") : null),
    ];
  };

  // Tool calls --------------------------------------------------------------------------------------------------------
  const callSections = (calls) => {
    if (!calls) return null;
    const seen = ({ id, gold, again }, place) => [place ? ", " : "", gold ? el("b", { class: "met data" }, id) : data_(id), again ? el("span", { class: "dim" }, " again") : null];
    const row = (call, place) => el("tr", {},
      el("td", { class: "num" }, place + 1),
      el("td", {}, brief(call.name, 60), call.failed ? mark(["bad", "failed"]) : null),
      el("td", {}, call.arguments ? el("pre", { class: "chunk" }, call.arguments) : ""),
      el("td", {}, call.seen === null ? el("span", { class: "dim" }, "unknown") : call.seen.map(seen), call.more_seen ? el("span", { class: "dim" }, ` and ${call.more_seen} more`) : null),
      el("td", {}, call.result ? el("pre", { class: "chunk" }, call.result) : ""));
    return el("section", { id: "calls" },
      el("h3", {}, "Tool calls"),
      calls.lack === null ? null : el("p", { class: "note", id: "lack" }, calls.lack),
      calls.expected.length ? el("details", {}, el("summary", {}, `Expected, ${counted(calls.expected.length + calls.more_expected, "call")}`),
        el("ol", {}, calls.expected.map((one) => el("li", {}, data_(one.name), one.arguments === null ? el("span", { class: "dim" }, " with any arguments") : [" ", data_(one.arguments || "without arguments")]))),
        calls.more_expected ? el("p", { class: "dim" }, `and ${calls.more_expected} more`) : null) : null,
      calls.made.length ? table("In order, with the ids that each call showed; gold ids are bold", ["call", "tool", "arguments", "showed", "result"], calls.made.map(row)) : el("p", { class: "dim" }, "The run called no tool."),
      calls.more ? el("p", { class: "dim" }, `and ${counted(calls.more, "more call")}`) : null);
  };

  const spine = (number) => {
    const place = el("div", { id: "spine", "aria-busy": "true" });
    spines.into(place, number);
    return place;
  };
  const sections = (detail, number) => {
    const clashes = clashesOf(detail);
    const is = (flag) => has(flag)(number);
    const { nodes, edges } = detail.drawing;
    const edgeRow = ({ source, target, relation, status, gold_path: path, position }) => el("tr", {},
      el("td", {}, path === undefined ? "" : [brief(path, 24), `, step ${position + 1}`]),
      el("td", { class: `status-${status}` }, word(status)),
      el("td", {}, data_(nodes[source].id)), el("td", {}, brief(relation, 24)), el("td", {}, data_(nodes[target].id)));
    const name = (commit) => el("span", {}, data_(detail.commits[commit].repo), " at ", data_(commitText(detail, commit)));
    const names = (commits, rule) => rule === "unknown commit" ? commits.flatMap((commit, place) => place ? [", ", name(commit)] : [name(commit)])
      : [name(commits[0]), " with ", name(commits[commits.length - 1])];
    const chunkRow = ({ id, gain, score, commit, text }, rank) => el("tr", {},
      el("td", { class: "num" }, rank + 1),
      el("td", { class: "num" }, gain > 0 ? el("b", { class: "met" }, `+${gain}`) : gain),
      el("td", { class: "num" }, score === null ? "" : Number(score.toPrecision(5))),
      el("td", {}, data_(id), commit !== null ? el("div", { class: "dim" }, commitText(detail, commit), clashes.has(commit) ? ` ✕${clashes.get(commit).join(",")}` : "") : null),
      el("td", {}, text ? el("pre", { class: "chunk" }, text) : ""));
    // Scores by other tools are among the values of the run.
    const valueOf = (place) => detail.values[place] ?? run().values[place][number];
    return [
      el("p", { class: "question data" }, detail.question),
      spine(number),
      el("h3", {}, brief(run().name, 60)),
      el("p", {}, tags(number)),
      detail.error !== null ? el("p", { class: "note" }, el("b", {}, "Not answered: "), data_(detail.error)) : null,
      is("absent") ? el("p", { class: "note" }, "The run has no record for this question: only the gold path is drawn.") : null,
      is("unlogged") ? el("p", { class: "note" }, "The record has no traversal (not logged): only the gold path is drawn.") : null,
      detail.invalid !== null ? el("p", { class: "note" }, el("b", {}, "Not scored: "), data_(detail.invalid)) : null,
      el("p", {}, el("b", {}, detail.stage.name), ": ", data_(detail.stage.reason), detail.stage.missing.length ? [" (", detail.stage.missing.map((one, place) => [place ? ", " : "", data_(one)]), ")"] : null,
        detail.undecided ? el("span", { class: "dim" }, " Not in the two-by-two table: ", data_(detail.undecided)) : null),
      detail.ordered ? null : el("p", { class: "note" }, "The traversal is a set of edges, without an order."),
      el("details", { id: "map" }, el("summary", {}, "The map of ", brief(run().name, 60), `: ${counted(edges.length + detail.drawing.omitted, "edge")} of gold and traversal`), drawing(detail)),
      detail.pairs.length ? [el("h3", {}, "Commits that don't belong together"), el("ol", { id: "pairs" }, detail.pairs.map(({ commits, rule, count }) =>
        el("li", {}, names(commits, rule), `: ${rule} (${counted(count, "pair")} of chunks)`))),
        detail.more_pairs ? el("p", { class: "dim" }, `and ${detail.more_pairs} more`) : null] : null,
      edges.length ? el("details", { id: "edges" }, el("summary", {}, edges.length === 1 ? "The edge as a table" : `All ${edges.length} edges as a table`),
        table("Gold steps first, in order", ["gold path", "status", "source", "relation", "target"], edges.map(edgeRow))) : null,
      el("div", { class: "columns" },
        el("section", {}, el("h3", {}, "Answer"), detail.answer === null ? el("p", { class: "dim" }, "The record holds no answer.") : el("p", { class: "data", id: "answer" }, detail.answer)),
        el("section", {}, el("h3", {}, "Gold answer"), detail.gold === null ? el("p", { class: "dim" }, "No gold answer is annotated.") : el("p", { class: "data" }, detail.gold),
          detail.facts.length ? el("ul", {}, detail.facts.map((fact) => el("li", { class: "data" }, fact))) : null)),
      codeSections(number),
      judgedSections(detail, number),
      callSections(detail.calls),
      el("h3", {}, "Retrieved chunks"),
      detail.chunks.length ? table("In order of rank, with the annotated gain of each", ["rank", "gain", "score", "chunk", "text"], detail.chunks.map(chunkRow)) : el("p", { class: "dim" }, is("failed") || is("absent") || detail.chunks_logged ? "Nothing was retrieved." : "The record has no retrieved chunks (not logged)."),
      detail.more_chunks ? el("p", { class: "dim" }, `and ${detail.more_chunks} more`) : null,
      detail.lost.length ? el("p", {}, "Relevant but not retrieved: ", detail.lost.map(({ id, gain }, place) => [place ? ", " : "", data_(id), ` (+${gain})`])) : null,
      el("details", {}, el("summary", {}, "Every measure of this question"), table("The value, or why there is none", ["measure", "value"], data.measures.map((measure, place) => el("tr", {},
        el("th", { scope: "row", title: measure.definition }, measure.name), el("td", {}, typeof valueOf(place) === "number" ? shown(valueOf(place)) : el("span", { class: "dim data" }, `not scored: ${valueOf(place) ?? "no score was given"}`)))), "narrow")),
    ];
  };

  const dialog = $("detail");
  // What is asked for while a block is unpacked replaces what was asked before.
  const show = async (number) => {
    const asked = state.asked = {};
    const ready = await hold(number);
    if (state.asked !== asked) return;
    ready();
    state.open = number;
    state.address = location.hash;
    const place = state.list.indexOf(number);
    const step = (to, name) => el("button", { type: "button", disabled: to === undefined, on: { click: () => { location.hash = link(to); } } }, name);
    dialog.replaceChildren(
      el("div", { class: "bar" }, el("h2", { id: "d-title", tabindex: -1, autofocus: true }, brief(data.questions[number].id, 80), el("span", { class: "dim" }, " in ", brief(run().name, 60))),
        step(place > 0 ? state.list[place - 1] : undefined, "Previous"), step(place >= 0 ? state.list[place + 1] : undefined, "Next"),
        el("button", { type: "button", on: { click: () => dialog.close() } }, "Close")),
      el("div", { class: "body" }, sections(detailOf(number), number)));
    if (!dialog.open) dialog.showModal();
    else dialog.querySelector("h2").focus();
    dialog.scrollTop = 0;
  };
  // A closed question leaves an entry in the history, so that Back leads to it. The browser sends "close" later than
  // the dialog closes: an address that leads elsewhere by then stays, and so does a question that is open again.
  dialog.addEventListener("close", () => {
    if (dialog.open) return;
    const number = state.open;
    state.open = -1;
    dialog.replaceChildren();
    if (location.hash === state.address) history.pushState(null, "", `#questions${address.query()}`);
    const row = [...$("table").tBodies[0].querySelectorAll("a")].find((one) => one.getAttribute("href") === link(number));
    if (row) row.focus();
  });

  const decode = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
  const byId = new Map(data.questions.map((question, number) => [question.id, number]));
  const say = (...words) => {
    $("notice").replaceChildren(...(words.length ? [el("p", { class: "note" }, words)] : []));
    if (words.length) $("notice").scrollIntoView({ block: "nearest" });
  };
  const named = (kind, name) => [` ${kind} `, el("bdi", {}, name)];
  const follow = () => {
    if (address.follow()) restore();
    const [, name, id] = address.place().match(/^#?([^/]*)(?:\/(.*))?$/s).map((text) => text && decode(text));
    const wanted = data.runs.findIndex((one) => one.name === name);
    const number = byId.get(id);
    if (wanted >= 0 && number !== undefined) {
      say();
      if (wanted !== state.run) choose(wanted);
      show(number).catch(() => say("This browser can't unpack the details of questions: it needs DecompressionStream."));
      return;
    }
    state.asked = null;
    dialog.close();
    if (id === undefined && (name === "" || $(name))) {
      say();
      if (name && address.state.size) $(name).scrollIntoView();
    }
    else if (id === undefined) say("Nothing on this page is called ", el("bdi", {}, name), ": the address of a question is #RUN/QUESTION.");
    else if (wanted >= 0) say("This page has no", named("question", id), ".");
    else if (number !== undefined) say("This page has no", named("run", name), ".");
    else say("This page has neither a", named("run", name), " nor a", named("question", id), ".");
  };

  // The filters and the address hold the same state; the usual value of a filter isn't in the address.
  const FIELDS = ["text", "category", "difficulty", "what", "bound"];
  const edgeAt = (kind, name) => data.edges.rows.findIndex((one) => one[0] === kind && one[1] === name);
  const restore = () => {
    baseline.follow();
    const held = address.state;
    for (const name of FIELDS) $(`f-${name}`).value = held.get(name) || "";
    if ($("f-what").selectedIndex < 0) $("f-what").value = "";
    $("f-measure").value = String(Math.max(measureAt(held.get("measure")), 0) || EDGE_RECALL);
    const edge = held.has("boundary") ? edgeAt("boundary", held.get("boundary")) : edgeAt("relation", held.get("relation"));
    $("f-edge").value = edge < 0 ? "" : String(edge);
    $("f-missed").checked = held.has("missed");
    const wanted = data.runs.findIndex((one) => one.name === held.get("run"));
    choose(wanted >= 0 ? wanted : state.run);
  };
  const keep = () => {
    const [kind, name] = data.edges.rows[$("f-edge").value] || [];
    address.set({
      ...Object.fromEntries(FIELDS.map((one) => [one, $(`f-${one}`).value])),
      measure: Number($("f-measure").value) === EDGE_RECALL ? null : data.measures[Number($("f-measure").value)].name,
      boundary: kind === "boundary" ? name : null, relation: kind === "relation" ? name : null,
      missed: kind && $("f-missed").checked ? "1" : null,
      run: state.run ? run().name : null,
    });
    filter();
  };

  const choose = (number) => {
    state.run = number;
    $("run").value = String(number);
    drawDistributions();
    filter();
  };
  const options = (select, pairs) => select.replaceChildren(...pairs.map(([value, name]) => el("option", { value }, name)));
  const all = [...new Set(data.questions.map((question) => question.category))].filter(Boolean).sort();
  options($("run"), data.runs.map((one, number) => [number, middle(one.name, 60)]));
  options($("f-category"), [["", "any"], ...all.map((one) => [one, middle(one, 60)])]);
  options($("f-difficulty"), [["", "any"], ...LEVELS.map((one) => [one, one])]);
  options($("f-what"), WHAT.map(([value, name]) => [value, name]));
  options($("f-measure"), data.measures.map((one, number) => [number, one.name]));
  options($("f-edge"), [["", "any"], ...data.edges.rows.map(([kind, name], number) => [number, kind === "boundary" ? middle(name, 60) : `relation ${middle(name, 40)}`])]);
  $("f-measure").value = String(EDGE_RECALL);
  let waiting = 0;
  $("filters").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(keep, 60); });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => setTimeout(() => { $("f-measure").value = String(EDGE_RECALL); keep(); }, 0));
  $("run").addEventListener("change", (event) => { choose(Number(event.target.value)); keep(); });
  window.addEventListener("hashchange", follow);
  document.querySelector(".scripted").hidden = false;
  choose(0);
  follow();
})();
