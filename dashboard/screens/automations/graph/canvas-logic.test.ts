import { describe, expect, it } from 'vitest';
import { MIN_ZOOM } from '../canvas/fit.ts';
import { summarizeStep } from '../step-types.tsx';
import { AUTOMATION_EXAMPLES } from './automation-examples.ts';
import { groupFaultsByStep } from './faults.ts';
import { addStep, type Graph, listBranches, listTransitions, type Step } from './graph.ts';
import { BRANCH_ROW, computeLayout, moveLaterSteps, NODE, placeSteps, withLayout } from './layout.ts';
import { findPath } from './path.ts';
import { computeFlows } from './shares.ts';

const welcome = AUTOMATION_EXAMPLES.find(({ id }) => id === 'welcome')?.graph as Graph;
const overlaps = (positions: Map<string, { x: number; y: number }>) => {
  const all = [...positions.values()];
  return all.some((one, i) =>
    all.some((other, j) => i < j && Math.abs(one.x - other.x) < NODE.width && Math.abs(one.y - other.y) < NODE.height),
  );
};

/**
 * Returns a graph of a SPLIT with these branches, each with `length` steps. If `joins`, all branches lead to one last
 * step.
 */
function splitInto(names: string[], { length = 1, joins = false } = {}): { graph: Graph; ids: string[] } {
  const anyStep = welcome.steps[1] as Step;
  const config = { branches: names.map((name) => ({ name, weight: 1 })) };
  const split: Step = { ...anyStep, id: 'split', type: 'SPLIT', config, position: null };
  const ids = names.map((name) => `to-${name}`);
  const chains = ids.map((id) => [id, ...Array.from({ length: length - 1 }, (_, n) => `${id}-${n}`)]);
  const other = (id: string): Step => ({ ...anyStep, id, position: null });
  const transitions = names.map((branch) => ({ from: 'split', to: `to-${branch}`, branch }));
  const later = chains.flatMap((chain) => {
    const whole = joins ? [...chain, 'join'] : chain;
    return whole.slice(1).map((to, n) => ({ from: whole[n] ?? '', to, branch: null }));
  });
  const steps = [split, ...chains.flat().map(other), ...(joins ? [other('join')] : [])];
  return { graph: { entry: 'split', steps, transitions: [...transitions, ...later] }, ids };
}

describe('the example automations', () => {
  it.each(AUTOMATION_EXAMPLES.map(({ id, graph }) => [id, graph] as const))(
    '%s: every branch leads to a step, and a transition leads to every step but the entry',
    (_, graph) => {
      const reached = new Set([graph.entry, ...graph.transitions.map(({ to }) => to)]);
      for (const step of graph.steps) {
        expect(reached.has(step.id), step.id).toBe(true);
        const transitions = listTransitions(graph, step);
        expect(
          transitions.every(({ to }) => to !== null),
          step.id,
        ).toBe(true);
        expect(transitions.map(({ branch }) => branch).sort()).toEqual([...listBranches(step)].sort());
      }
      const ids = new Set(graph.steps.map(({ id }) => id));
      expect(graph.transitions.every(({ from, to }) => ids.has(from) && ids.has(to))).toBe(true);
    },
  );
});

describe('the layout', () => {
  it('lets no two steps overlap, and places each below the steps before it', () => {
    for (const { graph } of AUTOMATION_EXAMPLES) {
      const positions = computeLayout(graph);
      expect(overlaps(positions)).toBe(false);
      for (const { from, to } of graph.transitions)
        expect(positions.get(to)?.y ?? 0).toBeGreaterThan(positions.get(from)?.y ?? 0);
    }
  });

  it('takes less than 5 seconds for 500 steps with a cycle', () => {
    const steps = Array.from({ length: 500 }, (_, n): Step => ({ ...(welcome.steps[1] as Step), id: `s${n}` }));
    const transitions = steps.slice(1).map(({ id }, n) => ({ from: `s${n}`, to: id, branch: null }));
    const graph = { entry: 's0', steps, transitions: [...transitions, { from: 's499', to: 's0', branch: null }] };
    const began = process.cpuUsage();
    expect(computeLayout(graph).size).toBe(500);
    // Measures CPU time, which does not depend on other work on the machine.
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5_000);
  });

  it('places the branches of a split from left to right, in their order', () => {
    const { graph, ids } = splitInto(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    const positions = computeLayout(graph);
    const left = ids.map((id) => positions.get(id)?.x ?? 0);
    expect(left).toEqual([...left].sort((one, other) => one - other));
    expect(overlaps(positions)).toBe(false);
  });

  it.each([
    [1, 'end there'],
    [1, 'join'],
    [3, 'join'],
  ])('with eight branches of %i steps that %s fits in a laptop’s window', (length, end) => {
    const { graph } = splitInto(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], { length, joins: end === 'join' });
    const positions = computeLayout(graph);
    const across = [...positions.values()].map(({ x }) => x);
    const width = Math.max(...across) + NODE.width - Math.min(...across);
    expect(width * MIN_ZOOM).toBeLessThan(1280 - 48);
    expect(overlaps(positions)).toBe(false);
    for (const { from, to } of graph.transitions)
      expect(positions.get(to)?.y ?? 0).toBeGreaterThan(positions.get(from)?.y ?? 0);
  });

  it('leaves room for the names of many branches to one step, and of many branches to none', () => {
    const { graph } = splitInto(['a', 'b', 'c', 'd', 'e', 'f']);
    const below = (transitions: Graph['transitions']) => computeLayout({ ...graph, transitions }).get('to-a')?.y ?? 0;
    const apart = below(graph.transitions);
    const together = below(graph.transitions.map((transition) => ({ ...transition, to: 'to-a' })));
    expect(together - apart).toBe(6 * BRANCH_ROW);
    expect(below(graph.transitions.slice(0, 1)) - apart).toBe(5 * BRANCH_ROW);
  });

  it('keeps steps that a user has placed, and places new steps without overlap', () => {
    const placed = withLayout(welcome);
    expect(placeSteps(placed)).toEqual(computeLayout(welcome));
    const fresh: Step = { ...(welcome.steps[0] as Step), id: 'fresh', position: null };
    const graph = {
      ...placed,
      steps: [...placed.steps, fresh],
      transitions: [...placed.transitions, { from: 'days', to: 'fresh', branch: null }],
    };
    const positions = placeSteps(graph);
    expect(positions.get('hello')).toEqual(placed.steps[0]?.position);
    expect(overlaps(positions)).toBe(false);
  });
});

describe('a step that is added between others', () => {
  it('is placed where the next step was, and all later steps move down', () => {
    const placed = withLayout(welcome);
    const fresh: Step = { ...(welcome.steps[1] as Step), id: 'fresh', position: null };
    const graph = moveLaterSteps(addStep(placed, fresh, { after: 'hello', branch: null }), 'fresh');
    const y = (of: Graph, id: string) => of.steps.find((step) => step.id === id)?.position?.y ?? 0;
    expect(graph.steps.find(({ id }) => id === 'fresh')?.position).toEqual(
      placed.steps.find(({ id }) => id === 'days')?.position,
    );
    expect(y(graph, 'hello')).toBe(y(placed, 'hello'));
    for (const id of ['days', 'read', 'done']) expect(y(graph, id)).toBeGreaterThan(y(placed, id));
    expect(overlaps(placeSteps(graph))).toBe(false);
  });
});

describe("the API's errors about a graph", () => {
  it('are shown at their step, whatever form they have', () => {
    const { steps, rest } = groupFaultsByStep(
      [
        { field: 'steps.hello', message: 'has no template' },
        { field: 'steps.days.config.amount', message: 'too small' },
        { field: 'steps.2.name', message: 'too long' },
        { field: 'transitions.2.branch', message: 'no such branch' },
        { field: 'entryStepId', message: 'no entry' },
        { field: 'eventName', message: 'none is named' },
      ],
      welcome,
    );
    expect(steps.get('hello')).toEqual([{ field: undefined, message: 'Choose a template.' }]);
    expect(steps.get('days')).toEqual([{ field: 'amount', message: 'too small' }]);
    expect(steps.get('read')).toEqual([
      { field: 'name', message: 'too long' },
      { field: 'yes', message: 'no such branch' },
    ]);
    expect(rest).toEqual(['no entry', 'eventName: none is named']);
  });
});

describe('the number of contacts on each transition', () => {
  it('is counted by branch, and without a branch includes completed and skipped visits', () => {
    const none = {
      waiting: 0,
      running: 0,
      completed: 0,
      failed: 0,
      skipped: 0,
      branches: {},
      emails: null,
      type: 'DELAY' as const,
      name: '',
    };
    const flows = computeFlows(welcome, [
      { ...none, stepId: 'hello', completed: 6, skipped: 2 },
      { ...none, stepId: 'read', completed: 4, branches: { yes: 1, no: 3 } },
    ]);
    expect(flows.get('hello ')).toEqual({ n: 8, share: 1 });
    expect(flows.get('read yes')).toEqual({ n: 1, share: 0.25 });
    expect(flows.get('read no')).toEqual({ n: 3, share: 0.75 });
    expect(flows.get('days ')).toEqual({ n: 0, share: null });
  });
});

describe('the path of a contact', () => {
  it('highlights the visited steps and transitions', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const visit = (stepId: string, branch: string | null = null) => ({
      stepId,
      branch,
      status: 'COMPLETED',
      startedAt: at,
      completedAt: at,
    });
    const highlighted = findPath(welcome, [
      visit('hello'),
      visit('days'),
      visit('read', 'no'),
      visit('again'),
      visit('done'),
    ]);
    expect([...highlighted.transitions].sort()).toEqual(['again ', 'days ', 'hello ', 'read no']);
    expect([...highlighted.steps.keys()]).toEqual(['hello', 'days', 'read', 'again', 'done']);
  });
});

const SEGMENT = '0190a000-0000-7000-8000-000000000001';
const PRO = { field: 'event.plan', operator: 'equals', value: 'pro' };

describe('the summary of a step', () => {
  it.each([
    ['DELAY', { amount: 1, unit: 'days' }, '1 day'],
    ['DELAY', { until: '09:00', days: [1, 2] }, 'until 09:00, Mon Tue'],
    ['WAIT_FOR_EVENT', { eventName: 'paid', timeout: 7_200 }, 'paid, up to 2 hours'],
    [
      'CONDITION',
      { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] },
      'plan is pro',
    ],
    [
      'CONDITION',
      {
        logic: 'OR',
        groups: [{ filters: [{ field: `segment.${SEGMENT}`, operator: 'memberOf' }] }, { filters: [PRO] }],
      },
      'is in a segment or event.plan is pro',
    ],
    ['CONDITION', { logic: 'OR', groups: [{ filters: [PRO, PRO] }, { filters: [PRO] }] }, 'Several filter groups'],
    ['WAIT_FOR_EVENT', { eventName: 'paid', filters: [PRO] }, 'paid where plan is pro'],
    [
      'SPLIT',
      {
        branches: [
          { name: 'a', weight: 1 },
          { name: 'b', weight: 3 },
        ],
      },
      'a 25% · b 75%',
    ],
    ['WEBHOOK', { url: 'https://x.test/in', method: 'POST' }, 'x.test/in'],
    ['WEBHOOK', { url: 'https://x.test/in', method: 'PUT' }, 'PUT x.test/in'],
    ['UPDATE_CONTACT', { updates: { plan: 'x' }, subscribed: false }, 'plan: x, unsubscribes'],
    ['SEND_EMAIL', {}, 'No template chosen'],
  ] as const)('%s %j', (type, config, line) => {
    expect(summarizeStep({ type, config })).toBe(line);
  });
});
