import { expect, it } from 'vitest';
import { unreachable } from '../../dashboard/api/failure.ts';
import { faultsByStep } from '../../dashboard/screens/automations/graph/faults.ts';
import type { Graph, Step } from '../../dashboard/screens/automations/graph/graph.ts';
import { errors, errorTextOf } from '../../dashboard/text/errors.ts';
import { ERRORS } from '../../rules/errors.ts';
import { checkGraph } from '../../rules/executions/workflow-graph.ts';

it('has a text of its own for every error code of the API and for a service that does not respond', () => {
  expect(Object.keys(errors).sort()).toEqual([...Object.keys(ERRORS), unreachable().code].sort());
});

it('never tells a user of the dashboard to call the API', () => {
  for (const [code, { title, help }] of Object.entries(errors)) {
    expect(`${title} ${help}`, code).not.toMatch(/\b(GET|POST|PATCH|DELETE) \/|_|details\.|header|JSON/);
  }
});

it('shows the message of an error that the catalogue does not have', () => {
  expect(errorTextOf('HTTP_502')).toMatchObject({ title: 'Something went wrong', isSpecific: true });
});

it('says what an automation lacks in plain words, once each, at the field that lacks a value', () => {
  const blank = (id: string, type: Step['type']): Step => ({ id, type, name: id, config: {}, position: null });
  const graph: Graph = {
    entry: 'wait',
    steps: [blank('wait', 'DELAY'), blank('ask', 'CONDITION'), blank('call', 'WEBHOOK'), blank('end', 'SEND_EMAIL')],
    transitions: [],
  };
  const errors = checkGraph({
    triggerType: 'EVENT',
    eventName: null,
    entryStepId: 'wait',
    steps: graph.steps.map((one) => ({ ...one, template: null, senderReady: false })),
    transitions: [],
  } as unknown as Parameters<typeof checkGraph>[0]);
  const { steps, rest } = faultsByStep(errors, graph);
  const messages = (id: string) => steps.get(id)?.map(({ message }) => message);
  expect(rest).toEqual(['Choose the event that starts this automation.']);
  expect(steps.get('wait')).toEqual([
    { field: 'amount', message: 'Set the duration.' },
    { field: 'unit', message: 'Set the unit.' },
  ]);
  expect(messages('ask')).toEqual([
    'Set the condition.',
    'Choose the next step of branch yes.',
    'Choose the next step of branch no.',
    'Connect another step to this one.',
  ]);
  expect(messages('call')).toEqual(['Set the URL.', 'Connect another step to this one.']);
  expect(messages('end')).toEqual(['Choose a template.', 'Connect another step to this one.']);
});
