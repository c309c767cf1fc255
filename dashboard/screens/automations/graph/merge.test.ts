import { expect, it } from 'vitest';
import type { Graph, Step } from './graph.ts';
import { findStepDifferences, mergeGraphs } from './merge.ts';

const step = (id: string, name = id, position: Step['position'] = null): Step => ({
  id,
  type: 'DELAY',
  name,
  config: { amount: 1, unit: 'days' },
  position,
});
const transition = (from: string, to: string) => ({ from, to, branch: null });
const base: Graph = {
  entry: 'a',
  steps: [step('a'), step('b'), step('c')],
  transitions: [transition('a', 'b'), transition('b', 'c')],
};

it('changes of different steps are merged without a question', () => {
  const mine = { ...base, steps: [step('a', 'mine', { x: 1, y: 2 }), step('b'), step('c')] };
  const theirs: Graph = {
    ...base,
    steps: [step('a'), step('b', 'theirs'), step('c'), step('d')],
    transitions: [...base.transitions, transition('c', 'd')],
  };
  const differences = findStepDifferences({ base, mine, theirs });
  expect(differences.map(({ id }) => id)).toEqual(['b', 'c', 'd']);
  expect(differences.some((one) => 'mine' in one)).toBe(false);
  expect(mergeGraphs({ base, mine, theirs }, {})).toEqual({
    entry: 'a',
    steps: [step('a', 'mine', { x: 1, y: 2 }), step('b', 'theirs'), step('c'), step('d')],
    transitions: [transition('a', 'b'), transition('b', 'c'), transition('c', 'd')],
  });
});

it('a user chooses between two changes of a step, also if one removed it', () => {
  const mine: Graph = { ...base, steps: [step('a'), step('b', 'mine'), step('c')] };
  const theirs: Graph = { entry: 'a', steps: [step('a'), step('c')], transitions: [transition('a', 'c')] };
  const differences = findStepDifferences({ base, mine, theirs });
  expect(differences).toMatchObject([{ id: 'a' }, { id: 'b', mine: { step: { name: 'mine' } }, theirs: null }]);
  expect(mergeGraphs({ base, mine, theirs }, { b: 'theirs' })).toEqual(theirs);
  expect(mergeGraphs({ base, mine, theirs }, { b: 'mine' }).steps.map(({ name }) => name)).toEqual(['a', 'mine', 'c']);
});

it('equal changes of both users do not conflict, and no transition leads to a removed step', () => {
  const both: Graph = { ...base, steps: [step('a', 'both'), step('b'), step('c')] };
  expect(findStepDifferences({ base, mine: both, theirs: both })).toEqual([]);
  const mine: Graph = { ...base, steps: [step('a'), step('b')], transitions: [transition('a', 'b')] };
  const theirs: Graph = { ...base, steps: [step('a', 'theirs'), step('b'), step('c')] };
  expect(mergeGraphs({ base, mine, theirs }, {})).toEqual({
    entry: 'a',
    steps: [step('a', 'theirs'), step('b')],
    transitions: [transition('a', 'b')],
  });
});
