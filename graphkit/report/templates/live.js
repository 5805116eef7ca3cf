// A page that `graphkit view` serves reloads itself when one of its runs has changed.

const EVERY = 1000;

/** @param {string} version @param {(words: string | null) => void} say Shows why the page isn't up to date, nothing when it is. */
export const watch = (version, say) => {
  let lost = false;
  const look = async () => {
    try {
      const found = await (await fetch("version", { cache: "no-store" })).json();
      if (found.version !== version) { location.reload(); return; }
      if (found.error) say(`The runs have changed, but can't be shown: ${found.error}`);
      else if (lost || document.getElementById("stale")) say(null);
      lost = false;
    } catch {
      if (!lost) say("The server has ended: this page no longer follows its runs.");
      lost = true;
    }
    setTimeout(look, EVERY);
  };
  setTimeout(look, EVERY);
};
