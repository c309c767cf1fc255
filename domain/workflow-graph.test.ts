import { describe, expect, it } from 'vitest';
import type { StepType } from './execution.ts';
import { checkGraph, type WorkflowGraph } from './workflow-graph.ts';

const step = (id: string, type: StepType, more: Partial<WorkflowGraph['steps'][number]> = {}) => ({
  id,
  type,
  name: id,
  templateId: type === 'SEND_EMAIL' ? 'template' : null,
  configFaults: [],
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
  it('finds nothing in a sound workflow, loops with a pause included', () => {
    const sound = graph({
      steps: [step('a', 'SEND_EMAIL'), step('b', 'DELAY'), step('c', 'CONDITION'), step('d', 'EXIT')],
      transitions: [edge('a', 'b'), edge('b', 'c'), edge('c', 'a', 'yes'), edge('c', 'd', 'no')],
    });
    expect(messages(sound)).toEqual([]);
  });

  it('tells every fault at once', () => {
    const faulty = graph({
      eventName: null,
      entryStepId: null,
      steps: [
        step('a', 'SEND_EMAIL', { templateId: null }),
        step('b', 'CONDITION'),
        step('c', 'WEBHOOK', { configFaults: ['url is required'] }),
      ],
    });
    expect(messages(faulty)).toEqual([
      'eventName: the workflow is started by an event, but none is named',
      'entryStepId: the workflow has no entry step: patch entryStepId',
      'steps.a: SEND_EMAIL “a” has no template',
      'steps.b: CONDITION “b” has no “yes” branch',
      'steps.b: CONDITION “b” has no “no” branch',
      'steps.c: WEBHOOK “c” is not configured: url is required',
    ]);
  });

  it('refuses steps that the entry does not lead to, and loops that never pause', () => {
    const loop = graph({
      steps: [step('a', 'UPDATE_CONTACT'), step('b', 'WEBHOOK'), step('lost', 'EXIT')],
      transitions: [edge('a', 'b'), edge('b', 'a')],
    });
    expect(messages(loop)).toEqual([
      'steps.lost: EXIT “lost” cannot be reached from the entry',
      'steps.a: UPDATE_CONTACT “a” is in a loop that has no DELAY or WAIT_FOR_EVENT in it',
    ]);
  });
});
