import { expect, it } from 'vitest';
import { createUnreachableFailure } from '../../dashboard/api/failure.ts';
import { groupFaultsByStep } from '../../dashboard/screens/automations/graph/faults.ts';
import type { Graph, Step } from '../../dashboard/screens/automations/graph/graph.ts';
import { errors, getErrorText } from '../../dashboard/text/errors.ts';
import { ERRORS } from '../../rules/errors.ts';
import { checkGraph } from '../../rules/executions/workflow-graph.ts';

it('the dashboard has a text for every error code of the API and for a service that does not respond', () => {
  expect(Object.keys(errors).sort()).toEqual([...Object.keys(ERRORS), createUnreachableFailure().code].sort());
});

it('error messages never tell a user of the dashboard to call the API', () => {
  for (const [code, { title, help }] of Object.entries(errors)) {
    expect(`${title} ${help}`, code).not.toMatch(/\b(GET|POST|PATCH|DELETE) \/|_|details\.|header|JSON/);
  }
});

it('the dashboard shows the API’s message for an error code that it does not know', () => {
  expect(getErrorText('HTTP_502')).toMatchObject({ title: 'Something went wrong', isSpecific: true });
});

/** Returns the errors of a graph in the words of the editor. */
function findFaults(
  graph: Graph,
  { eventName = 'go', templateId = null }: Partial<Record<string, string | null>> = {},
) {
  const steps = graph.steps.map((step) => ({ ...step, templateId, senderReady: false }));
  const transitions = graph.transitions.map(({ from, to, branch }) => ({ fromStepId: from, toStepId: to, branch }));
  return groupFaultsByStep(
    checkGraph({ triggerType: 'EVENT', eventName, entryStepId: graph.entry, steps, transitions }),
    graph,
  );
}

it('the dashboard describes each error of a whole automation in plain words', () => {
  const createStep = (id: string, type: Step['type'], config = {}): Step => ({
    id,
    type,
    name: id,
    config,
    position: null,
  });
  expect(findFaults({ entry: null, steps: [], transitions: [] }).rest).toEqual(['Add a step.']);
  const unconnectedSteps = [createStep('text', 'SEND_SMS')];
  const unconnected = findFaults({ entry: null, steps: unconnectedSteps, transitions: [] });
  expect(unconnected.rest).toEqual(['Connect the trigger to a step.']);
  expect(unconnected.steps.get('text')).toEqual([{ field: undefined, message: 'Write the text.' }]);
  const looping: Graph = {
    entry: 'mail',
    steps: [createStep('mail', 'SEND_EMAIL'), createStep('rest', 'DELAY', { amount: 5, unit: 'seconds' })],
    transitions: [
      { from: 'mail', to: 'rest', branch: null },
      { from: 'rest', to: 'mail', branch: null },
    ],
  };
  const { steps } = findFaults(looping, { templateId: '01a226e6-7617-716c-be44-8ed4b1020ed9' });
  expect(steps.get('mail')?.map(({ message }) => message)).toEqual([
    'Choose a sender on a verified domain.',
    'This loop waits 5 s. It must wait at least 60 s.',
  ]);
});

it('the dashboard lists what an automation lacks in plain words, once each, at the field that needs a value', () => {
  const createBlankStep = (id: string, type: Step['type']): Step => ({
    id,
    type,
    name: id,
    config: {},
    position: null,
  });
  const graph: Graph = {
    entry: 'wait',
    steps: [
      createBlankStep('wait', 'DELAY'),
      createBlankStep('ask', 'CONDITION'),
      createBlankStep('call', 'WEBHOOK'),
      createBlankStep('end', 'SEND_EMAIL'),
    ],
    transitions: [],
  };
  const { steps, rest } = findFaults(graph, { eventName: null });
  const listMessages = (id: string) => steps.get(id)?.map(({ message }) => message);
  expect(rest).toEqual(['Choose the event that starts this automation.']);
  expect(steps.get('wait')).toEqual([
    { field: 'amount', message: 'Set the duration.' },
    { field: 'unit', message: 'Set the unit.' },
  ]);
  expect(listMessages('ask')).toEqual([
    'Set the condition.',
    'Choose the next step of branch yes.',
    'Choose the next step of branch no.',
    'Connect another step to this one.',
  ]);
  expect(listMessages('call')).toEqual(['Set the URL.', 'Connect another step to this one.']);
  expect(listMessages('end')).toEqual(['Choose a template.', 'Connect another step to this one.']);
});
