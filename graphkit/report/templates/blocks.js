"use strict";
// Packed blocks of details: JSON by the number of the question, compressed by gzip, in base64.
const blocks = (() => {
  const MOST = 24;
  const unpacked = new Map();

  const unpack = async (id) => {
    const packed = Uint8Array.from(atob(JSON.parse(document.getElementById(id).textContent)), (one) => one.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };
  // Returns a block, undefined where the page has none; blocks that were read remain at hand, some at a time.
  const read = (id) => {
    if (!document.getElementById(id)) return Promise.resolve(undefined);
    if (!unpacked.has(id)) {
      if (unpacked.size >= MOST) unpacked.clear();
      unpacked.set(id, unpack(id));
    }
    return unpacked.get(id);
  };
  return { read };
})();
