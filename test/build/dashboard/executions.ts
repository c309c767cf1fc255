import type { Insertable } from 'kysely';
import { saveContent } from '../../../db/contents/contents.ts';
import type { ExecutionStepsTable } from '../../../db/schema/executions.ts';
import { NO_TEXT } from '../../../rules/content/email-text.ts';
import type { ExecutionStatus, VisitStatus } from '../../../rules/executions/execution.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk, type StepSpec } from '../workflows.ts';
import type { SeededContact } from './contacts.ts';
import { outcomeColumns, wellOutcomeOf } from './outcomes.ts';
import { HOUR_MS, hoursAgo, idAt, type World } from './world.ts';

/**
 * Builds the automations of a seeded project: one enabled with executions in every state, one enabled and new, and a
 * draft with problems.
 */
export interface SeededWorkflows {
  welcome: BuiltWorkflow;
  fresh: string;
  draft: string;
  /** Executions of `welcome` by their status. */
  executions: Record<ExecutionStatus, string>;
}

/** A path through `welcome`: the names of steps, with the result of each. */
type Way = readonly (readonly [step: string, status: VisitStatus, output?: Record<string, unknown>, error?: string])[];

const VIP = { logic: 'AND', groups: [{ filters: [{ field: 'data.vip', operator: 'equals', value: true }] }] };

/** Builds automations through the API and their executions by SQL. The `contacts` take each path in turn. */
export async function buildWorkflows(
  world: World,
  p: { contacts: readonly SeededContact[]; templateIds: readonly string[] },
): Promise<SeededWorkflows> {
  const { call, voice } = world;
  const welcome = await buildWelcome(world, p.templateIds);
  const name = namer(world);
  for (const [n, step] of Object.entries(welcome.steps).entries())
    if (voice.say('x', 1, 9) !== 'x')
      await expectOk(
        call('PATCH', `/workflows/${welcome.id}/steps/${step[1]}`, { body: { name: voice.say(step[0], n, 200) } }),
      );
  const fresh = await buildWorkflow(world, {
    eventName: voice.event('purchase', 1),
    steps: { Pause: { type: 'DELAY', config: { amount: 2, unit: 'days' } } },
  });
  await name(fresh.id, 'After a purchase', 1);
  const draft = await buildWorkflow(world, {
    enabled: false,
    triggerType: 'MANUAL',
    steps: { Mail: { type: 'SEND_EMAIL' }, Branch: { type: 'CONDITION', config: VIP } },
  });
  await name(draft.id, 'Win back', 2);
  return { welcome, fresh: fresh.id, draft: draft.id, executions: await walk(world, welcome, p.contacts) };
}

/** Builds one enabled automation whose executions wait or are completed. */
export async function buildHealthyWorkflow(
  world: World,
  p: { contacts: readonly SeededContact[]; templateIds: readonly string[] },
): Promise<void> {
  const welcome = await buildWelcome(world, p.templateIds);
  await walk(world, welcome, p.contacts, ['COMPLETED', 'WAITING', 'EXITED', 'COMPLETED', 'WAITING']);
}

async function buildWelcome(world: World, templateIds: readonly string[]): Promise<BuiltWorkflow> {
  const eventName = world.voice.event('signup', 0);
  const welcome = await buildWorkflow(world, { eventName, steps: stepsOf(templateIds) });
  await namer(world)(welcome.id, 'Welcome series', 0);
  return welcome;
}

/** Returns a function that names and describes a workflow. */
function namer({ call, voice }: World) {
  return (id: string, words: string, n: number) =>
    expectOk(
      call('PATCH', `/workflows/${id}`, {
        body: { name: voice.say(words, n, 200), description: voice.say('For new contacts', n, 2_000) },
      }),
    );
}

function stepsOf(templateIds: readonly string[]): Record<string, StepSpec> {
  const email = (n: number) => ({ templateId: templateIds[n] });
  return {
    'Say hello': { type: 'SEND_EMAIL', config: email(0), to: 'First purchase?' },
    'First purchase?': {
      type: 'WAIT_FOR_EVENT',
      config: { eventName: 'purchase', timeout: 259_200 },
      to: { event: 'A good customer?', timeout: 'Which reminder?' },
    },
    'A good customer?': { type: 'CONDITION', config: VIP, to: { yes: 'Mark as customer', no: 'Done' } },
    'Mark as customer': { type: 'UPDATE_CONTACT', config: { updates: { stage: 'customer' } }, to: 'Tell the shop' },
    'Tell the shop': { type: 'WEBHOOK', config: { url: 'https://shop.example.com/hooks/customers' }, to: 'Done' },
    'Which reminder?': {
      type: 'SPLIT',
      config: {
        branches: [
          { name: 'offer', weight: 2 },
          { name: 'story', weight: 1 },
        ],
      },
      to: { offer: 'The offer', story: 'A day more' },
    },
    'The offer': { type: 'SEND_EMAIL', config: email(2), to: 'A day more' },
    'A day more': { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'Done' },
    Done: { type: 'EXIT', config: { reason: 'end of the series' } },
  };
}

const HELLO = ['Say hello', 'COMPLETED', { status: 'SENT' }] as const;
const BOUGHT = ['First purchase?', 'COMPLETED', { branch: 'event', eventName: 'purchase' }] as const;
const TIMED_OUT = ['First purchase?', 'COMPLETED', { branch: 'timeout' }] as const;
const WAYS: Record<ExecutionStatus, readonly Way[]> = {
  COMPLETED: [
    [HELLO, BOUGHT, ['A good customer?', 'COMPLETED', { branch: 'no' }], ['Done', 'COMPLETED']],
    [
      HELLO,
      TIMED_OUT,
      ['Which reminder?', 'COMPLETED', { branch: 'offer' }],
      ['The offer', 'COMPLETED', { status: 'SENT' }],
      ['A day more', 'COMPLETED'],
      ['Done', 'COMPLETED'],
    ],
    [
      HELLO,
      BOUGHT,
      ['A good customer?', 'COMPLETED', { branch: 'yes' }],
      ['Mark as customer', 'COMPLETED'],
      ['Tell the shop', 'COMPLETED', { status: 200 }],
      ['Done', 'COMPLETED'],
    ],
  ],
  WAITING: [
    [HELLO, ['First purchase?', 'WAITING']],
    [HELLO, TIMED_OUT, ['Which reminder?', 'COMPLETED', { branch: 'story' }], ['A day more', 'WAITING']],
  ],
  RUNNING: [
    [
      HELLO,
      BOUGHT,
      ['A good customer?', 'COMPLETED', { branch: 'yes' }],
      ['Mark as customer', 'COMPLETED'],
      ['Tell the shop', 'RUNNING', undefined, 'The endpoint answered 503.'],
    ],
  ],
  FAILED: [
    [
      HELLO,
      BOUGHT,
      ['A good customer?', 'COMPLETED', { branch: 'yes' }],
      ['Mark as customer', 'FAILED', undefined, 'data.stage is longer than 10,000 characters.'],
    ],
  ],
  EXITED: [[HELLO, ['First purchase?', 'CANCELLED']]],
  CANCELLED: [
    [
      ['Say hello', 'SKIPPED', { reason: 'unsubscribed' }],
      ['First purchase?', 'CANCELLED'],
    ],
  ],
};
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
  p: { rows: { id: string; contact_id: string }[]; visits: Insertable<ExecutionStepsTable>[] },
): Promise<void> {
  const contactOf = new Map(p.rows.map(({ id, contact_id }) => [id, contact_id]));
  const sent = p.visits.filter(({ type, status }) => type === 'SEND_EMAIL' && status === 'COMPLETED');
  const contentId = await saveContent(db, {
    ...NO_TEXT,
    projectId,
    subject: 'Welcome to the shop',
    body: '<p>Welcome.</p>',
    from: 'news@shop.example.com',
    fromName: 'The Tea Shop',
    type: 'TRANSACTIONAL',
    templateId: null,
  });
  const emails = sent.map(({ execution_id, visit, started_at }, n) => {
    const at = new Date(started_at as Date);
    return {
      ...outcomeColumns(wellOutcomeOf(n), at, n),
      id: idAt(at),
      project_id: projectId,
      contact_id: contactOf.get(execution_id) ?? null,
      to_email: `contact-${n}@example.com`,
      created_at: at,
      content_id: contentId,
      source_type: 'WORKFLOW' as const,
      execution_id,
      visit,
    };
  });
  if (emails.length > 0) await db.insertInto('emails').values(emails).execute();
}

async function walk(
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
    const way = WAYS[status][n % WAYS[status].length] ?? [];
    const startedAt = hoursAgo(n * 2 + way.length);
    const id = idAt(startedAt);
    found[status] ??= id;
    const steps = way.map(([name, visitStatus, output, error], at) => {
      const stepId = workflow.steps[name] ?? '';
      const begunAt = new Date(startedAt.getTime() + at * HOUR_MS);
      const isOpen = visitStatus === 'WAITING' || visitStatus === 'RUNNING';
      return {
        execution_id: id,
        visit: at + 1,
        project_id: projectId,
        step_id: stepId,
        type: typeOf.get(stepId) ?? 'EXIT',
        status: visitStatus,
        attempts: error ? 3 : 1,
        started_at: begunAt,
        error: error ? voice.say(error, n, 1_000) : null,
        completed_at: isOpen ? null : new Date(begunAt.getTime() + HOUR_MS / 2),
        due_at: visitStatus === 'WAITING' ? hoursAgo(-(n % 48) - 1) : null,
        output: output ? JSON.stringify(output) : null,
      };
    });
    visits.push(...steps);
    const isOpen = status === 'WAITING' || status === 'RUNNING';
    const end = {
      FAILED: { error: voice.say('data.stage is longer than 10,000 characters.', n, 1_000) },
      EXITED: { exit_reason: 'exited_on_event' },
      CANCELLED: { exit_reason: 'cancelled' },
      COMPLETED: { exit_reason: 'end of the series' },
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
      event_name: voice.event('signup', 0),
      event: JSON.stringify({ source: voice.say('landing page', n, 5_000) }),
      started_at: startedAt,
      completed_at: isOpen ? null : new Date(startedAt.getTime() + way.length * HOUR_MS),
    };
  });
  await db.insertInto('executions').values(rows).execute();
  await db.insertInto('execution_steps').values(visits).execute();
  await buildStepEmails(world, { rows, visits });
  return found as SeededWorkflows['executions'];
}
