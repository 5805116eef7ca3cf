/**
 * Objects of the answer's code as an assertion sees them, and what a comparison of them proves.
 *
 * python_remotes.py describes the rules; they are the same here. A proxy holds the fields that its object had when it
 * crossed. Equality compares these, and what only the code's own word decides is collected in `ledger`.
 */
"use strict";

const util = require("node:util");
const nodeAssert = require("node:assert");

const { is: isIdentical } = Object;

/** Nothing here can decide the comparison. */
class Unproven extends Error {}

const ledger = { entryPoint: null, clock: 0, changed: 0, reasons: [], reads: [], answer: null, given: [], comparing: 0, unproven: null };

/** Proxy or target -> what is known of the object of the code. */
const states = new WeakMap();

const SEARCHES = new Set(
  ("index rindex find rfind count indexOf lastIndexOf findIndex findLast findLastIndex search match localeCompare compareTo " +
    "compare cmp includes startsWith endsWith has contains equals test every some isSubsetOf isSupersetOf isDisjointFrom " +
    "isEqual eq equal hasOwnProperty propertyIsEnumerable isPrototypeOf").split(" "),
);

function mark(reason) {
  if (!ledger.reasons.includes(reason)) ledger.reasons.push(reason);
}

function isRemote(value) {
  return value !== null && (typeof value === "object" || typeof value === "function") && states.has(value);
}

function unproven(message) {
  ledger.unproven = ledger.unproven || message;
  return new Unproven(message);
}

/** Record that the assertion asks for something of these values. */
function reads(how, ...values) {
  ledger.reads.push(values.some((one) => isRemote(one) && states.get(one).made) ? "made" : how);
}

/** Return the plain values within arguments. */
function plainIn(value, seen = new Set()) {
  if (value === null || value === undefined || typeof value === "boolean" || isRemote(value)) return [];
  if (typeof value !== "object") return [value];
  if (seen.has(value)) return [];
  seen.add(value);
  return children(value).flatMap((one) => plainIn(one, seen));
}

// --- Methods ---------------------------------------------------------------------------------------------------------

/** Judge a method of an own object that says how the object compares with what the assertion gives. */
function judge(owner, name, given, found) {
  if (name === ledger.entryPoint || !given.length) return;
  const what = `decided by the answer's own method ${states.get(owner).name}.${String(name)}`;
  if (typeof found === "boolean" || SEARCHES.has(name) || (isWeak(found) && remotesIn(given).length)) mark(what);
  else ledger.answer = [found, what, ledger.clock];
}

/**
 * Judge an object that a constructor of the code returned as plain data, such as a subclass of `Array`: its values have
 * to begin with those that the assertion gave.
 */
function judgePlain(name, given, found) {
  const [expected, values] = [plainIn(given), plainIn(found)];
  if (util.types.isNativeError(found)) {
    values.push(found.message);
    if (expected.every((one) => values.some((other) => isIdentical(one, other)))) return;
  }
  const inOrder = found instanceof Set || found instanceof Map ? values.length === new Set(expected).size : true;
  if (inOrder && [...new Set(expected)].every((one, at) => isIdentical(one, [...new Set(values)][at]))) return;
  mark(`decided by the answer's own class ${name}: its objects don't show what the test expects. Compare their fields with plain values`);
}

/** Tell whether a value is what a comparison returns if nothing differs. */
function isWeak(value) {
  if (isRemote(value)) {
    const { fields } = states.get(value);
    return fields !== null && [...fields.values()].every(isWeak);
  }
  if (value === null || value === undefined || value === "" || value === 0n) return true;
  if (typeof value === "number") return [0, 1, -1].includes(value) || Number.isNaN(value);
  if (typeof value !== "object") return false;
  return (value.size ?? value.length ?? Object.keys(value).length) === 0;
}

// --- Comparisons -----------------------------------------------------------------------------------------------------

function children(value) {
  if (value instanceof Map) return [...value].flat();
  if (value instanceof Set) return [...value];
  const { types } = util;
  if (types.isTypedArray(value) || types.isDate(value) || types.isRegExp(value) || types.isBoxedPrimitive(value)) return [];
  return Object.values(value);
}

/** Return the objects of the code within a value, but not those within such an object. */
function remotesIn(value, seen = new Set()) {
  if (isRemote(value)) return [value];
  if (value === null || typeof value !== "object" || seen.has(value)) return [];
  seen.add(value);
  return children(value).flatMap((one) => remotesIn(one, seen));
}

/** Return a value with data in place of the objects of the code. */
function asData(value, prototypeOf, seen = new Map()) {
  if (value === null || typeof value !== "object") return value; // functions of the code are only themselves
  if (seen.has(value)) return seen.get(value);
  if (isRemote(value)) {
    const { fields, name } = states.get(value);
    if (fields === null || !fields.size) {
      throw unproven(
        `the test compares objects of ${name}, which show no fields: nothing tells them apart from here. Compare what ` +
          "their methods return, such as result.amount() === 41",
      );
    }
    const found = Object.create(prototypeOf(name));
    seen.set(value, found);
    for (const [key, item] of fields) define(found, key, asData(item, prototypeOf, seen));
    return found;
  }
  if (!remotesIn(value).length) return value;
  if (value instanceof Map) {
    return new Map([...value].map((pair) => pair.map((one) => asData(one, prototypeOf, seen))));
  }
  if (value instanceof Set) return new Set([...value].map((one) => asData(one, prototypeOf, seen)));
  const found = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value));
  seen.set(value, found);
  for (const [key, item] of Object.entries(value)) define(found, key, asData(item, prototypeOf, seen));
  return found;
}

function define(target, name, value) {
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: true });
}

function sameData(one, other, prototypeOf) {
  return util.isDeepStrictEqual(asData(one, prototypeOf), asData(other, prototypeOf));
}

/** Return when the assertion first gave a part of an object to the code. */
function firstGiven(remote) {
  const { made } = states.get(remote);
  const parts = remotesIn(made.given).filter((one) => states.get(one).made);
  return Math.min(made.at, ...parts.map(firstGiven));
}

/** Return what the assertion gave to make an object and its parts. */
function givenTo(remote) {
  const { made } = states.get(remote);
  return made ? [...made.given, ...remotesIn(made.given).flatMap(givenTo)] : [];
}

/** Tell whether the fields of an object show each argument of the assertion where they have to. */
function shows(remote, prototypeOf) {
  const { made, fields } = states.get(remote);
  if (!made || !fields || !made.given.length) return false;
  const values = [...fields.values()];
  return made.given.every(
    (one, number) =>
      (made.parameters[number] !== undefined && isShown(one, fields.get(made.parameters[number]), prototypeOf)) ||
      (number < values.length && isShown(one, values[number], prototypeOf)) ||
      (isRecord(one) && Object.keys(one).length > 0 &&
        Object.entries(one).every(([key, item]) => fields.has(key) && isShown(item, fields.get(key), prototypeOf))),
  );
}

function isRecord(value) {
  return value !== null && typeof value === "object" && !isRemote(value) && Object.getPrototypeOf(value) === Object.prototype;
}

function isShown(given, field, prototypeOf) {
  if (isRemote(given)) {
    if (!isRemote(field) || !sameData(given, field, prototypeOf)) return false;
    return !states.get(given).made || shows(given, prototypeOf);
  }
  if (Array.isArray(given)) {
    return Array.isArray(field) && given.length === field.length &&
      given.every((one, number) => isShown(one, field[number], prototypeOf));
  }
  return sameData(given, field, prototypeOf);
}

/** Mark two equal values if nothing shows that the code knew one without the other. */
function prove(left, right, prototypeOf) {
  const [one, other] = [remotesIn(left), remotesIn(right)];
  if (!one.length || !other.length) return;
  const proven = [[one, other], [other, one]].some(([expected, found]) => {
    if (!expected.every((each) => shows(each, prototypeOf))) return false;
    const given = Math.min(...expected.map(firstGiven));
    return found.every((each) => states.get(each).made || states.get(each).at <= given);
  });
  if (proven) {
    // The code knew this without the assertion.
    const known = new Set([...one, ...other].flatMap((each) => plainIn(givenTo(each))));
    ledger.given = ledger.given.filter((each) => !known.has(each));
    return;
  }
  const { name } = states.get(one[0]);
  mark(`decided by the answer's own class ${name}: its objects don't show what the test expects. Compare their fields with plain values`);
}

/** Mark a comparison of plain values that are both read from objects of the code. */
function judgeReads(left, right, before, after, isEqual) {
  for (const [value, asked] of [[left, before], [right, after]]) {
    if (!isEqual || !asked.includes("code") || asked.includes("made")) continue;
    if (ledger.given.some((one) => isIdentical(one, value))) {
      mark("decided by what the code said after the test had given the value to its class. Ask for the result first");
    }
  }
  if (!before.length || !after.length || ![...before, ...after].includes("made")) return;
  if (remotesIn(left).length || remotesIn(right).length) return;
  mark("decided by the answer's own class: both sides of a comparison are read from its objects. Compare with plain values");
}

function isSame(left, right) {
  if (!isRemote(left) || !isRemote(right)) return null;
  const same = states.get(left).number === states.get(right).number;
  if (same && left !== right) mark("decided by the identity of an object of the code, which the code chooses");
  return same;
}

const COMPARED = {
  "===": (a, b) => a === b,
  "!==": (a, b) => a !== b,
  "==": (a, b) => a == b, // eslint-disable-line eqeqeq
  "!=": (a, b) => a != b, // eslint-disable-line eqeqeq
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

/** The operands of the call that is being prepared, with what each asked the code for. */
let operands = [];

const watch = {
  mark: () => ledger.reads.length,
  count: () => ledger.reasons.length,
  dropped: (count, value) => {
    ledger.reasons.length = count;
    ledger.answer = null;
    return value;
  },
  operand: (from, value) => {
    operands.push([value, ledger.reads.slice(from)]);
    return value;
  },
  compare: (how, first, left, second, right) => {
    const [before, after] = [ledger.reads.slice(first, second), ledger.reads.slice(second)];
    if (isRemote(left) && isRemote(right) && !/[<>]/.test(how)) return isSame(left, right) === !how.startsWith("!");
    if (isRemote(left) && isRemote(right)) {
      mark(`decided by the order that the answer's own class ${states.get(left).name} gives its objects`);
    }
    const from = ledger.reads.length;
    const found = COMPARED[how](left, right);
    const converted = ledger.reads.slice(from); // an object became a text
    judgeReads(left, right, [...before, ...converted], [...after, ...converted], found && ["===", "=="].includes(how));
    for (const [one, other] of [[left, right], [right, left]]) {
      if (typeof other === "boolean" || isWeak(other)) watch.answered(one);
    }
    return found;
  },
  truth: (value) => {
    watch.answered(value);
    return value;
  },
  /** Mark what a method of an own object has just returned. */
  answered: (value) => {
    const last = ledger.answer;
    if (last && isIdentical(last[0], value) && last[2] === ledger.clock) mark(last[1]);
  },
};

/** Return the functions of `node:assert` for values that may be objects of the code. */
function assertions(prototypeOf, refresh) {
  const deeply = (own) => (left, right, ...rest) => {
    const [one, other] = taken([left, right]);
    const isNegated = /^not/i.test(own.name);
    const both = [remotesIn(left), remotesIn(right)];
    if (!both[0].length && !both[1].length) {
      own(left, right, ...rest);
    } else {
      try {
        own(asData(left, prototypeOf), asData(right, prototypeOf), ...rest);
        if (!isNegated) prove(left, right, prototypeOf);
      } catch (error) {
        const all = both.flat();
        if (error instanceof Unproven || isNegated || !all.some((each) => states.get(each).at < ledger.changed)) throw error;
        all.forEach(refresh); // another object may have changed them
        own(asData(left, prototypeOf), asData(right, prototypeOf), ...rest);
        mark(`decided by objects of ${states.get(all[0]).name} that the code changed during the test`);
      }
    }
    if (!isNegated) judgeReads(left, right, one, other, true);
  };
  const plainly = (own) => (left, right, ...rest) => {
    const [one, other] = taken([left, right]);
    const isNegated = /^not/i.test(own.name);
    if (isRemote(left) && isRemote(right) && isSame(left, right) !== isNegated) return;
    own(left, right, ...rest);
    if (!isNegated) judgeReads(left, right, one, other, true);
  };
  function taken(values) {
    const found = operands.slice(-values.length);
    const fitting = values.map((value, number) => (found[number] && isIdentical(found[number][0], value) ? found[number][1] : []));
    operands = [];
    return fitting;
  }
  function wrapped(own, strict) {
    const found = (value, ...rest) => own(value, ...rest);
    for (const name of Object.keys(own)) {
      const each = own[name];
      if (/^(?:not)?(?:deep|partialDeep)(?:Strict)?Equal$/i.test(name)) found[name] = deeply(each);
      else if (/^(?:not)?(?:strict)?Equal$/i.test(name)) found[name] = plainly(each);
      else if (name !== "strict") found[name] = each;
    }
    found.strict = strict ? found : wrapped(own.strict, true);
    return found;
  }
  const assert = wrapped(nodeAssert, false);
  const isDeepStrictEqual = (left, right) => {
    try {
      assert.deepStrictEqual(left, right);
      return true;
    } catch (error) {
      if (error.code === "ERR_ASSERTION") return false;
      throw error;
    }
  };
  const is = (left, right) => {
    const [one, other] = taken([left, right]);
    judgeReads(left, right, one, other, true);
    return isSame(left, right) ?? isIdentical(left, right);
  };
  return { assert, isDeepStrictEqual, is };
}

module.exports = { Unproven, assertions, isRemote, judge, judgePlain, ledger, plainIn, reads, remotesIn, states, unproven, watch };
