"use strict";
// The address is #PLACE or #PLACE?STATE: a place is a part of the page or RUN/QUESTION, and the state is the baseline
// and the filters of the questions.
const address = (() => {
  const KEYS = ["run", "baseline", "boundary", "relation", "missed", "what", "text", "category", "difficulty", "measure", "bound"];
  const STATE = new RegExp(`\\?((?:${KEYS.join("|")})=.*)$`, "s");
  const read = () => {
    const found = location.hash.match(STATE);
    return [found ? location.hash.slice(0, found.index) : location.hash, new URLSearchParams(found ? found[1] : "")];
  };
  const state = new Map();
  // A question without a state keeps the present one; any other place has the state that its address holds.
  const follow = () => {
    const [place, found] = read();
    if (place.includes("/") && !found.size) return false;
    state.clear();
    for (const key of KEYS) if (found.get(key)) state.set(key, found.get(key));
    return true;
  };
  const query = () => (state.size ? `?${new URLSearchParams([...state])}` : "");
  // Write the state into the address of the overview, without a new entry in the history.
  const set = (changes) => {
    for (const [key, value] of Object.entries(changes)) {
      if (value) state.set(key, value);
      else state.delete(key);
    }
    const [place] = read();
    const at = place.includes("/") || (!place && state.size) ? "#questions" : place;
    history.replaceState(null, "", `${location.pathname}${location.search}${at}${query()}`);
  };
  return { follow, place: () => read()[0], state, query, set };
})();

// The baseline: the verdict and the differences against it are shown, those against the others hidden.
const baseline = (() => {
  const select = document.getElementById("baseline");
  if (!select) return { follow: () => {} };
  const names = JSON.parse(document.getElementById("summary").textContent).runs.map((run) => run.name);
  const usual = select.value;
  const show = (number) => {
    select.value = number;
    for (const one of document.querySelectorAll("#first [data-b]")) one.hidden = one.dataset.b !== number;
  };
  const follow = () => {
    const wanted = String(names.indexOf(address.state.get("baseline")));
    show([...select.options].some((one) => one.value === wanted) ? wanted : usual);
  };
  select.addEventListener("change", () => {
    show(select.value);
    address.set({ baseline: select.value === usual ? null : names[Number(select.value)] });
  });
  document.getElementById("against").hidden = false;
  return { follow };
})();
