/** Parts that the runner of tests and that of assertions share: the channel, how values are written, and stand-ins. */
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const util = require("node:util");
const Module = require("node:module");
const { pathToFileURL } = require("node:url");

const DEEPEST = 100; // as in returned_values.py
const LONGEST_MESSAGE = 1000;
// The code may replace any global; keep what runs after it.
const { Buffer, Map, Set, Date, Number, Object, Array, String, Symbol, Function, Error } = globalThis;
const { stringify, parse } = JSON;
const { getPrototypeOf } = Object;
const { isArray } = Array;
const { readSync, writeSync } = fs;
const exit = process.reallyExit.bind(process);
const folder = fs.realpathSync(process.cwd());

// --- The channel -----------------------------------------------------------------------------------------------------

let unread = Buffer.alloc(0);

/** Return the next line, parsed as JSON; null at the end of the input. */
function receive() {
  const part = Buffer.alloc(1 << 16);
  const parts = [unread];
  let end = unread.indexOf(10);
  while (end < 0) {
    const size = readSync(3, part, 0, part.length, null);
    if (!size) return null;
    parts.push(Buffer.from(part.subarray(0, size)));
    if (parts[parts.length - 1].includes(10)) {
      unread = Buffer.concat(parts);
      end = unread.indexOf(10);
    }
  }
  const line = unread.subarray(0, end).toString("utf8");
  unread = unread.subarray(end + 1);
  return parse(line);
}

function send(message) {
  const data = Buffer.from(`${stringify(message)}\n`);
  for (let at = 0; at < data.length; ) at += writeSync(4, data, at);
}

// --- Values ----------------------------------------------------------------------------------------------------------

class TooLarge extends Error {}

class Encoder {
  constructor(limit) {
    this.left = limit;
    this.open = new Set();
  }

  spend(amount) {
    this.left -= amount;
    if (this.left < 0) throw new TooLarge();
  }

  text(text) {
    // JSON writes a character outside plain ASCII as up to six.
    this.spend(text.length + 2);
    if (!/^[ -~]*$/.test(text)) this.spend(5 * text.length);
    return text;
  }

  encode(value, depth = 0) {
    this.spend(5);
    switch (typeof value) {
      case "undefined":
        return null;
      case "boolean":
        return value;
      case "number":
        this.spend(20);
        if (Number.isFinite(value)) return value;
        return { float: Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf" };
      case "bigint":
        return this.integer(value);
      case "string":
        return this.text(value);
      case "symbol":
      case "function":
        return this.other(value);
    }
    if (value === null) return null;
    if (depth >= DEEPEST || this.open.has(value)) return { other: [typeName(value), "..."] };
    this.open.add(value);
    try {
      return this.composite(value, depth + 1);
    } finally {
      this.open.delete(value);
    }
  }

  integer(value) {
    if (value >= -(2n ** 53n) && value <= 2n ** 53n) return Number(value);
    const text = value.toString(16);
    this.spend(text.length);
    return { integer: text };
  }

  other(value) {
    let text;
    try {
      text = util.inspect(value, { depth: 0, maxStringLength: 200, customInspect: false });
    } catch {
      text = "?";
    }
    return { other: [typeName(value), this.text(text.slice(0, LONGEST_MESSAGE))] };
  }

  items(values, depth) {
    const found = [];
    for (const item of values) found.push(this.encode(item, depth));
    return found;
  }

  fields(value, names, depth) {
    const found = [];
    for (const name of names) found.push([this.text(name), this.encode(value[name], depth)]);
    return found;
  }

  composite(value, depth) {
    const { types } = util;
    if (isArray(value)) {
      const found = [];
      const length = value.length;
      for (let index = 0; index < length; index++) found.push(this.encode(value[index], depth));
      return found;
    }
    if (types.isMap(value)) {
      const found = [];
      for (const [key, item] of Map.prototype.entries.call(value)) {
        found.push([this.encode(key, depth), this.encode(item, depth)]);
      }
      return { dict: found };
    }
    if (types.isSet(value)) return { set: this.items(Set.prototype.values.call(value), depth) };
    if (types.isDate(value)) {
      const time = Date.prototype.getTime.call(value);
      return Number.isNaN(time) ? { float: "nan" } : { text: ["Date", new Date(time).toISOString()] };
    }
    if (types.isBoxedPrimitive(value)) return this.encode(value.valueOf(), depth);
    if (types.isUint8Array(value) || types.isAnyArrayBuffer(value)) {
      const data = Buffer.from(value);
      this.spend(2 * data.length);
      return { bytes: data.toString("hex") };
    }
    if (types.isTypedArray(value)) return this.items(value, depth);
    if (types.isNativeError(value)) {
      const fields = [["name", String(value.name)], ["message", String(value.message)]];
      for (const [, text] of fields) this.text(text);
      const own = Object.keys(value).filter((name) => name !== "name" && name !== "message" && !name.startsWith("_"));
      return { object: [typeName(value), [...fields, ...this.fields(value, own, depth)]] };
    }
    if (types.isPromise(value) || types.isProxy(value) || types.isRegExp(value) || types.isWeakMap(value)) {
      return this.other(value);
    }
    if (typeof value[Symbol.iterator] === "function" && typeof value.next === "function") {
      return this.items(value, depth);
    }
    const names = Object.keys(value);
    if (isPlain(value)) return { dict: this.fields(value, names, depth) };
    const open = names.filter((name) => !name.startsWith("_"));
    return { object: [typeName(value), this.fields(value, open, depth)] };
  }
}

/** Tell whether a value is a plain object, of this or another realm. */
function isPlain(value) {
  const prototype = getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || getPrototypeOf(prototype) === null;
}

function typeName(value) {
  try {
    const prototype = value === null || value === undefined ? null : getPrototypeOf(value);
    const constructor = prototype && prototype.constructor;
    const name = typeof constructor === "function" ? constructor.name : typeof value;
    return typeof name === "string" ? name.slice(0, 200) : "Object";
  } catch {
    return "Object";
  }
}

// --- Values that cross between the code and an assertion, see javascript_assertions.js -------------------------------

class CrossingError extends TypeError {}

/** What an operation returns for a name that the code doesn't define. */
const MISSING = Symbol("missing");

const KNOWN = {
  undefined: () => undefined,
  BigInt: (text) => BigInt(text),
  Map: (pairs) => new Map(pairs),
  Set: (items) => new Set(items),
  Date: (time) => new Date(time),
  RegExp: (source, flags) => new RegExp(source, flags),
  Buffer: (text) => Buffer.from(text, "hex"),
};
const ARRAYS = /^(?:Int8|Uint8|Uint8Clamped|Int16|Uint16|Int32|Uint32|Float32|Float64|BigInt64|BigUint64)Array$/;

/** Return the function that reads values which crossed; `own` holds further readers by tag. */
function reader(own) {
  const readers = {
    float: (text) => ({ nan: NaN, inf: Infinity, "-inf": -Infinity })[text],
    dict: (pairs) => Object.fromEntries(pairs.map(([name, item]) => [name, read(item)])),
    known: ([name, given]) => {
      if (Object.hasOwn(KNOWN, name)) return KNOWN[name](...given.map(read));
      if (ARRAYS.test(name)) return new globalThis[name](...given.map(read));
      throw new CrossingError("a value of an unknown type came over");
    },
    ...own,
  };
  function read(encoded) {
    if (isArray(encoded)) return encoded.map((item) => read(item));
    if (encoded === null || typeof encoded !== "object") return encoded;
    const [[tag, content]] = Object.entries(encoded);
    if (!Object.hasOwn(readers, tag)) throw new CrossingError("a value of an unknown kind came over");
    return readers[tag](content);
  }
  return read;
}

/** Writes values that cross, as python_crossing.py describes; the known types are those of JavaScript. */
class Writer extends Encoder {
  /** `held` returns the number of a value that stays here; `owners` maps a class to the stand-in that exports it. */
  constructor(limit, held, owners) {
    super(limit);
    this.held = held;
    this.owners = owners;
  }

  encode(value, depth = 0) {
    if (value === undefined) return { known: ["undefined", []] };
    if (typeof value === "bigint") return { known: ["BigInt", [this.text(String(value))]] };
    if (typeof value === "function" || typeof value === "symbol") return this.reference(value, null);
    return super.encode(value, depth);
  }

  composite(value, depth) {
    const { types } = util;
    if (types.isProxy(value)) return this.reference(value, null);
    if (types.isMap(value)) return this.known("Map", [Array.from(Map.prototype.entries.call(value))], depth);
    if (types.isSet(value)) return this.known("Set", [Array.from(Set.prototype.values.call(value))], depth);
    if (types.isDate(value)) return this.known("Date", [Date.prototype.getTime.call(value)], depth);
    if (types.isRegExp(value)) return this.known("RegExp", [value.source, value.flags], depth);
    if (Buffer.isBuffer(value)) return this.known("Buffer", [value.toString("hex")], depth);
    if (types.isTypedArray(value)) return this.known(typeName(value), [Array.from(value)], depth);
    if (types.isNativeError(value)) return this.error(value, depth);
    if (isArray(value) || types.isBoxedPrimitive(value)) return super.composite(value, depth);
    const names = Object.keys(value);
    const walked = types.isPromise(value) || typeof value.next === "function" || types.isWeakMap(value);
    if (isPlain(value) && !walked && !names.some((name) => typeof value[name] === "function")) {
      return { dict: this.fields(value, names, depth) };
    }
    const owner = walked ? undefined : this.owners.get(getPrototypeOf(value).constructor);
    if (owner) return { made: [...owner, this.fields(value, names, depth)] };
    const open = names.filter((name) => typeof value[name] !== "function");
    return this.reference(value, walked ? [] : this.fields(value, open, depth));
  }

  known(name, given, depth) {
    return { known: [name, given.map((one) => this.encode(one, depth))] };
  }

  reference(value, fields) {
    const name = typeName(value);
    const traits = typeof value === "function" ? ["function"] : util.types.isPromise(value) ? ["promise"] : [];
    const snapshot = fields ? { object: [name, fields] } : { other: [name, "..."] };
    return { held: [this.held(value), ["", name], snapshot, traits] };
  }

  error(error, depth = 1) {
    const classes = [];
    for (let one = getPrototypeOf(error); one && one !== Object.prototype; one = getPrototypeOf(one)) {
      const { constructor } = one;
      classes.push(this.owners.get(constructor) || ["", String(constructor && constructor.name).slice(0, 200)]);
    }
    const names = Object.getOwnPropertyNames(error).filter((name) => name !== "stack" && name !== "message");
    const number = this.held(error);
    const text = this.text(String(error.message));
    return { error: [number, classes.length ? classes : [["", "Error"]], [], this.fields(error, names, depth), text] };
  }

  /** Write a thrown value, which may be anything. */
  thrown(error) {
    try {
      return this.encode(error);
    } catch {
      return { error: [0, [["", "Error"]], [], [], "an error that cannot be read"] };
    }
  }
}

// --- Stand-ins -------------------------------------------------------------------------------------------------------

/** Add the endings that imports of modules need; the stand-ins are named without. */
function withEndings(source, file, files) {
  return source.replace(/(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.{1,2}\/[^"'\n]+)\2/g, (all, before, quote, name) => {
    const target = path.posix.join(path.posix.dirname(file), name);
    if (Object.hasOwn(files, target)) return all;
    const stem = target.replace(/\.[cm]?js$/, "");
    const found = [".js", ".mjs", "/index.js", "/index.mjs"].find((end) => Object.hasOwn(files, stem + end));
    if (!found) return all;
    const there = path.posix.relative(path.posix.dirname(file), stem + found);
    return `${before}${quote}${there.startsWith(".") ? "" : "./"}${there}${quote}`;
  });
}

function layOut(files) {
  for (const [file, source] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(file) || ".", { recursive: true });
    fs.writeFileSync(file, file.endsWith(".mjs") ? withEndings(source, file, files) : source);
  }
}

/** The stand-ins that are modules: file -> function that returns the exports. */
const modules = new Map();

/** Load the modules now, so that `require` can return them as well. */
async function requireModules(files) {
  for (const file of Object.keys(files).filter((name) => name.endsWith(".mjs"))) {
    const full = path.join(folder, file);
    try {
      const found = await import(pathToFileURL(full).href);
      modules.set(full, () => found);
    } catch (error) {
      modules.set(full, () => {
        throw error;
      });
    }
  }
  if (!modules.size) return;
  const { _load: load, _resolveFilename: resolve } = Module;
  Module._resolveFilename = function (request, parent, ...rest) {
    if (/^\.{1,2}\//.test(request) && parent && parent.filename) {
      const full = path.resolve(path.dirname(parent.filename), request.replace(/\.[cm]?js$/, ""));
      for (const end of [".mjs", "/index.mjs"]) if (modules.has(full + end)) return full + end;
    }
    return resolve.call(this, request, parent, ...rest);
  };
  Module._load = function (request, parent, isMain) {
    let full;
    try {
      full = Module._resolveFilename(request, parent, isMain);
    } catch {
      return load.call(this, request, parent, isMain); // this names the missing module
    }
    return modules.has(full) ? modules.get(full)() : load.call(this, request, parent, isMain);
  };
}

/** Return which stand-in exports a class, and under which name: class -> [file, name]. */
async function owners(files) {
  const found = new Map();
  const add = (exported, file) => {
    if (typeof exported === "function") found.set(exported, [file, ""]);
    if (exported === null || (typeof exported !== "object" && typeof exported !== "function")) return;
    for (const name of Object.keys(exported)) {
      if (typeof exported[name] === "function") found.set(exported[name], [file, name]);
    }
  };
  for (const file of Object.keys(files)) {
    try {
      const full = path.join(folder, file);
      if (file.endsWith(".mjs")) add(await import(pathToFileURL(full).href), file);
      else if (Module._cache[full]) add(Module._cache[full].exports, file);
    } catch {
      // It can't be loaded, so there are no instances of its classes.
    }
  }
  return found;
}

function messageOf(error) {
  let text;
  try {
    if (util.types.isNativeError(error) || error instanceof Error) {
      const [name, message] = [String(error.name), String(error.message)];
      text = message ? `${name}: ${message}` : name;
      if (isArray(error.errors)) text += `: ${error.errors.slice(0, 5).map(messageOf).join("; ")}`;
    } else {
      text = `thrown: ${util.inspect(error, { depth: 1, customInspect: false })}`;
    }
  } catch {
    text = typeName(error);
  }
  return text.slice(0, LONGEST_MESSAGE);
}

module.exports = {
  CrossingError, Encoder, LONGEST_MESSAGE, MISSING, TooLarge, Writer, exit, folder, layOut, messageOf, modules, owners,
  reader, receive, requireModules, send, typeName, withEndings,
};
