/**
 * Runs one test of an answer in JavaScript, inside the sandbox; needs Node 18 or later.
 *
 * It reads requests from descriptor 3, writes replies to 4, and has the standard input on 0. python_tests.py describes
 * requests and replies, returned_values.py the encoding of values. It closes descriptor 5 before the code runs: from
 * then on no file can be mapped for execution. An `eval` appended to the code reaches the names that it defines, so the
 * code needs no exports.
 */
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const util = require("node:util");
const Module = require("node:module");
const vm = require("node:vm");
const { pathToFileURL } = require("node:url");
const {
  Encoder, MISSING, TooLarge, Writer, exit, folder, layOut, messageOf, owners, reader, receive, requireModules, send,
  typeName, withEndings,
} = require("./javascript_common.js");

fs.closeSync(5);

// The code may replace any global; keep what runs after it.
const { process, Buffer, Map, Set, Number, Object, Array, String, Symbol, Function } = globalThis;
const { getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { isArray } = Array;

const job = receive();
const lines = job.code.split("\n").length;
let request = job;
let over = false;

/** Reply to the pending request. */
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

/** Reply to the pending request and to what an assertion still asks; the code itself has ended. */
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
    // A proxy, or a getter that throws: it has no further names.
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

/** Return the innermost line of the answer, and the stand-in (if any) that threw the error. */
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

/** Describe a refused system call; null for any other error, and for a path in the folder of the test. */
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

/** The messages of V8 when there is no memory left for a buffer. */
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
    // A getter that throws: there is no more to learn.
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

/** Return why the answer can't be parsed, with the line; null if it can. */
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

/** Return the line of a syntax error. Node gives none for a module, so parse the code without imports and exports. */
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

/** Load the answer; return a function that reads its names, and its exports. */
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

/** Return what the code defines under a name. */
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
  // If the only export is a function without a name, that is the entry point.
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

/** The values that an assertion knows by their numbers, and the stand-ins that export classes. */
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

/** Reads the arguments that the assertion passes. */
const read = reader({
  held: ([number]) => values[number],
  made: ([file, name, fields]) => {
    for (const [found, owner] of owned) {
      if (owner[0] !== file || owner[1] !== name) continue;
      const given = fields.map(([key, item]) => [key, read(item)]);
      return Object.assign(Object.create(found.prototype), Object.fromEntries(given));
    }
    throw new TypeError(`the code has loaded no ${name} of ${file}`);
  },
});

/** Return the names of the parameters of a class or function, as far as its text shows them. */
function parametersOf(found) {
  for (let one = found; typeof one === "function" && one !== Function.prototype; one = getPrototypeOf(one)) {
    const text = Function.prototype.toString.call(one);
    const parts = /\bconstructor\s*\(([^)]*)\)/.exec(text) || (/^class\b/.test(text) ? null : /\(([^)]*)\)/.exec(text));
    if (parts) return parts[1].split(",").map((name) => name.trim().replace(/\s*=.*$/, ""));
  }
  return [];
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
  self: (value) => value,
  parameters: (found) => parametersOf(found),
  module: (name) => Module.createRequire(path.join(folder, "answer.js"))(name),
};

/** Do one operation for an assertion; `await` is handled by `awaited`. */
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
  // Code with a top-level await is a module, even if it imports nothing.
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
  if (printed) return; // a program ends when nothing is left to wait for
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
