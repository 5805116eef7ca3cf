"use strict";
// The spines of questions: fragments that were made and escaped when the page was written, in packed blocks.
const spines = (() => {
  const unpacked = new Map();
  const perBlock = Number(document.getElementById("s-0")?.dataset.questions);

  const read = async (id) => {
    const packed = Uint8Array.from(atob(JSON.parse(document.getElementById(id).textContent)), (one) => one.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };
  const block = (number) => {
    const id = `s-${Math.floor(number / perBlock)}`;
    if (!unpacked.has(id)) {
      if (unpacked.size > 8) unpacked.clear();
      unpacked.set(id, read(id));
    }
    return unpacked.get(id);
  };
  // Puts the spine of a question into a place, unless the place has left the page meanwhile.
  const into = async (place, number) => {
    const template = document.createElement("template");
    try {
      template.innerHTML = (await block(number))[number];
    } catch {
      template.content.append("This browser can't unpack the gold path: it needs DecompressionStream.");
    }
    place.replaceChildren(template.content);
    place.removeAttribute("aria-busy");
  };

  // A click on a command or an id selects it, and copies it where the browser lets a page do so.
  document.addEventListener("click", (event) => {
    const code = event.target instanceof Element ? event.target.closest("code.copy") : null;
    if (!code) return;
    getSelection().selectAllChildren(code);
    navigator.clipboard?.writeText(code.textContent).then(() => {
      code.classList.add("copied");
      setTimeout(() => code.classList.remove("copied"), 1500);
    }, () => {});
  });
  return { into };
})();
