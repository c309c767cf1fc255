import type { Insertable } from 'kysely';
import { saveContent } from '../../../db/contents/contents.ts';
import { recordTimerEnds } from '../../../db/executions/timer-seconds.ts';
import type { ExecutionStepsTable } from '../../../db/schema/executions.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { NO_TEXT } from '../../../rules/content/email-text.ts';
import type { ExecutionStatus, VisitStatus } from '../../../rules/executions/execution.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk, type StepSpec } from '../workflows.ts';
import type { SeededContact } from './contacts.ts';
import { createEmailHtml, SENDER } from './emails.ts';
import { pickHealthyOutcome, toOutcomeColumns } from './outcomes.ts';
import { createIdAt, getTimeHoursAgo, HOUR_MS, type World } from './world.ts';

/**
 * The automations of a seeded project: one enabled with executions in every state, one enabled and new, and a
 * draft with problems.
 */
export interface SeededWorkflows {
  welcome: BuiltWorkflow;
  fresh: string;
  draft: string;
  /** Executions of `welcome` by their status. */
  executions: Record<ExecutionStatus, string>;
}

/** A path through `welcome`: the names of its steps, and the result of each step. */
type Way = readonly (readonly [step: string, status: VisitStatus, output?: Record<string, unknown>, error?: string])[];

const VIP = { logic: 'AND', groups: [{ filters: [{ field: 'data.vip', operator: 'equals', value: true }] }] };

/** Builds automations through the API and their executions by SQL. The paths are assigned to the `contacts` in turn. */
export async function buildWorkflows(
  world: World,
  p: { contacts: readonly SeededContact[]; templateIds: readonly string[] },
): Promise<SeededWorkflows> {
  const { call, voice } = world;
  const welcome = await buildWelcomeWorkflow(world, p.templateIds);
  const name = createWorkflowNamer(world);
  for (const [n, step] of Object.entries(welcome.steps).entries())
    if (voice.say('x', 1, 9) !== 'x')
      await expectOk(
        call('PATCH', `/workflows/${welcome.id}/steps/${step[1]}`, { body: { name: voice.say(step[0], n, 200) } }),
      );
  const fresh = await buildWorkflow(world, {
    eventName: voice.event('purchase', 1),
    steps: { Pause: { type: 'DELAY', config: { amount: 2, unit: 'days' } } },
  });
  await name(fresh.id, 'After a purchase', 'Asks for a review', 1);
  const draft = await buildWorkflow(world, {
    enabled: false,
    triggerType: 'MANUAL',
    steps: { 'We miss you': { type: 'SEND_EMAIL' }, 'VIP?': { type: 'CONDITION', config: VIP } },
  });
  await name(draft.id, 'Win back', 'Invites inactive contacts to return', 2);
  return { welcome, fresh: fresh.id, draft: draft.id, executions: await buildExecutions(world, welcome, p.contacts) };
}

/** Builds one enabled automation whose executions wait or are completed. */
export async function buildHealthyWorkflow(
  world: World,
  p: { contacts: readonly SeededContact[]; templateIds: readonly string[] },
): Promise<void> {
  const welcome = await buildWelcomeWorkflow(world, p.templateIds);
  await buildExecutions(world, welcome, p.contacts, ['COMPLETED', 'WAITING', 'EXITED', 'COMPLETED', 'WAITING']);
}

async function buildWelcomeWorkflow(world: World, templateIds: readonly string[]): Promise<BuiltWorkflow> {
  const eventName = world.voice.event('signup', 0);
  const welcome = await buildWorkflow(world, { eventName, steps: createSteps(templateIds) });
  await createWorkflowNamer(world)(welcome.id, 'Welcome series', 'Greets new contacts until they order', 0);
  return welcome;
}

/** Returns a function that gives a workflow a name and a description. */
function createWorkflowNamer({ call, voice }: World) {
  return (id: string, words: string, what: string, n: number) =>
    expectOk(
      call('PATCH', `/workflows/${id}`, {
        body: { name: voice.say(words, n, 200), description: voice.say(what, n, 2_000) },
      }),
    );
}

function createSteps(templateIds: readonly string[]): Record<string, StepSpec> {
  const email = (n: number) => ({ templateId: templateIds[n] });
  return {
    'Welcome email': { type: 'SEND_EMAIL', config: email(0), to: 'First order?' },
    'First order?': {
      type: 'WAIT_FOR_EVENT',
      config: { eventName: 'purchase', timeout: 259_200 },
      to: { event: 'VIP customer?', timeout: 'Offer or story?' },
    },
    'VIP customer?': { type: 'CONDITION', config: VIP, to: { yes: 'Mark as VIP', no: 'Done' } },
    'Mark as VIP': { type: 'UPDATE_CONTACT', config: { updates: { stage: 'vip' } }, to: 'Notify the shop' },
    'Notify the shop': { type: 'WEBHOOK', config: { url: 'https://shop.example.com/hooks/customers' }, to: 'Done' },
    'Offer or story?': {
      type: 'SPLIT',
      config: {
        branches: [
          { name: 'Offer', weight: 2 },
          { name: 'Story', weight: 3 },
        ],
      },
      to: { Offer: '10% off', Story: 'Wait 1 day' },
    },
    '10% off': { type: 'SEND_EMAIL', config: email(2), to: 'Wait 1 day' },
    'Wait 1 day': { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'Done' },
    Done: { type: 'EXIT', config: { reason: 'End of the series' } },
  };
}

const HELLO = ['Welcome email', 'COMPLETED', { status: 'SENT' }] as const;
const BOUGHT = ['First order?', 'COMPLETED', { branch: 'event', eventName: 'purchase' }] as const;
const TIMED_OUT = ['First order?', 'COMPLETED', { branch: 'timeout' }] as const;
const WAYS: Record<ExecutionStatus, readonly Way[]> = {
  COMPLETED: [
    [HELLO, BOUGHT, ['VIP customer?', 'COMPLETED', { branch: 'no' }], ['Done', 'COMPLETED']],
    [
      HELLO,
      TIMED_OUT,
      ['Offer or story?', 'COMPLETED', { branch: 'Offer' }],
      ['10% off', 'COMPLETED', { status: 'SENT' }],
      ['Wait 1 day', 'COMPLETED'],
      ['Done', 'COMPLETED'],
    ],
    [
      HELLO,
      BOUGHT,
      ['VIP customer?', 'COMPLETED', { branch: 'yes' }],
      ['Mark as VIP', 'COMPLETED'],
      ['Notify the shop', 'COMPLETED', { status: 200 }],
      ['Done', 'COMPLETED'],
    ],
  ],
  WAITING: [
    [HELLO, ['First order?', 'WAITING']],
    [HELLO, TIMED_OUT, ['Offer or story?', 'COMPLETED', { branch: 'Story' }], ['Wait 1 day', 'WAITING']],
  ],
  RUNNING: [
    [
      HELLO,
      BOUGHT,
      ['VIP customer?', 'COMPLETED', { branch: 'yes' }],
      ['Mark as VIP', 'COMPLETED'],
      ['Notify the shop', 'RUNNING', undefined, 'HTTP 503'],
    ],
  ],
  FAILED: [
    [
      HELLO,
      BOUGHT,
      ['VIP customer?', 'COMPLETED', { branch: 'yes' }],
      ['Mark as VIP', 'FAILED', undefined, 'data.stage is longer than 10,000 characters.'],
    ],
  ],
  EXITED: [[HELLO, ['First order?', 'CANCELLED']]],
  CANCELLED: [
    [
      ['Welcome email', 'SKIPPED', { reason: 'unsubscribed' }],
      ['First order?', 'CANCELLED'],
    ],
  ],
};
/** How long a contact waits in a completed pause, in hours. Other steps take less than a second. */
const EVENT_HOURS = 5;
const TIMEOUT_HOURS = 72;
const DELAY_HOURS = 24;

/** Returns the hours of a pause: until its end if `isOpen`, else until the contact left. Zero for other steps. */
function getPauseHours(type: string, isOpen: boolean, output?: Record<string, unknown>): number {
  if (type === 'DELAY') return DELAY_HOURS;
  if (type !== 'WAIT_FOR_EVENT') return 0;
  return isOpen || output?.branch === 'timeout' ? TIMEOUT_HOURS : EVENT_HOURS;
}

/** Returns how many hours ago the last step of the nth execution ended, or started if the execution is in this step. */
function getLastStepHoursAgo(status: ExecutionStatus, n: number): number {
  if (status === 'RUNNING') return 0.1 + (n % 5) / 10;
  // The shortest pause has not ended yet.
  return status === 'WAITING' ? 0.5 + ((n * 7) % (DELAY_HOURS - 4)) : n * 2 + 1;
}
/** Frequency of each status. */
const MIX: readonly ExecutionStatus[] = [
  'COMPLETED',
  'WAITING',
  'RUNNING',
  'FAILED',
  'EXITED',
  'CANCELLED',
  'COMPLETED',
  'WAITING',
  'COMPLETED',
  'WAITING',
];

/** Builds the emails of completed email steps, which most contacts opened. */
async function buildStepEmails(
  { db, projectId }: World,
  p: { contacts: readonly SeededContact[]; rows: { id: string }[]; visits: Insertable<ExecutionStepsTable>[] },
): Promise<void> {
  const contactOf = new Map(p.rows.map(({ id }, n) => [id, p.contacts[n]]));
  const sent = p.visits.filter(({ type, status }) => type === 'SEND_EMAIL' && status === 'COMPLETED');
  const contentId = await saveContent(db, {
    ...NO_TEXT,
    projectId,
    subject: 'Welcome to the shop',
    body: createEmailHtml('Three teas to start with.', { headline: 'Put the kettle on' }),
    from: SENDER,
    fromName: 'The Tea Shop',
    type: 'TRANSACTIONAL',
    templateId: null,
  });
  const emails = sent.map(({ execution_id, visit, started_at }, n) => {
    const at = new Date(started_at as Date);
    return {
      ...toOutcomeColumns(pickHealthyOutcome(n), at, n),
      id: createIdAt(at),
      project_id: projectId,
      contact_id: contactOf.get(execution_id)?.id ?? null,
      to_email: contactOf.get(execution_id)?.email ?? null,
      created_at: at,
      content_id: contentId,
      source_type: 'WORKFLOW' as const,
      execution_id,
      visit,
    };
  });
  if (emails.length > 0) await db.insertInto('emails').values(emails).execute();
}

async function buildExecutions(
  world: World,
  workflow: BuiltWorkflow,
  contacts: readonly SeededContact[],
  mix: readonly ExecutionStatus[] = MIX,
): Promise<SeededWorkflows['executions']> {
  const { db, projectId, voice } = world;
  const types = await db
    .selectFrom('workflow_steps')
    .select(['id', 'type'])
    .where('workflow_id', '=', workflow.id)
    .execute();
  const typeOf = new Map(types.map(({ id, type }) => [id, type]));
  const visits: Insertable<ExecutionStepsTable>[] = [];
  const found: Partial<SeededWorkflows['executions']> = {};
  const rows = contacts.map((contact, n) => {
    const status = mix[n % mix.length] ?? 'COMPLETED';
    // The rounds shift the ways, so that a status at only odd numbers also has all of its ways.
    const way = WAYS[status][(n + Math.floor(n / mix.length)) % WAYS[status].length] ?? [];
    const pausedHours = way.reduce((sum, [name, visitStatus, output]) => {
      const isOpen = visitStatus === 'WAITING' || visitStatus === 'RUNNING';
      return sum + (isOpen ? 0 : getPauseHours(typeOf.get(workflow.steps[name] ?? '') ?? '', false, output));
    }, 0);
    const startedAt = getTimeHoursAgo(getLastStepHoursAgo(status, n) + pausedHours);
    const id = createIdAt(startedAt);
    found[status] ??= id;
    let endsAt = startedAt;
    const steps = way.map(([name, visitStatus, output, error], at) => {
      const stepId = workflow.steps[name] ?? '';
      const begunAt = endsAt;
      const isOpen = visitStatus === 'WAITING' || visitStatus === 'RUNNING';
      const type = typeOf.get(stepId) ?? 'EXIT';
      const pauseHours = getPauseHours(type, isOpen, output);
      const tookMs = pauseHours > 0 ? pauseHours * HOUR_MS : 40 + ((n * 37 + at * 211) % 600);
      endsAt = new Date(begunAt.getTime() + tookMs);
      return {
        execution_id: id,
        visit: at + 1,
        project_id: projectId,
        step_id: stepId,
        type,
        status: visitStatus,
        attempts: error ? 3 : 1,
        started_at: begunAt,
        error: error ? voice.say(error, n, 1_000) : null,
        completed_at: isOpen ? null : endsAt,
        due_at: visitStatus === 'WAITING' ? endsAt : null,
        output: output ? JSON.stringify(output) : null,
      };
    });
    visits.push(...steps);
    const isOpen = status === 'WAITING' || status === 'RUNNING';
    const end = {
      FAILED: { error: voice.say('data.stage is longer than 10,000 characters.', n, 1_000) },
      EXITED: { exit_reason: 'exited_on_event' },
      CANCELLED: { exit_reason: 'cancelled' },
      COMPLETED: { exit_reason: 'End of the series' },
    }[status as string];
    return {
      id,
      project_id: projectId,
      workflow_id: workflow.id,
      contact_id: contact.id,
      entry: 1,
      status,
      ...end,
      visit: way.length,
      current_step_id: isOpen || status === 'FAILED' ? (steps.at(-1)?.step_id ?? null) : null,
      event_id: createIdAt(new Date(startedAt.getTime() - 1)),
      event_name: voice.event('signup', 0),
      event: JSON.stringify({ source: voice.say('landing page', n, 5_000) }),
      started_at: startedAt,
      completed_at: isOpen ? null : endsAt,
    };
  });
  const signups = rows.map(({ contact_id, event_id, event_name, event, started_at }) => ({
    id: event_id,
    project_id: projectId,
    contact_id,
    name: event_name,
    data: event,
    created_at: started_at,
  }));
  await db.insertInto('events').values(signups).execute();
  await db.insertInto('executions').values(rows).execute();
  await db.insertInto('execution_steps').values(visits).execute();
  const ends = visits.flatMap(({ due_at }) => (due_at ? [new Date(due_at as Date)] : []));
  await inTransaction(db, (trx) => recordTimerEnds(trx, { projectId, ends }));
  await buildStepEmails(world, { contacts, rows, visits });
  return found as SeededWorkflows['executions'];
}
