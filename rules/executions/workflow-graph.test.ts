import { describe, expect, it } from 'vitest';
import type { StepType } from './steps/registry.ts';
import { checkGraph, type WorkflowGraph } from './workflow-graph.ts';

/** Valid configs for the step types that need a config. */
const CONFIGS: Partial<Record<StepType, Record<string, unknown>>> = {
  DELAY: { amount: 1, unit: 'days' },
  WAIT_FOR_EVENT: { eventName: 'ordered' },
  CONDITION: { field: 'data.plan', operator: 'equals', value: 'pro' },
  WEBHOOK: { url: 'https://crm.example.com' },
};
const step = (id: string, type: StepType, more: Partial<WorkflowGraph['steps'][number]> = {}) => ({
  id,
  type,
  name: id,
  templateId: type === 'SEND_EMAIL' ? 'template' : null,
  config: CONFIGS[type] ?? {},
  senderReady: true,
  ...more,
});
const edge = (fromStepId: string, toStepId: string, branch: string | null = null) => ({ fromStepId, toStepId, branch });
const graph = (more: Partial<WorkflowGraph>): WorkflowGraph => ({
  triggerType: 'EVENT',
  eventName: 'signup',
  entryStepId: 'a',
  steps: [],
  transitions: [],
  ...more,
});
const messages = (g: WorkflowGraph) => checkGraph(g).map((f) => `${f.field}: ${f.message}`);

describe('checkGraph', () => {
  it('finds no errors in a valid workflow, including loops with a pause', () => {
    const sound = graph({
      steps: [step('a', 'SEND_EMAIL'), step('b', 'DELAY'), step('c', 'CONDITION'), step('d', 'EXIT')],
      transitions: [edge('a', 'b'), edge('b', 'c'), edge('c', 'a', 'yes'), edge('c', 'd', 'no')],
    });
    expect(messages(sound)).toEqual([]);
  });

  it('reports all errors at once', () => {
    const faulty = graph({
      eventName: null,
      entryStepId: null,
      steps: [
        step('a', 'SEND_EMAIL', { templateId: null }),
        step('b', 'CONDITION'),
        step('c', 'WEBHOOK', { config: { url: 'ftp://crm.example.com' } }),
      ],
    });
    expect(messages(faulty)).toEqual([
      'eventName: the workflow is started by an event, but none is named',
      'entryStepId: the workflow has no entry step: patch entryStepId',
      'steps.a: SEND_EMAIL “a” has no template',
      'steps.b: CONDITION “b” has no “yes” branch',
      'steps.b: CONDITION “b” has no “no” branch',
      'steps.c: WEBHOOK “c” is not configured: url: a URL begins with http:// or https://, written literally',
    ]);
  });

  it('refuses unreachable steps and loops that never wait', () => {
    const loop = graph({
      steps: [step('a', 'UPDATE_CONTACT'), step('b', 'WEBHOOK'), step('lost', 'EXIT')],
      transitions: [edge('a', 'b'), edge('b', 'a')],
    });
    expect(messages(loop)).toEqual([
      'steps.lost: EXIT “lost” cannot be reached from the entry',
      'steps.a: UPDATE_CONTACT “a” is in a loop that waits 0 s a lap; one takes at least 60 s',
    ]);
  });

  const lapping = (config: Record<string, unknown>) =>
    graph({
      steps: [step('a', 'SEND_EMAIL'), step('b', 'DELAY', { config })],
      transitions: [edge('a', 'b'), edge('b', 'a')],
    });

  it.each([
    ['a moment', { amount: 0.000001, unit: 'seconds' }],
    ['59 seconds', { amount: 59, unit: 'seconds' }],
    ['until an instant that is over by the second lap', { until: '2090-01-01T00:00:00Z' }],
    ['until one that has gone by', { until: '2020-01-01T00:00:00Z' }],
  ])('refuses a loop that waits %s', (_, config) => {
    expect(messages(lapping(config))).toEqual([expect.stringContaining('steps.a: SEND_EMAIL “a” is in a loop that')]);
  });

  it.each([
    ['60 seconds', { amount: 60, unit: 'seconds' }],
    ['until what a variable says', { until: '{{data.renewsAt}}' }],
  ])('accepts a loop that waits %s', (_, config) => {
    expect(messages(lapping(config))).toEqual([]);
  });

  it('adds the waits of a cycle along the path with the shortest wait', () => {
    const half = { config: { amount: 30, unit: 'seconds' } };
    const sound = graph({
      steps: [step('a', 'DELAY', half), step('b', 'CONDITION'), step('c', 'DELAY', half), step('d', 'WAIT_FOR_EVENT')],
      transitions: [edge('a', 'b'), edge('b', 'c', 'yes'), edge('b', 'd', 'no'), edge('c', 'a'), edge('d', 'a')],
    });
    expect(messages(sound)).toEqual([]);
    const short = { ...sound, transitions: [...sound.transitions.slice(0, 2), edge('b', 'a', 'no'), edge('c', 'd')] };
    expect(messages(short)).toEqual(['steps.a: DELAY “a” is in a loop that waits 30 s a lap; one takes at least 60 s']);
  });
});
