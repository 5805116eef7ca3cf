/**
 * Runs one test of an answer in JavaScript, inside the sandbox; on Node from version 18 on.
 *
 * Requests are read from descriptor 3, replies written to 4, and the standard input is there on 0; what they hold says
 * python_tests.py beside this, and how values are encoded returned_values.py. Descriptor 5 is closed before the code
 * runs: from then on no file can be mapped for execution. Names that the code defines are reached by an `eval` that is
 * appended to it, so that it needs no exports.
 */
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const util = require("node:util");
const Module = require("node:module");
const vm = require("node:vm");
const { pathToFileURL } = require("node:url");
const {
  Encoder, TooLarge, Writer, exit, folder, layOut, messageOf, owners, receive, requireModules, send, typeName,
  withEndings,
} = require("./javascript_common.js");

fs.closeSync(5);

// The code may replace what it likes; what is used after it has run is kept from before.
const { process, Buffer, Map, Set, Number, Object, Array, String, Symbol, Function } = globalThis;
const { getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { isArray } = Array;

const job = receive();
const lines = job.code.split("\n").length;
let request = job;
let over = false;

/** Reply to the request that waits. */
function reply(result) {
  if (request === null) return;
  const { id } = request;
  request = null;
  try {
    send({ ...result, id, attempts: result.attempts || [] });
  } catch {
    send({ kind: "raised", message: "the result cannot be written", exception: ["Error"], line: null, id, attempts: [] });
  }
}

/** Reply to the request that waits, and to what an assertion still asks; the code itself has ended. */
function finish(result) {
  if (over) return;
  over = true;
  reply(result);
  for (request = receive(); request !== null; request = receive()) {
    if (request.do === "end") {
      reply({ kind: "ended" });
      break;
    }
    reply(request.do === "operate" ? operated(request) : raised("the program has ended"));
  }
  exit(0);
}

function raised(message) {
  return { kind: "raised", message, exception: ["Error"], line: null };
}

// --- How it ended ----------------------------------------------------------------------------------------------------

function namesOf(error) {
  const names = [];
  const add = (name) => {
    if (typeof name === "string" && name && !names.includes(name)) names.push(name.slice(0, 200));
  };
  try {
    if (error !== null && typeof error === "object") {
      add(error.name);
      add(error.code);
      let prototype = getPrototypeOf(error);
      while (prototype && prototype !== Object.prototype && names.length < 100) {
        const own = getOwnPropertyDescriptor(prototype, "constructor");
        if (own && typeof own.value === "function") add(own.value.name);
        prototype = getPrototypeOf(prototype);
      }
    }
  } catch {
    // A proxy, or a getter that throws: it has no more names than those.
  }
  return names.length ? names : [typeName(error)];
}

function stackOf(error) {
  try {
    const stack = error.stack;
    return typeof stack === "string" ? stack.slice(0, 100000) : "";
  } catch {
    return "";
  }
}

const FRAME = /(?:file:\/\/)?(\/[^\s():]*):(\d+)(?::\d+)?/g;

/** The innermost line of the answer, and the stand-in that the error was thrown in, if in one. */
function placeOf(error) {
  let line = null;
  let within = null;
  for (const [, name, number] of stackOf(error).matchAll(FRAME)) {
    if (!name.startsWith(folder + path.sep)) continue;
    const file = path.relative(folder, name);
    if (/^answer\.m?js$/.test(file)) {
      line = Math.min(Number(number), lines);
      break;
    }
    within = within || `${file.replace(/^node_modules\//, "")}, line ${number}`;
  }
  return [line, within];
}

const CALLS = { getaddrinfo: "look up", scandir: "list", kill: "kill" };

/** What a refused call of the system tried; null of an error that isn't one, or that concerns the own folder. */
function attemptOf(error) {
  if (error === null || typeof error !== "object" || typeof error.syscall !== "string") return null;
  const [call] = error.syscall.split(" ");
  if (typeof error.path === "string" && call !== "connect") {
    const full = path.resolve(folder, error.path);
    if (!call.startsWith("spawn") && (full === folder || full.startsWith(folder + path.sep))) return null;
    return `${call.startsWith("spawn") ? "run" : CALLS[call] || call} ${error.path}`;
  }
  const where = error.hostname || (error.address ? `${error.address}:${error.port}` : error.path);
  return `${CALLS[call] || call} ${where || ""}`.trim();
}

/** What is said where there is no memory left for a buffer. */
const MEMORY =
  /^RangeError: (?:Array buffer allocation failed|WebAssembly\.(?:Memory\(\): could not allocate memory|Memory\.grow\(\): Unable to grow instance memory))/;

function endedBy(error) {
  if (error instanceof TooLarge) {
    return { kind: "too_large", message: `the result has more than ${job.limit} bytes` };
  }
  const [line, within] = placeOf(error);
  if (MEMORY.test(messageOf(error))) return { kind: "memory", message: messageOf(error), line };
  const attempts = [];
  const seen = new Set();
  try {
    for (let one = error; one && typeof one === "object" && !seen.has(one); one = one.cause) {
      seen.add(one);
      for (const part of isArray(one.errors) ? [one, ...one.errors] : [one]) {
        const attempt = attemptOf(part);
        if (attempt && attempts.length < 5 && !attempts.includes(attempt)) attempts.push(attempt.slice(0, 200));
      }
    }
  } catch {
    // A getter that throws: nothing more is known of it.
  }
  return {
    kind: attempts.length ? "refused" : "raised",
    message: messageOf(error) + (within ? ` (in ${within})` : ""),
    exception: namesOf(error),
    line,
    attempts,
    ...(job.holds ? { error: writer().thrown(error) } : {}),
  };
}

// --- Before ----------------------------------------------------------------------------------------------------------

const MODULE =
  /^[ \t]*(?:import[ \t]*(?:[\w$]+[ \t]*(?:,|from\b)|[{*'"])|export[ \t]*(?:[{*]|default\b|const\b|let\b|var\b|function\b|class\b|async\b))/m;
const REACH = "\n;globalThis[Symbol.for('graphkit')]((source) => eval(source));\n";

/** Keep the beginning of what is printed. */
function keepPrinted() {
  const kept = { text: "", cut: false };
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (data, ...rest) => {
    const text = typeof data === "string" ? data : Buffer.from(data).toString("utf8");
    const room = job.limit - kept.text.length;
    kept.text += text.slice(0, room);
    kept.cut = kept.cut || text.length > room;
    return write(data, ...rest);
  };
  return kept;
}

// --- The test --------------------------------------------------------------------------------------------------------

/** Tell whether the answer can't be read, and where. */
function unreadable(isModule) {
  try {
    if (isModule && vm.SourceTextModule) new vm.SourceTextModule(job.code, { identifier: "answer.mjs" });
    else if (!isModule) new vm.Script(Module.wrap(job.code), { filename: "answer.js" });
    return null;
  } catch (error) {
    return { kind: "syntax_error", message: messageOf(error), line: isModule ? lineAsScript() : lineOf(error) };
  }
}

function lineOf(error) {
  const place = /^answer\.js:(\d+)/.exec(stackOf(error));
  return place && Math.min(Number(place[1]), lines);
}

/** Of a module Node doesn't tell the line: it is that of the same code without imports and exports. */
function lineAsScript() {
  const script = job.code
    .replace(/^([ \t]*)export[ \t]+default\b/gm, "$1void")
    .replace(/^([ \t]*)export[ \t]+(?=(?:const|let|var|function|class|async)\b)/gm, "$1")
    .replace(/^[ \t]*(?:export[ \t]*\{[^}]*\}|(?:import|export)\b[^'"();]*(["'])[^'"\n]*\1)/gm, (all) => all.replace(/./g, " "))
    .replace(/\bimport\.meta\b/g, "null");
  try {
    new vm.Script(`(async () => {${script}\n})`, { filename: "answer.js" });
  } catch (error) {
    return lineOf(error);
  }
  return null;
}

/** Load the answer; returns what reaches its names, and what it exports. */
async function loadAnswer(isModule) {
  let reach = null;
  globalThis[Symbol.for("graphkit")] = (found) => {
    reach = found;
  };
  const file = path.join(folder, isModule ? "answer.mjs" : "answer.js");
  fs.writeFileSync(file, (isModule ? withEndings(job.code, "answer.mjs", job.files) : job.code) + REACH);
  const exports = isModule ? await import(pathToFileURL(file).href) : require(file);
  delete globalThis[Symbol.for("graphkit")];
  return { reach: reach || eval, exports };
}

const MISSING = Symbol("missing");

/** What the code defines under a name. */
function answered(name) {
  if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name)) return MISSING;
  try {
    return answer.reach(name);
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return MISSING;
  }
}

function entryPoint(answer) {
  const [first, ...rest] = job.entry_point.split(".");
  let found = answered(first);
  const { exports } = answer;
  const candidates = [exports, exports && exports.default];
  for (const one of candidates) {
    if (found === MISSING && one && (typeof one === "object" || typeof one === "function") && first in one) {
      found = one[first];
    }
  }
  // A function without a name that is all the answer exports is the one that was asked for.
  for (const one of candidates) if (found === MISSING && typeof one === "function") found = one;
  let owner;
  for (const part of rest) {
    if (found === MISSING || found === null || found === undefined) break;
    owner = found;
    if (typeof owner === "function" && !(part in owner) && owner.prototype && part in owner.prototype) owner = new owner();
    found = owner[part];
  }
  if (found === MISSING || found === undefined || found === null) {
    return { message: `the code defines no ${job.entry_point}` };
  }
  if (typeof found !== "function") return { message: `${job.entry_point} isn't a function` };
  const isClass = /^class\b/.test(Function.prototype.toString.call(found));
  return { call: (inputs) => (isClass ? new found(...inputs) : found.apply(owner, inputs)) };
}

async function gathered(value) {
  const found = [];
  for await (const item of value) {
    found.push(item);
    if (found.length > job.limit) throw new TooLarge();
  }
  return found;
}

// --- For an assertion ------------------------------------------------------------------------------------------------

/** What an assertion knows by its number, and which stand-ins export which classes. */
const values = [null];
const numbers = new Map();
let owned = new Map();

function hold(value) {
  if (!numbers.has(value)) numbers.set(value, values.push(value) - 1);
  return numbers.get(value);
}

function writer() {
  return new Writer(job.limit, hold, owned);
}

const KNOWN = {
  undefined: () => undefined,
  BigInt: (text) => BigInt(text),
  Map: (pairs) => new Map(pairs),
  Set: (items) => new Set(items),
  Date: (time) => new Date(time),
  RegExp: (source, flags) => new RegExp(source, flags),
  Buffer: (text) => Buffer.from(text, "hex"),
};

/** Read an argument that the assertion hands over. */
function read(encoded) {
  if (isArray(encoded)) return encoded.map(read);
  if (encoded === null || typeof encoded !== "object") return encoded;
  const [[tag, content]] = Object.entries(encoded);
  if (tag === "held") return values[content[0]];
  if (tag === "float") return { nan: NaN, inf: Infinity, "-inf": -Infinity }[content];
  if (tag === "integer") return Number(BigInt(content.startsWith("-") ? `-0x${content.slice(1)}` : `0x${content}`));
  if (tag === "dict") return Object.fromEntries(content.map(([name, item]) => [name, read(item)]));
  if (tag === "known" && KNOWN[content[0]]) return KNOWN[content[0]](...content[1].map(read));
  if (tag === "known" && globalThis[content[0]]) return new globalThis[content[0]](...content[1].map(read));
  if (tag === "made") return madeAgain(content);
  throw new TypeError("the assertion hands over what cannot cross");
}

function madeAgain([file, name, fields]) {
  for (const [found, owner] of owned) {
    if (owner[0] !== file || owner[1] !== name) continue;
    return Object.assign(Object.create(found.prototype), Object.fromEntries(fields.map(([key, one]) => [key, read(one)])));
  }
  throw new TypeError(`the code has loaded no ${name} of ${file}`);
}

const OPERATIONS = {
  get: (owner, name) => owner[name],
  set: (owner, name, value) => {
    owner[name] = value;
  },
  call: (found, owner, ...given) => Function.prototype.apply.call(found, owner, given),
  new: (found, ...given) => new found(...given),
  iter: (found) => found[Symbol.iterator](),
  next: (found) => {
    const { done, value } = found.next();
    return [done, value];
  },
  text: (found) => String(found),
  instanceof: (value, found) => value instanceof found,
  module: (name) => Module.createRequire(path.join(folder, "answer.js"))(name),
};

/** Do one operation for an assertion; `await` is done by who waits. */
function operated({ operation, arguments: given }) {
  try {
    if (operation === "name") return named(read(given[0]));
    return { kind: "returned", value: writer().encode(OPERATIONS[operation](...given.map(read))) };
  } catch (error) {
    return endedBy(error);
  }
}

function named(name) {
  const found = answered(name);
  return found === MISSING ? { kind: "missing" } : { kind: "returned", value: writer().encode(found) };
}

async function awaited({ arguments: given }) {
  return { kind: "returned", value: writer().encode(await read(given[0])) };
}

// --- The test --------------------------------------------------------------------------------------------------------

function returned(value) {
  try {
    return { kind: "returned", value: (job.holds ? writer() : new Encoder(job.limit)).encode(value) };
  } catch (error) {
    return endedBy(error);
  }
}

let answer = { reach: eval, exports: {} };

async function called({ inputs }) {
  const found = entryPoint(answer);
  if (!found.call) return { kind: "no_entry_point", message: found.message };
  let value = await found.call(inputs || []);
  if (!job.holds && value && typeof value[Symbol.asyncIterator] === "function") value = await gathered(value);
  return returned(value);
}

async function main() {
  layOut(job.files);
  let isModule = MODULE.test(job.code);
  let wrong = unreadable(isModule);
  // What waits at its top level is a module, although it imports nothing.
  if (wrong && !isModule && /\bawait\b/.test(job.code) && !unreadable(true)) [isModule, wrong] = [true, null];
  if (wrong) finish(wrong);
  const printed = job.entry_point === null ? keepPrinted() : null;
  if (!isModule) await requireModules(job.files);
  const program = () =>
    printed.cut
      ? { kind: "too_large", message: `the result has more than ${job.limit} bytes` }
      : returned(printed.text);

  process.on("uncaughtException", (error) => finish(endedBy(error)));
  process.on("exit", (code) => {
    if (printed && !code) finish(program());
    finish({ ...raised(`process.exit(${code})`), exception: ["process.exit"] });
  });
  process.on("beforeExit", () => {
    if (printed) finish(program());
    finish(raised("the promise is never settled: nothing is left to wait for"));
  });

  try {
    answer = await loadAnswer(isModule);
    if (job.holds) owned = await owners(job.files);
  } catch (error) {
    finish(endedBy(error));
  }
  if (printed) return; // a program has ended when nothing is left to wait for
  reply({ kind: "loaded" });
  for (;;) {
    request = receive();
    if (request === null) exit(0);
    if (request.do === "end") {
      reply({ kind: "ended" });
      exit(0);
    }
    if (request.do === "operate" && request.operation !== "await") reply(operated(request));
    else reply(await (request.do === "call" ? called(request) : awaited(request)).catch(endedBy));
  }
}

main().catch((error) => finish(endedBy(error)));
