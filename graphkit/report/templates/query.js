// The page of a query: its nodes and relationships, drawn as the map of a question is.
import { unpack } from "./blocks.js";
import { $ } from "./dom.js";
import { drawMap } from "./map.js";

unpack(JSON.parse($("subgraph").textContent || "")).then((map) => $("drawing").replaceChildren(drawMap({ map, commits: [], pairs: [] })));
