import assert from "node:assert/strict";
import test from "node:test";
import { content } from "./support.mjs";

test("a file that is injected twice changes nothing", () => {
  const parts = content(["words", "parts", "words"]);
  assert.deepEqual(Object.keys(parts), ["words"]);
  assert.ok(Object.isFrozen(parts.words));
});

test("an outcome is kept until it is acknowledged, and the oldest goes beyond the limit", async () => {
  const { outcomes, limits } = content(["limits", "outcomes"]);
  let runs = 0;
  const run = async (keep) => {
    runs += 1;
    keep(`{"run":${runs}}`);
    return runs;
  };
  assert.equal(await outcomes.once("a", run), 1);
  assert.equal(await outcomes.once("a", run), 1);
  assert.deepEqual({ ...outcomes.about("a") }, { known: true, json: '{"run":1}' });
  outcomes.acknowledge(["a"]);
  assert.deepEqual({ ...outcomes.about("a") }, { known: false, json: null });
  for (let n = 0; n <= limits.calls; n += 1) {
    await outcomes.once(`b${n}`, run);
  }
  assert.equal(outcomes.about("b0").known, false);
  assert.equal(outcomes.about("b1").known, true);
});

test("in a hidden page the background is asked to wake a sleeper, and its word is enough", async () => {
  const asked = [];
  const { pause } = content(["pause"], { document: { hidden: true }, setTimeout: () => 0 });
  pause.connectWaker((number, ms) => asked.push([number, ms]));
  const slept = pause.pause(30);
  assert.deepEqual(asked, [[1, 30]]);
  pause.woke(1);
  await slept;
});
