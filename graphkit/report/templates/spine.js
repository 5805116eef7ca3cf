// The spines of questions: fragments that were made and escaped when the page was written, in packed blocks.
const spines = (() => {
  const perBlock = Number(document.getElementById("s-0")?.dataset.questions);
  // Puts the spine of a question into a place, unless the place has left the page meanwhile.
  const into = async (place, number) => {
    const template = document.createElement("template");
    try {
      template.innerHTML = (await blocks.read(`s-${Math.floor(number / perBlock)}`))[number];
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
