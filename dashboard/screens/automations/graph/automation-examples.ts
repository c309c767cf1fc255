import { automations } from '../../../text/automations.ts';
import type { AnyStepConfig, Graph, Step, StepType, Transition } from './graph.ts';

export type AutomationExampleId = keyof typeof automations.examples;

export interface AutomationExample {
  id: AutomationExampleId;
  /** Suggested name of the event that starts it. */
  eventName: string;
  exitOn: { eventName: string }[];
  graph: Graph;
}

type NextSteps = string | Record<string, string>;
type ExampleStep = [id: string, type: StepType, name: string, config: AnyStepConfig, to?: NextSteps | undefined];

/** Email steps have no template yet. The canvas marks each of them, and the panel offers the project's templates. */
const email = (id: string, name: string, to: NextSteps): ExampleStep => [id, 'SEND_EMAIL', name, {}, to];
const delay = (id: string, amount: number, unit: string, to: NextSteps): ExampleStep => {
  const name = `${automations.summary.span(amount, unit)} later`;
  return [id, 'DELAY', name, { amount, unit }, to];
};
const waitForEvent = (
  id: string,
  name: string,
  config: { eventName: string; timeout: number },
  to: NextSteps,
): ExampleStep => {
  return [id, 'WAIT_FOR_EVENT', name, config, to];
};
const condition = (id: string, name: string, filter: AnyStepConfig, to: NextSteps): ExampleStep => [
  id,
  'CONDITION',
  name,
  createCondition(filter),
  to,
];
const end = (id: string, reason: string): ExampleStep => [id, 'EXIT', 'End', { reason }];

function createCondition(filter: AnyStepConfig): AnyStepConfig {
  return { logic: 'AND', groups: [{ filters: [filter] }] };
}

const within = (field: string, value: number, unit: string): AnyStepConfig => ({
  field,
  operator: 'triggeredWithin',
  value,
  unit,
});

function buildGraph(exampleSteps: ExampleStep[]): Graph {
  const steps: Step[] = exampleSteps.map(([id, type, name, config]) => ({ id, type, name, config, position: null }));
  const transitions = exampleSteps.flatMap(([from, , , , to]): Transition[] =>
    typeof to === 'string'
      ? [{ from, to, branch: null }]
      : Object.entries(to ?? {}).map(([branch, target]) => ({ from, to: target, branch })),
  );
  return { entry: exampleSteps[0]?.[0] ?? null, steps, transitions };
}

/** Graphs for new automations. Every branch leads to a step; only the templates of the email steps are missing. */
export const AUTOMATION_EXAMPLES: readonly AutomationExample[] = [
  { id: 'empty', eventName: '', exitOn: [], graph: buildGraph([]) },
  {
    id: 'welcome',
    eventName: 'contact.subscribed',
    exitOn: [],
    graph: buildGraph([
      email('hello', 'Hello', 'days'),
      delay('days', 2, 'days', 'read'),
      condition('read', 'Opened the first?', within('event.email.open', 3, 'days'), { yes: 'more', no: 'again' }),
      email('more', 'What you can do', 'done'),
      email('again', 'In case you missed it', 'done'),
      end('done', 'welcomed'),
    ]),
  },
  {
    id: 'cart',
    eventName: 'cart.updated',
    exitOn: [{ eventName: 'order.paid' }],
    graph: buildGraph([
      delay('hour', 1, 'hours', 'reminder'),
      email('reminder', 'You left something', 'order'),
      waitForEvent(
        'order',
        'Ordered?',
        { eventName: 'order.paid', timeout: 86_400 },
        { event: 'bought', timeout: 'last' },
      ),
      email('last', 'Still there for you', 'gone'),
      end('bought', 'bought'),
      end('gone', 'reminded twice'),
    ]),
  },
  {
    id: 'restock',
    eventName: 'shopify.back_in_stock',
    exitOn: [{ eventName: 'order.paid' }],
    graph: buildGraph([
      email('there', 'It is back', 'day'),
      delay('day', 1, 'days', 'bought'),
      condition('bought', 'Bought it?', within('event.order.paid', 1, 'days'), { yes: 'done', no: 'last' }),
      email('last', 'Before it is gone again', 'done'),
      end('done', 'told'),
    ]),
  },
  {
    id: 'winBack',
    eventName: 'segment.inactive.entry',
    exitOn: [{ eventName: 'order.paid' }],
    graph: buildGraph([
      email('miss', 'We miss you', 'week'),
      delay('week', 1, 'weeks', 'opened'),
      condition('opened', 'Opened it?', within('event.email.open', 1, 'weeks'), { yes: 'offer', no: 'last' }),
      email('offer', 'Something for you', 'back'),
      email('last', 'Shall we stop writing?', 'month'),
      delay('month', 2, 'weeks', 'still'),
      condition('still', 'Still quiet?', within('event.email.open', 2, 'weeks'), { yes: 'back', no: 'leave' }),
      ['leave', 'UPDATE_CONTACT', 'Stop writing', { updates: { winBack: 'quiet' }, subscribed: false }, 'gone'],
      end('back', 'came back'),
      end('gone', 'stayed quiet'),
    ]),
  },
  {
    id: 'onboarding',
    eventName: 'signup',
    exitOn: [{ eventName: 'account.closed' }],
    graph: buildGraph([
      email('first', 'First steps', 'setUp'),
      waitForEvent(
        'setUp',
        'Set up?',
        { eventName: 'project.created', timeout: 259_200 },
        { event: 'next', timeout: 'help' },
      ),
      email('help', 'Can we help?', 'later'),
      email('next', 'What to try next', 'later'),
      delay('later', 4, 'days', 'paying'),
      condition('paying', 'On a plan?', { field: 'data.plan', operator: 'exists' }, { yes: 'done', no: 'plans' }),
      email('plans', 'Plans', 'done'),
      end('done', 'onboarded'),
    ]),
  },
];
