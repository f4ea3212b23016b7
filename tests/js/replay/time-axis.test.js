import assert from "node:assert/strict";
import { test } from "node:test";

import { Axis, CUT_TO, pausesOf } from "../../../static/js/replay/time-axis.js";
import { generator } from "../random.js";

test("pauses lie between changes, before the first and after the last", () => {
  assert.deepEqual(pausesOf([10, 12, 30], 50, 5), [{ from: 0, to: 10 }, { from: 12, to: 30 }, { from: 30, to: 50 }]);
  assert.deepEqual(pausesOf([5, 10], 15, 5), [], "as long as allowed is no pause");
  assert.deepEqual(pausesOf([], 100, 5), [{ from: 0, to: 100 }]);
  assert.deepEqual(pausesOf([], 0, 5), []);
  assert.deepEqual(pausesOf([20, 10, 24], 24, 5), [{ from: 0, to: 20 }], "a clock that was set back makes none");
});

test("without cut pauses time is shown as it was", () => {
  const axis = new Axis(60_000, []);
  assert.equal(axis.total, 60_000);
  for (const t of [0, 1, 59_999, 60_000]) assert.deepEqual([axis.shown(t), axis.real(t)], [t, t]);
});

test("a cut pause is shown for a second, and what follows comes earlier", () => {
  const axis = new Axis(100_000, [{ from: 10_000, to: 50_000 }]);
  assert.equal(axis.total, 60_000 + CUT_TO);
  assert.deepEqual([0, 10_000, 30_000, 50_000, 100_000].map((t) => axis.shown(t)), [0, 10_000, 10_500, 11_000, 61_000]);
  assert.deepEqual([0, 10_000, 10_500, 11_000, 61_000].map((at) => axis.real(at)), [0, 10_000, 30_000, 50_000, 100_000]);
  assert.equal(axis.real(70_000), 100_000, "nothing is later than the end");
});

test("a pause shorter than a second is not made longer", () => {
  assert.equal(new Axis(5_000, [{ from: 1_000, to: 1_400 }]).total, 5_000);
});

test("both directions are inverses, and neither goes back", () => {
  const draw = generator(11);
  for (let round = 0; round < 200; round += 1) {
    const times = Array.from({ length: draw(30) }, () => draw(200_000)).sort((a, b) => a - b);
    const end = (times.at(-1) ?? 0) + draw(20_000);
    const axis = new Axis(end, pausesOf(times, end, 5_000));
    let last = 0;
    for (let step = 0; step <= 40; step += 1) {
      const t = (step / 40) * end;
      const at = axis.shown(t);
      assert.ok(at >= last && at <= axis.total + 1e-6);
      assert.ok(Math.abs(axis.real(at) - t) < 1e-6);
      last = at;
    }
    assert.ok(Math.abs(axis.shown(end) - axis.total) < 1e-6);
  }
});
