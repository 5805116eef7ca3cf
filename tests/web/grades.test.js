// The reader's grades as scores.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asScores, gradeOf, gradeWords, isOf } from "../../graphkit/report/templates/grades.js";

test("a grade is a score by a person", () => {
  assert.deepEqual(gradeOf("r", "q", 1, "", {}), { run: "r", question: "q", measure: "PersonGrade", value: 1, grader: "person" });
  assert.deepEqual(gradeOf("r", "q", 0, "no", {}), { run: "r", question: "q", measure: "PersonGrade", value: 0, explanation: "no", grader: "person" });
  assert.deepEqual(gradeOf("r", "q", null, "look", {}), { run: "r", question: "q", measure: "PersonGrade", value: null, reason: "noted, not graded", explanation: "look", grader: "person" });
  assert.equal(gradeOf("r", "q", null, "", {}), null);
});

test("a grade has a word", () => assert.deepEqual([1, 0, null].map((value) => gradeWords(gradeOf("r", "q", value, "x", {}))), ["right", "wrong", "noted"]));

test("grades are written as lines", () => assert.equal(asScores([gradeOf("r", "q", 1, "", {})]), '{"run":"r","question":"q","measure":"PersonGrade","value":1,"grader":"person"}\n'));

test("a grade holds what it is about, and isn't one of another answer or other gold", () => {
  const hashes = { answer_hash: "a", gold_hash: "g" };
  const grade = gradeOf("r", "q", 1, "", hashes);
  assert.deepEqual([grade?.answer_hash, grade?.gold_hash], ["a", "g"]);
  assert.deepEqual([hashes, { answer_hash: "b", gold_hash: "g" }, { answer_hash: "a", gold_hash: "h" }, { answer_hash: "a" }].map((one) => isOf(grade, one)), [true, false, false, true]);
  assert.equal(isOf(gradeOf("r", "q", 1, "", {}), hashes), true); // an earlier page kept no hash
});
