/**
 * Rewrites an assertion so that its comparisons and its conditions are watched, as python_assertions.py does.
 *
 * `a === b` becomes `$watch.compare("===", $watch.mark(), (a), $watch.mark(), (b))`, a condition `$watch.truth(a)`, each
 * argument of `assert.NAME(...)` and `Object.is(...)` `$watch.operand($watch.mark(), (a))`, and a method that is called
 * for its effect `$watch.dropped($watch.count(), (a))`. The parser is the one that Node brings along.
 */
"use strict";

const vm = require("node:vm");
const { unproven } = require("./javascript_remotes.js");

const COMPARED = new Set(["===", "!==", "==", "!=", "<", ">", "<=", ">="]);
const EQUALITIES = /^(?:assert(?:\.strict)?\.(?:not)?(?:deep)?(?:strict)?equal|Object\.is|(?:util\.)?isDeepStrictEqual)$/i;
const TRUTHS = /^assert(?:\.strict)?(?:\.ok)?$/;

/** Return the tree of an assertion; what can't be parsed here can't be watched, so that it proves nothing. */
function parsed(source) {
  let acorn;
  try {
    acorn = require("internal/deps/acorn/acorn/dist/acorn");
  } catch {
    throw unproven("this Node doesn't hand out its parser, so that the comparisons of the test can't be watched");
  }
  try {
    return acorn.parse(source, { ecmaVersion: "latest", allowReturnOutsideFunction: true });
  } catch (error) {
    new vm.Script(source); // it says what is wrong
    throw unproven(`the test can't be watched: ${error.message}`);
  }
}

/** Return the rewritten source. */
function rewritten(source) {
  const tree = parsed(source);
  const single = tree.body.length === 1;

  function inner(node) {
    const children = Object.values(node)
      .flat()
      .filter((one) => one && typeof one.type === "string" && one !== node)
      .sort((one, other) => one.start - other.start);
    let text = "";
    let at = node.start;
    for (const child of children) {
      if (child.start < at) continue; // the value of a shorthand property
      text += source.slice(at, child.start) + render(child, node);
      at = child.end;
    }
    return text + source.slice(at, node.end);
  }

  function render(node, parent) {
    const text = whole(node, parent);
    return isCondition(node, parent) ? `$watch.truth(${text})` : text;
  }

  function whole(node, parent) {
    if (node.type === "BinaryExpression" && COMPARED.has(node.operator)) {
      const [left, right] = [node.left, node.right].map((one) => `$watch.mark(), (${render(one, node)})`);
      return `$watch.compare(${JSON.stringify(node.operator)}, ${left}, ${right})`;
    }
    if (node.type === "CallExpression" && EQUALITIES.test(source.slice(node.callee.start, node.callee.end))) {
      const given = node.arguments.map((one) =>
        one.type === "SpreadElement" ? render(one, node) : `$watch.operand($watch.mark(), (${render(one, node)}))`,
      );
      return `${render(node.callee, node)}(${given.join(", ")})`;
    }
    const text = inner(node);
    const dropped = parent && parent.type === "ExpressionStatement" && !single && isEffect(node);
    return dropped ? `$watch.dropped($watch.count(), (${text}))` : text;
  }

  /** Tell whether a node is a call of a method for its effect, such as `stack.push(5)`. */
  function isEffect(node) {
    if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
    const text = source.slice(node.callee.start, node.callee.end);
    return !/^assert\b|[()]/.test(text);
  }

  function isCondition(node, parent) {
    if (!parent) return false;
    if (parent.test === node || (parent.type === "UnaryExpression" && parent.operator === "!")) return true;
    if (parent.type === "LogicalExpression") return true;
    if (parent.type === "ArrowFunctionExpression") return parent.body === node && parent.expression;
    if (parent.type === "ReturnStatement") return true;
    if (parent.type === "CallExpression" && parent.arguments[0] === node) {
      return TRUTHS.test(source.slice(parent.callee.start, parent.callee.end));
    }
    return parent.type === "ExpressionStatement" && single;
  }

  // The tree begins at its first statement.
  return source.slice(0, tree.start) + inner(tree) + source.slice(tree.end);
}

module.exports = { rewritten };
