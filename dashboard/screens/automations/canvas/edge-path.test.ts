import { expect, it } from 'vitest';
import { NODE } from '../graph/layout.ts';
import { createTransitionPath, findLane } from './edge-path.ts';

const at = (x: number, y: number) => ({ x, y });
const MIDDLE = NODE.width / 2;

it('draws a branch down in the column of its target', () => {
  expect(findLane(at(0, 0), at(300, 120), [at(0, 0), at(300, 120)])).toBe(300 + MIDDLE);
});

it('draws a transition without a branch down in the column of its source', () => {
  expect(findLane(at(0, 0), at(300, 120), [at(0, 0), at(300, 120)], 0)).toBe(MIDDLE);
});

it('draws a transition around the steps between its ends', () => {
  const between = at(0, 120);
  const lane = findLane(at(0, 0), at(0, 240), [at(0, 0), between, at(0, 240)]) ?? 0;
  expect(lane < between.x || lane > between.x + NODE.width).toBe(true);
});

it('has no lane for a transition that leads up', () => {
  expect(findLane(at(0, 240), at(0, 0), [])).toBeUndefined();
});

it('is a straight line within a column, and turns twice between columns', () => {
  const path = (lane: number, x: number) => createTransitionPath({ from: at(0, 0), to: at(x, 100), lane, turn: 20 });
  expect(path(0, 0).match(/Q/g)).toBeNull();
  expect(path(200, 200).match(/Q/g)).toHaveLength(2);
});
