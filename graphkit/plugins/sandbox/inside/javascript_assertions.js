/**
 * Evaluates an assertion in JavaScript, in a process that never runs the answer's code.
 *
 * python_assertions.py describes the job, the requests and the verdict. A name is looked up among the assertion's own
 * names first, then `result`, `assert` and `require`, the entry point, JavaScript's globals, and last in the answer's
 * code.
 */
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const util = require("node:util");
const Module = require("node:module");
const vm = require("node:vm");
const {
  CrossingError, LONGEST_MESSAGE, MISSING, Writer, exit, folder, layOut, messageOf, modules, owners, reader, receive,
  requireModules, send,
} = require("./javascript_common.js");
const {
  Unproven, assertions, isRemote, judge, judgePlain, ledger, plainIn, reads, remotesIn, states, watch,
} = require("./javascript_remotes.js");
const { rewritten } = require("./javascript_rewriting.js");

fs.closeSync(5);

const job = receive();

// --- The answer's code, seen from here -------------------------------------------------------------------------------

const numbers = new WeakMap();
const classes = new Map();
let owned = new Map();

/** Return the result of an operation in the code's process, or throw what it throws. */
function ask(operation, ...given) {
  ledger.clock++;
  const writer = new AssertionWriter(job.limit, held, owned);
  send({ id: job.id, kind: "ask", operation, arguments: given.map((one) => writer.encode(one)), named: {} });
  const reply = receive();
  if (reply === null) exit(0);
  if (reply.kind === "returned") return read(reply.value);
  if (reply.kind === "missing") return MISSING;
  if ("error" in reply) throw read(reply.error);
  throw new CrossingError(reply.message);
}

function held(value) {
  if (numbers.has(value)) return numbers.get(value);
  const [text] = util.inspect(value, { depth: 0 }).split("\n");
  throw new CrossingError(`the assertion hands over ${text.slice(0, 100)}, which can't leave the assertion's process`);
}

/** Writes arguments of the assertion; values that stay in the code's process cross as their numbers. */
class AssertionWriter extends Writer {
  composite(value, depth) {
    return numbers.has(value) ? this.reference(value) : super.composite(value, depth);
  }

  reference(value) {
    return { held: [held(value)] };
  }
}

const read = reader({
  made: ([file, name, fields]) => {
    const found = exported(file, name);
    if (typeof found !== "function") throw new CrossingError(`no stand-in exports ${name}`);
    return filled(Object.create(found.prototype), fields);
  },
  error: ([number, names, , fields, text]) => {
    const error = Object.create(errorClass(names).prototype);
    numbers.set(error, number);
    Error.captureStackTrace(error);
    Object.defineProperty(error, "message", { value: text, writable: true, configurable: true });
    return filled(error, fields);
  },
  held: ([number, [, name], snapshot, traits]) => remote(number, name, snapshot, traits),
});

function filled(target, fields) {
  for (const [name, item] of fields) {
    Object.defineProperty(target, name, { value: read(item), writable: true, configurable: true, enumerable: true });
  }
  return target;
}

/** Return what a stand-in exports in this process. */
function exported(file, name) {
  if (!Object.hasOwn(job.files, file)) return undefined;
  const full = path.join(folder, file);
  const found = modules.has(full) ? modules.get(full)() : require(full);
  return name ? found[name] : found;
}

/** Return the class of an error: JavaScript's or a stand-in's own, or one that represents the class of the code. */
function errorClass(names) {
  const key = JSON.stringify(names);
  if (classes.has(key)) return classes.get(key);
  const rest = [];
  let base = Error;
  for (const [file, name] of names) {
    const found = file ? exported(file, name) : globalThis[name];
    if (typeof found === "function" && (found === Error || found.prototype instanceof Error)) {
      base = found;
      break;
    }
    rest.push(name);
  }
  if (!rest.length) return base;
  for (const name of rest.reverse()) base = { [name]: class extends base {} }[name];
  classes.set(key, base);
  return base;
}

/** Return a proxy of a value that stays in the code's process, with the data that it has now. */
function remote(number, name, snapshot, traits) {
  if (traits.includes("promise")) return promised(number);
  const isFunction = traits.includes("function");
  return proxyOf(isFunction ? function () {} : Object.create(prototypeOf(name)), number, name, snapshot);
}

function proxyOf(target, number, name, snapshot) {
  const proxy = new Proxy(target, HANDLER);
  const state = { number, name, proxy, at: ledger.clock, made: null, method: null, isModule: false, fields: null };
  for (const one of [proxy, target]) {
    numbers.set(one, number);
    states.set(one, state);
  }
  capture(target, state, snapshot);
  return proxy;
}

function capture(target, state, snapshot) {
  if (!snapshot || !snapshot.object) return;
  for (const key of Object.keys(target)) if (typeof target !== "function") delete target[key];
  state.fields = new Map(snapshot.object[1].map(([key, item]) => [key, read(item)]));
  state.at = ledger.clock;
  state.target = target;
  for (const [key, value] of state.fields) {
    Object.defineProperty(target, key, { value, writable: true, configurable: true, enumerable: true });
  }
}

/** Capture an object again, after an operation on it. */
function refresh(found) {
  const own = states.get(found);
  if (!own.fields) return;
  const now = ask("self", found);
  if (!isRemote(now)) return;
  const { fields } = states.get(now);
  capture(own.target, own, null);
  [own.fields, own.at] = [fields, ledger.clock];
  for (const key of Object.keys(own.target)) delete own.target[key];
  for (const [key, value] of fields || []) {
    Object.defineProperty(own.target, key, { value, writable: true, configurable: true, enumerable: true });
  }
}

const prototypes = new Map();

function prototypeOf(name) {
  if (!prototypes.has(name)) prototypes.set(name, { [name]: class {} }[name].prototype);
  return prototypes.get(name);
}

function promised(number) {
  try {
    const found = ask("await", proxyOf({}, number, "Promise", null));
    ledger.changed = ledger.clock;
    return Promise.resolve(found);
  } catch (error) {
    const found = Promise.reject(error);
    found.catch(() => {}); // the assertion may ignore the rejection
    return found;
  }
}

/** Tell whether a value stands for one of the code's; an error does, though it is an object of its own here. */
function isHeld(value) {
  return value !== null && (typeof value === "object" || typeof value === "function") && numbers.has(value);
}

function selfOf(target) {
  return states.get(target).proxy;
}

const HANDLER = {
  get(target, name) {
    const self = selfOf(target);
    const own = states.get(target);
    if (name === Symbol.hasInstance) return (value) => isHeld(value) && ask("instanceof", value, self) === true;
    if (name === Symbol.iterator) return () => iterated(self);
    if (name === Symbol.toPrimitive) {
      reads("code", self);
      return () => ask("text", self);
    }
    if (typeof name === "symbol" || name === "then") return undefined;
    if (name === "constructor" && typeof target !== "function") return target.constructor;
    const isCaptured = own.fields && own.fields.has(name) && own.at >= ledger.changed;
    reads(isCaptured ? "captured" : "code", self);
    if (isCaptured) return own.fields.get(name);
    const found = ask("get", self, name);
    const isOwn = !own.isModule && !(typeof target === "function" && ["call", "apply", "bind"].includes(name));
    if (isRemote(found) && isOwn) states.get(found).method = [self, name];
    return found;
  },
  ownKeys(target) {
    reads("captured", selfOf(target));
    return Reflect.ownKeys(target);
  },
  getOwnPropertyDescriptor(target, name) {
    reads("captured", selfOf(target));
    return Reflect.getOwnPropertyDescriptor(target, name);
  },
  set(target, name, value) {
    const self = selfOf(target);
    ask("set", self, name, value);
    ledger.changed = ledger.clock;
    refresh(self);
    return true;
  },
  apply(target, owner, given) {
    const { method } = states.get(target);
    const found = ask("call", selfOf(target), isHeld(owner) ? owner : undefined, ...given);
    ledger.changed = ledger.clock;
    reads("code", owner, ...(method ? [] : remotesIn(given)));
    for (const one of [owner, ...given]) if (isRemote(one)) refresh(one);
    if (method) judge(method[0], method[1], given, found);
    return found;
  },
  construct(target, given) {
    const self = selfOf(target);
    const parameters = ask("parameters", self);
    const at = ledger.clock;
    const found = ask("new", self, ...given);
    reads("code");
    ledger.given.push(...plainIn(given));
    if (isRemote(found)) states.get(found).made = { at, parameters, given };
    else judgePlain(states.get(target).name, given, found);
    return found;
  },
};

function* iterated(found) {
  reads("code", found);
  const iterator = ask("iter", found);
  if (!isRemote(iterator)) {
    yield* iterator;
    return;
  }
  for (;;) {
    const [done, value] = ask("next", iterator);
    ledger.changed = ledger.clock;
    if (done) return;
    yield value;
  }
}

// --- The assertion ---------------------------------------------------------------------------------------------------

const first = job.entry_point === null ? null : job.entry_point.split(".")[0];
const found = new Map();

/** The names of the code, looked up on use. */
const NAMES = new Proxy(Object.create(null), {
  has(_, name) {
    if (typeof name !== "string" || name === "arguments" || name === "eval") return false;
    if (name !== first && name in globalThis) return false;
    const value = ask("name", name);
    found.set(name, value);
    return value !== MISSING;
  },
  get(_, name) {
    return typeof name === "string" ? found.get(name) : undefined;
  },
});

const evaluate = new Function(
  "$names",
  "with ($names) { return (function (result, assert, require, inside, $watch) { return eval(arguments[5]); })(...arguments[1]); }",
);

const { assert, isDeepStrictEqual, is } = assertions(prototypeOf, refresh);
Object.is = is;

/** The modules of Node that compare, as an assertion sees them. */
const COMPARING = {
  assert,
  "assert/strict": assert.strict,
  util: Object.assign(Object.create(util), {
    isDeepStrictEqual,
    inspect: Object.assign((...given) => described(given, util.inspect), util.inspect),
    format: (...given) => described(given, util.format),
  }),
};

/** Return the text that a function of Node makes of values: it reads proxies without asking them. */
function described(given, inspect) {
  const found = remotesIn(given);
  if (found.length) reads("captured", ...found);
  return inspect(...given);
}

function reached(source, result) {
  const requires = Module.createRequire(path.join(folder, "assertion.js"));
  const required = (name) => COMPARING[String(name).replace(/^node:/, "")] || requires(name);
  return evaluate(NAMES, [result, assert, Object.assign(required, requires), inside, watch, rewritten(source)]);
}

function inside(name) {
  const found = ask("module", name);
  if (isRemote(found)) states.get(found).isModule = true;
  return found;
}

async function asserted(result) {
  try {
    const value = reached(job.assertion, result);
    if (!util.types.isPromise(value)) watch.truth(value);
    // A promise holds unless it rejects or resolves to false.
    if (util.types.isPromise(value)) return (await value) === false ? `${job.assertion} doesn't hold` : null;
    if (value || !isExpression(job.assertion)) return null;
    return comparison(result) || `${job.assertion} doesn't hold`;
  } catch (error) {
    if (error instanceof Unproven) throw error;
    if (error && error.code === "ERR_ASSERTION") return String(error.message);
    return `the assertion threw ${messageOf(error)}`;
  }
}

/** Tell whether the value of a text counts: that of an expression, but not of statements or `assert`, which throw. */
function isExpression(text) {
  if (/^\s*assert\b/.test(text)) return false;
  try {
    new vm.Script(`(${text.replace(/;\s*$/, "")}\n)`);
    return true;
  } catch {
    return false;
  }
}

/** Show the operands of a simple comparison of the result, such as `result.total === 3`. */
function comparison(result) {
  const parts = /^\s*(result[\w.$[\]"']*)\s*([=!]==?|[<>]=?)\s*([\w.$[\]"'-]+)\s*;?\s*$/.exec(job.assertion);
  if (!parts) return null;
  const [left, right] = [parts[1], parts[3]].map((text) => {
    return util.inspect(reached(text, result), { depth: 2, customInspect: false }).slice(0, 300);
  });
  return `${job.assertion.trim()}: the left side is ${left}, the right side ${right}`;
}

async function main() {
  layOut(job.files);
  await requireModules(job.files);
  for (const file of Object.keys(job.files)) {
    if (file.endsWith(".js")) {
      try {
        require(path.join(folder, file));
      } catch {
        // The code can't load it either.
      }
    }
  }
  owned = await owners(job.files);
  ledger.entryPoint = job.entry_point === null ? null : job.entry_point.split(".").pop();
  const failed = await asserted("result" in job ? read(job.result) : undefined).catch((error) => {
    if (error instanceof Unproven) return null;
    throw error;
  });
  const kind = ledger.unproven !== null ? "unproven" : failed === null ? "held" : "failed";
  const message = (ledger.unproven || failed || "").slice(0, LONGEST_MESSAGE);
  send({ id: job.id, kind, message, own: ledger.reasons.join("; ").slice(0, LONGEST_MESSAGE) || null });
  const request = receive();
  if (request !== null) send({ id: request.id, kind: "ended" });
  exit(0);
}

main().catch((error) => {
  send({ id: job.id, kind: "failed", message: `the assertion threw ${messageOf(error)}`.slice(0, LONGEST_MESSAGE) });
  exit(0);
});
