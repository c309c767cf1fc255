import { describe, expect, it } from 'vitest';
import {
  addStep,
  changeStep,
  connect,
  EMPTY,
  type Graph,
  isSameGraph,
  listTransitions,
  orderSteps,
  removeStep,
  restoreStep,
  type Step,
  type StepType,
  toGraph,
  toSavedGraph,
  withIds,
} from './graph.ts';
import { mapHistory, recordChange, redo, startHistory, undo } from './history.ts';

const step = (id: string, type: StepType = 'DELAY', config = {}): Step => ({
  id,
  type,
  name: id,
  config,
  position: null,
});

/** a → ask → (yes) b → end, (no) end */
const drawn: Graph = {
  entry: 'a',
  steps: [step('a'), step('ask', 'CONDITION'), step('b'), step('end', 'EXIT')],
  transitions: [
    { from: 'a', to: 'ask', branch: null },
    { from: 'ask', to: 'b', branch: 'yes' },
    { from: 'ask', to: 'end', branch: 'no' },
    { from: 'b', to: 'end', branch: null },
  ],
};
const formatTransitions = (graph: Graph) =>
  graph.transitions.map(({ from, to, branch }) => `${from}-${branch ?? ''}>${to}`).sort();

describe('adding a step', () => {
  it('to an empty canvas makes it the entry', () => {
    expect(addStep(EMPTY, step('x'), null)).toMatchObject({ entry: 'x', transitions: [] });
  });

  it('before all others has a transition to the entry', () => {
    const graph = addStep(drawn, step('x'), null);
    expect(graph.entry).toBe('x');
    expect(formatTransitions(graph)).toContain('x->a');
  });

  it('on a transition is inserted, in its branch', () => {
    const graph = addStep(drawn, step('x'), { after: 'ask', branch: 'yes' });
    expect(formatTransitions(graph)).toEqual(
      [...formatTransitions(drawn).filter((transition) => transition !== 'ask-yes>b'), 'ask-yes>x', 'x->b'].sort(),
    );
  });

  it('with branches gets the next step in its first branch, and an EXIT gets none', () => {
    expect(formatTransitions(addStep(drawn, step('x', 'CONDITION'), { after: 'a', branch: null }))).toContain(
      'x-yes>ask',
    );
    const ended = addStep(drawn, step('x', 'EXIT'), { after: 'b', branch: null });
    expect(formatTransitions(ended)).toContain('b->x');
    expect(ended.transitions.some(({ from }) => from === 'x')).toBe(false);
  });
});

describe('removing a step', () => {
  it('joins the steps before and after it by the branch that led to the removed step', () => {
    const graph = removeStep(drawn, 'b');
    expect(formatTransitions(graph)).toEqual(['a->ask', 'ask-no>end', 'ask-yes>end']);
    expect(graph.steps.map(({ id }) => id)).toEqual(['a', 'ask', 'end']);
  });

  it('with branches leaves the step before it without a transition', () => {
    const graph = removeStep(drawn, 'ask');
    expect(formatTransitions(graph)).toEqual(['b->end']);
  });

  it('that is the entry makes the next step the entry', () => {
    expect(removeStep(drawn, 'a').entry).toBe('ask');
    expect(removeStep({ ...drawn, entry: 'ask' }, 'ask').entry).toBeNull();
  });

  it('with a transition to itself removes this transition', () => {
    const cycle = connect(drawn, { from: 'b', to: 'b', branch: null });
    expect(formatTransitions(removeStep(cycle, 'b'))).toEqual(['a->ask', 'ask-no>end']);
  });
});

describe('restoring a removed step', () => {
  it('gives the earlier graph, for each step', () => {
    for (const { id } of drawn.steps)
      expect(isSameGraph(restoreStep(removeStep(drawn, id), drawn, id), drawn), id).toBe(true);
  });

  it('keeps later changes, and has no transition to a removed step', () => {
    const changed = addStep(removeStep(drawn, 'b'), step('x'), { after: 'a', branch: null });
    expect(formatTransitions(restoreStep(changed, drawn, 'b'))).toEqual([
      'a->x',
      'ask-no>end',
      'ask-yes>b',
      'b->end',
      'x->ask',
    ]);
    const withoutEnd = removeStep(removeStep(drawn, 'b'), 'end');
    expect(formatTransitions(restoreStep(withoutEnd, drawn, 'b'))).toEqual(['a->ask', 'ask-yes>b']);
  });
});

describe('transitions', () => {
  it('exist once per branch: a new target replaces the transition, and no target removes it', () => {
    expect(formatTransitions(connect(drawn, { from: 'a', to: 'end', branch: null }))).toContain('a->end');
    expect(formatTransitions(connect(drawn, { from: 'a', to: 'end', branch: null }))).not.toContain('a->ask');
    expect(formatTransitions(connect(drawn, { from: 'a', to: null, branch: null }))).not.toContain('a->ask');
  });

  it('from a SPLIT are removed with its branches, and stay with a renamed branch', () => {
    const config = (...names: string[]) => ({ branches: names.map((name) => ({ name, weight: 1 })) });
    const graph: Graph = {
      entry: 's',
      steps: [step('s', 'SPLIT', config('a', 'b')), step('x'), step('y')],
      transitions: [
        { from: 's', to: 'x', branch: 'a' },
        { from: 's', to: 'y', branch: 'b' },
      ],
    };
    expect(formatTransitions(changeStep(graph, 's', { config: config('a', 'c') }))).toEqual(['s-a>x', 's-c>y']);
    expect(formatTransitions(changeStep(graph, 's', { config: config('a') }))).toEqual(['s-a>x']);
  });

  it('are not missing for the branches of a wait that has a transition without a branch', () => {
    const wait: Graph = {
      entry: 'w',
      steps: [step('w', 'WAIT_FOR_EVENT'), step('x', 'EXIT')],
      transitions: [{ from: 'w', to: 'x', branch: null }],
    };
    expect(listTransitions(wait, step('w', 'WAIT_FOR_EVENT')).map(({ branch }) => branch)).toEqual([
      'event',
      'timeout',
      null,
    ]);
  });
});

/** Returns each step with its depth and the branch that starts with it. */
const linesOf = (graph: Graph) =>
  orderSteps(graph).map(({ step: { id }, depth, starts }) => `${id} ${depth} ${starts?.branch ?? ''}`.trim());

describe('the order of steps', () => {
  it('is the order in which a contact reaches them, one branch after the other, with unreachable steps last', () => {
    const graph = { ...drawn, steps: [step('lost'), ...drawn.steps] };
    expect(linesOf(graph)).toEqual(['a 0', 'ask 0', 'b 1 yes', 'end 0', 'lost 0']);
  });

  it('puts a step that several branches lead to after them, at the depth that they share', () => {
    const inner = step('split', 'SPLIT', { branches: ['x', 'y'].map((name) => ({ name, weight: 1 })) });
    const transitions = ['split-one-x', 'split-two-y', 'one-both', 'two-both', 'both-end'].map((transition) =>
      transition.split('-'),
    );
    const graph: Graph = {
      ...drawn,
      steps: [...drawn.steps, inner, step('one'), step('two'), step('both')],
      transitions: [
        ...drawn.transitions.filter(({ branch }) => branch !== 'no'),
        { from: 'ask', to: 'split', branch: 'no' },
        ...transitions.map(([from = '', to = '', branch]) => ({ from, to, branch: branch ?? null })),
      ],
    };
    expect(linesOf(graph)).toEqual(['a 0', 'ask 0', 'b 1 yes', 'split 1 no', 'one 2 x', 'two 2 y', 'both 1', 'end 0']);
  });

  it('contains each step of a cycle once', () => {
    const cycle = connect(drawn, { from: 'b', to: 'a', branch: null });
    expect(orderSteps(cycle)).toHaveLength(4);
  });
});

describe('saving', () => {
  it('finds no change in a graph with another order of keys, steps and transitions', () => {
    const config = { amount: 1, unit: 'days' };
    const one: Graph = { ...drawn, steps: [...drawn.steps, step('z', 'DELAY', config)] };
    const other: Graph = {
      ...drawn,
      steps: [step('z', 'DELAY', { unit: 'days', amount: 1 }), ...drawn.steps].reverse(),
      transitions: [...drawn.transitions].reverse(),
    };
    expect(isSameGraph(one, other)).toBe(true);
    expect(isSameGraph(one, drawn)).toBe(false);
  });

  it('inserts the ids of new steps wherever these are named, also in changes that can be undone', () => {
    const graph = addStep(drawn, step('new-1'), null);
    const saved = withIds(graph, { 'new-1': 'id-1' });
    expect(saved.entry).toBe('id-1');
    expect(formatTransitions(saved)).toContain('id-1->a');
    const history = mapHistory(recordChange(startHistory(drawn), graph), (value) =>
      withIds(value, { 'new-1': 'id-1' }),
    );
    expect(undo(history).present).toEqual(drawn);
    expect(toSavedGraph(saved, 'v').transitions).toContainEqual({ fromStepId: 'id-1', toStepId: 'a', branch: null });
  });

  it('reads the response of the API', () => {
    const response = {
      entryStepId: 'a',
      steps: [step('a')],
      transitions: [{ fromStepId: 'a', toStepId: 'a', branch: null }],
    };
    expect(toGraph(response as unknown as Parameters<typeof toGraph>[0])).toEqual({
      entry: 'a',
      steps: [step('a')],
      transitions: [{ from: 'a', to: 'a', branch: null }],
    });
  });
});

describe('undo', () => {
  it('reverts and repeats changes; a new change clears the undone ones', () => {
    let history = recordChange(recordChange(startHistory(1), 2), 3);
    history = undo(history);
    expect(history.present).toBe(2);
    expect(redo(history).present).toBe(3);
    history = recordChange(history, 4);
    expect(redo(history).present).toBe(4);
    expect(undo(undo(undo(history))).present).toBe(1);
  });

  it('reverts typing as one change, and earlier changes one by one', () => {
    let history = recordChange(startHistory('a'), 'b');
    for (const typed of ['c', 'cd', 'cde']) history = recordChange(history, typed, 'name of x');
    history = recordChange(history, 'f', 'name of y');
    history = undo(history);
    expect(history.present).toBe('cde');
    history = undo(history);
    expect(history.present).toBe('b');
  });

  it('keeps at most 200 changes', () => {
    let history = startHistory(0);
    for (let n = 1; n <= 500; n += 1) history = recordChange(history, n);
    expect(history.past.length).toBeLessThanOrEqual(200);
  });
});
