import { describe, expect, it } from 'vitest';
import type { StepType } from './steps/registry.ts';
import { checkGraph, type WorkflowGraph } from './workflow-graph.ts';

/** Valid configs for the step types of these tests. Other types get an empty config. */
const CONFIGS: Partial<Record<StepType, Record<string, unknown>>> = {
  DELAY: { amount: 1, unit: 'days' },
  WAIT_FOR_EVENT: { eventName: 'ordered' },
  CONDITION: { field: 'data.plan', operator: 'equals', value: 'pro' },
  WEBHOOK: { url: 'https://crm.example.com' },
};
const createStep = (id: string, type: StepType, more: Partial<WorkflowGraph['steps'][number]> = {}) => ({
  id,
  type,
  name: id,
  templateId: type === 'SEND_EMAIL' ? 'template' : null,
  config: CONFIGS[type] ?? {},
  senderReady: true,
  ...more,
});
const createEdge = (fromStepId: string, toStepId: string, branch: string | null = null) => ({
  fromStepId,
  toStepId,
  branch,
});
const createGraph = (more: Partial<WorkflowGraph>): WorkflowGraph => ({
  triggerType: 'EVENT',
  eventName: 'signup',
  entryStepId: 'a',
  steps: [],
  transitions: [],
  ...more,
});
const listMessages = (g: WorkflowGraph) => checkGraph(g).map((f) => `${f.field}: ${f.message}`);

describe('checkGraph', () => {
  it('finds no errors in a valid workflow, including loops with a pause', () => {
    const sound = createGraph({
      steps: [
        createStep('a', 'SEND_EMAIL'),
        createStep('b', 'DELAY'),
        createStep('c', 'CONDITION'),
        createStep('d', 'EXIT'),
      ],
      transitions: [
        createEdge('a', 'b'),
        createEdge('b', 'c'),
        createEdge('c', 'a', 'yes'),
        createEdge('c', 'd', 'no'),
      ],
    });
    expect(listMessages(sound)).toEqual([]);
  });

  it('reports all errors at once', () => {
    const faulty = createGraph({
      eventName: null,
      entryStepId: null,
      steps: [
        createStep('a', 'SEND_EMAIL', { templateId: null }),
        createStep('b', 'CONDITION'),
        createStep('c', 'WEBHOOK', { config: { url: 'ftp://crm.example.com' } }),
      ],
    });
    expect(listMessages(faulty)).toEqual([
      'eventName: the workflow is started by an event, but none is named',
      'entryStepId: the workflow has no entry step: patch entryStepId',
      'steps.a: SEND_EMAIL “a” has no template',
      'steps.b: CONDITION “b” has no “yes” branch',
      'steps.b: CONDITION “b” has no “no” branch',
      'steps.c: WEBHOOK “c” is not configured: url: a URL begins with http:// or https://, written literally',
    ]);
  });

  it('refuses unreachable steps and loops that never wait', () => {
    const loop = createGraph({
      steps: [createStep('a', 'UPDATE_CONTACT'), createStep('b', 'WEBHOOK'), createStep('lost', 'EXIT')],
      transitions: [createEdge('a', 'b'), createEdge('b', 'a')],
    });
    expect(listMessages(loop)).toEqual([
      'steps.lost: EXIT “lost” cannot be reached from the entry',
      'steps.a: UPDATE_CONTACT “a” is in a loop that repeats after 0 s; a loop must wait at least 60 s',
    ]);
  });

  const checkLoopThrough = (config: Record<string, unknown>) =>
    createGraph({
      steps: [createStep('a', 'SEND_EMAIL'), createStep('b', 'DELAY', { config })],
      transitions: [createEdge('a', 'b'), createEdge('b', 'a')],
    });

  it.each([
    ['a moment', { amount: 0.000001, unit: 'seconds' }],
    ['59 seconds', { amount: 59, unit: 'seconds' }],
    ['until an instant that is in the past in the second round', { until: '2090-01-01T00:00:00Z' }],
    ['until an instant in the past', { until: '2020-01-01T00:00:00Z' }],
  ])('refuses a loop that waits %s', (_, config) => {
    expect(listMessages(checkLoopThrough(config))).toEqual([
      expect.stringContaining('steps.a: SEND_EMAIL “a” is in a loop that'),
    ]);
  });

  it.each([
    ['60 seconds', { amount: 60, unit: 'seconds' }],
    ['until an instant from a variable', { until: '{{data.renewsAt}}' }],
  ])('accepts a loop that waits %s', (_, config) => {
    expect(listMessages(checkLoopThrough(config))).toEqual([]);
  });

  it('adds the waits of a cycle along the path with the shortest wait', () => {
    const half = { config: { amount: 30, unit: 'seconds' } };
    const sound = createGraph({
      steps: [
        createStep('a', 'DELAY', half),
        createStep('b', 'CONDITION'),
        createStep('c', 'DELAY', half),
        createStep('d', 'WAIT_FOR_EVENT'),
      ],
      transitions: [
        createEdge('a', 'b'),
        createEdge('b', 'c', 'yes'),
        createEdge('b', 'd', 'no'),
        createEdge('c', 'a'),
        createEdge('d', 'a'),
      ],
    });
    expect(listMessages(sound)).toEqual([]);
    const short = {
      ...sound,
      transitions: [...sound.transitions.slice(0, 2), createEdge('b', 'a', 'no'), createEdge('c', 'd')],
    };
    expect(listMessages(short)).toEqual([
      'steps.a: DELAY “a” is in a loop that repeats after 30 s; a loop must wait at least 60 s',
    ]);
  });
});
