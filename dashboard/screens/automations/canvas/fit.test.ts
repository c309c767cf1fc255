import { expect, it } from 'vitest';
import { NODE } from '../graph/layout.ts';
import { computeInitialView, MIN_ZOOM } from './fit.ts';

const SIZE = { width: 960, height: 748 };
const START = { x: 0, y: -100 };
const column = (length: number) => Array.from({ length }, (_, n) => ({ x: 0, y: n * 100 }));

it('shows a small automation at 100%, in the middle', () => {
  const { x, zoom } = computeInitialView(SIZE, START, column(3));
  expect(zoom).toBe(1);
  expect(x + NODE.width / 2).toBe(SIZE.width / 2);
});

it('shows a large automation at 75% from its start', () => {
  const { x, y, zoom } = computeInitialView(SIZE, START, column(40));
  expect(zoom).toBe(MIN_ZOOM);
  expect((START.x + NODE.width / 2) * zoom + x).toBe(SIZE.width / 2);
  expect(START.y * zoom + y).toBeGreaterThan(0);
});

it('shrinks an automation that fits between 75% and 100%', () => {
  const { zoom } = computeInitialView(SIZE, START, column(8));
  expect(zoom).toBeGreaterThan(MIN_ZOOM);
  expect(zoom).toBeLessThan(1);
});
