import { z } from '@hono/zod-openapi';
import type { InstallationHold } from '../../../db/installation/sending-hold.ts';
import type { PeriodicWorkState } from '../../../db/operator/periodic-work.ts';
import type { ServiceProcess } from '../../../db/operator/processes.ts';
import type { Tenant as TenantState } from '../../../db/operator/tenants.ts';
import { PERIODIC_KINDS, type PeriodicKind } from '../../../rules/periodic-work.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';
import { emailFigures } from '../analytics/response.ts';

const Count = z.number().int();
const AT = '2026-01-01T12:00:00.000Z';

const TENANT = {
  id: EXAMPLE_ID,
  name: 'Web shop',
  owners: ['ada@example.com'],
  createdAt: AT,
  disabled: false,
  ownHold: { held: false, since: null, reason: null },
  operatorHold: { held: true, since: AT, reason: 'Complaints from a bought list; call us' },
  limits: { sendRatePerSecond: 20, monthlyEmailLimit: 50_000, bounceGuard: 0.1, complaintGuard: 0.003 },
  operatorLimits: {
    sendRatePerSecond: 20,
    monthlyEmailLimit: 50_000,
    bounceGuard: null,
    complaintGuard: null,
  },
  mails: 12_000,
  dead: 90,
  complaints: 14,
  month: { sent: 310_000, bounced: 2_900, complained: 120 },
};

const TenantHold = z
  .object({ held: z.boolean(), since: Instant.nullable(), reason: z.string().nullable() })
  .openapi('TenantHold');

export const Tenant = z
  .object({
    id: Id,
    name: z.string(),
    owners: z.array(z.string()).openapi({ description: 'Email addresses of the first owners of the project' }),
    createdAt: Instant,
    disabled: z.boolean(),
    ownHold: TenantHold.openapi({ description: 'Hold that a member or a guard of the project has set' }),
    operatorHold: TenantHold,
    limits: z
      .object({
        sendRatePerSecond: Count.nullable(),
        monthlyEmailLimit: Count.nullable(),
        bounceGuard: z.number(),
        complaintGuard: z.number(),
      })
      .openapi({
        description:
          'The lower of the limits that the project and the operator have set. `SEND_RATE_PER_SECOND` of the installation is not included.',
      }),
    operatorLimits: z.object({
      sendRatePerSecond: Count.nullable(),
      monthlyEmailLimit: Count.nullable(),
      bounceGuard: z.number().nullable(),
      complaintGuard: z.number().nullable(),
    }),
    mails: Count.openapi({
      description:
        'Number of live emails in the last 24 hours, or since the last release of a hold if it was later. The guards use this number.',
    }),
    dead: Count.openapi({ description: 'Hard bounces among these emails' }),
    complaints: Count,
    month: z.object({ sent: Count, bounced: Count, complained: Count }).openapi({
      description:
        'Outcomes of live emails in the last 30 days, including emails from before a hold was released. The last one or two hours are not included, because hours are counted after they have ended.',
    }),
  })
  .openapi('Tenant', {
    example: TENANT,
  });

export const TenantDetail = Tenant.extend({
  hours: z
    .array(z.object({ hour: Instant, mails: Count, dead: Count, complaints: Count }))
    .openapi({ description: 'The hours of the last 48 hours in which the project sent email' }),
  days: z
    .array(z.object({ date: z.iso.date(), ...emailFigures }))
    .openapi({ description: 'The last 30 days (UTC) until now. Days without email have zero counts.' }),
  refusals: z
    .array(z.object({ provider: z.string(), refused: Count, of: Count }))
    .openapi({ description: 'Mailbox providers that recently refused emails of the project because of the sender' }),
  actions: z
    .array(
      z.object({
        id: Id,
        action: z.string(),
        actor: z.string(),
        actorName: z.string().nullable().openapi({
          description:
            'Email address of the user or operator, or name of the key. Null if the service itself acted, or if the user or key was deleted.',
        }),
        details: z.record(z.string(), z.unknown()),
        createdAt: Instant,
      }),
    )
    .openapi({ description: 'Changes of holds and limits, newest first' }),
}).openapi('TenantDetail', {
  example: {
    ...TENANT,
    hours: [{ hour: AT, mails: 800, dead: 6, complaints: 1 }],
    days: [
      { date: '2026-01-01', sent: 9_800, delivered: 9_700, opened: 3_100, clicked: 400, bounced: 90, complained: 3 },
    ],
    refusals: [{ provider: 'google', refused: 12, of: 100 }],
    actions: [
      {
        id: EXAMPLE_ID,
        action: 'project.held',
        actor: 'operator:ops@example.com',
        actorName: 'ops@example.com',
        details: { reason: 'Complaints from a bought list; call us' },
        createdAt: AT,
      },
    ],
  },
});

export const ProviderResponses = z
  .object({
    provider: z.string().openapi({ description: '`EMAIL_PROVIDER` of the API' }),
    looked: Count.openapi({ description: 'Number of live emails that were counted: at most the newest 200,000' }),
    since: Instant.nullable().openapi({ description: 'When the oldest of these emails was accepted' }),
    answers: z.array(
      z.object({
        code: z.string(),
        mails: Count,
        projects: Count,
        failed: Count,
        bounced: Count,
        waiting: Count.openapi({ description: 'Number of emails that will be retried' }),
        newestAt: Instant,
        example: z.string().openapi({ description: 'The latest reply in full' }),
        domains: z.array(z.object({ domain: z.string(), mails: Count })),
      }),
    ),
    snsTopics: z
      .array(
        z.object({
          topic: z.string(),
          state: z.enum(['waiting', 'confirmed', 'delivering', 'refused']),
          since: Instant.nullable().openapi({ description: 'When the latest message arrived' }),
        }),
      )
      .openapi({
        description:
          'The topics in `SNS_TOPIC_ARNS`. `refused`: the subscription uses raw message delivery, so its messages cannot be verified.',
      }),
  })
  .openapi('ProviderAnswers', {
    example: {
      provider: 'smtp',
      looked: 120_000,
      since: AT,
      answers: [
        {
          code: '550 5.1.1',
          mails: 90,
          projects: 3,
          failed: 60,
          bounced: 30,
          waiting: 0,
          newestAt: AT,
          example: '550 5.1.1 No such user here',
          domains: [{ domain: 'example.com', mails: 61 }],
        },
      ],
      snsTopics: [{ topic: 'arn:aws:sns:eu-west-1:123456789012:ses-feedback', state: 'delivering', since: AT }],
    },
  });

const Process = z.object({
  id: Id,
  kind: z.enum(['api', 'worker']),
  host: z.string(),
  pid: Count,
  version: z.string(),
  build: z
    .string()
    .openapi({ description: 'Hash of the compiled code. Processes with the same code have the same value.' }),
  startedAt: Instant,
  seenAt: Instant,
  alive: z.boolean().openapi({ description: 'Whether the process was seen within the last 35 seconds' }),
});

const PeriodicWork = z.object({
  kind: z.enum(PERIODIC_KINDS as [PeriodicKind, ...PeriodicKind[]]),
  everyMinutes: Count,
  running: z.boolean().openapi({
    description: 'True if a round is running. If an operator terminates a round, true until the next round is due',
  }),
  lastStartedAt: Instant.nullable(),
  lastEndedAt: Instant.nullable(),
  lastDurationSeconds: z.number().nullable(),
  backlog: Count.openapi({
    description:
      'Number of segments, domains or hours of statistics that have been due for two periods. For recovery and pruning, the number of parts that the last round did not finish.',
  }),
  failing: z.array(z.string()).openapi({ description: 'Projects, pages or tables that failed in the last round' }),
  lastError: z.string().nullable(),
  lastErrorAt: Instant.nullable(),
  late: z.boolean().openapi({ description: 'True if no round has ended for three periods' }),
});

export const SendingHold = z
  .object({
    reason: z.enum(['new', 'recovery']).openapi({
      description:
        '`new`: the installation is a clone and waits until its operator resumes sending. `recovery`: the database was restored, and sending resumes when recovery has ended.',
    }),
    since: Instant,
  })
  .openapi('SendingHold', { example: { reason: 'new', since: AT } });

export const Sending = z
  .object({ sendingHold: SendingHold.nullable() })
  .openapi('Sending', { example: { sendingHold: null } });

export const OperatorHealth = z
  .object({
    version: z.string().nullable().openapi({ description: 'Version of the API process that responds' }),
    installation: z.object({
      shortId: z
        .string()
        .openapi({ description: 'Short id of the installation, which is part of each name in Temporal' }),
      sendingHold: SendingHold.nullable().openapi({
        description: 'Why the installation sends nothing. Null if it sends.',
      }),
    }),
    postgres: z.object({
      pingMs: z.number(),
      version: z.string(),
      connections: Count,
      maxConnections: Count,
      databaseBytes: Count,
      longestTransactionSeconds: z.number(),
    }),
    temporal: z.object({
      reached: z.boolean(),
      pingMs: z.number().nullable(),
      queues: z
        .array(
          z.object({
            queue: z.string(),
            backlog: Count,
            backlogSeconds: z.number(),
            addedPerSecond: z.number(),
            dispatchedPerSecond: z.number(),
            pollers: Count,
          }),
        )
        .openapi({ description: 'Approximate counts by Temporal. Empty if Temporal is unreachable.' }),
    }),
    outbox: z
      .array(
        z.object({
          kind: z.string(),
          waiting: Count,
          handedOver: Count,
          oldestSeconds: z.number(),
          projects: Count,
          failing: Count,
          lastError: z.string().nullable(),
        }),
      )
      .openapi({ description: 'Accepted work that has not started, by kind. Empty if nothing waits.' }),
    periodicWork: z.array(PeriodicWork).openapi({ description: 'State of each kind of periodic work' }),
    processes: z.array(Process).openapi({
      description: 'Processes that ran within the last day. Processes that stopped normally are not listed.',
    }),
  })
  .openapi('OperatorHealth', {
    example: {
      version: '0.1.0',
      installation: { shortId: '3f2a9c1d', sendingHold: null },
      postgres: {
        pingMs: 0.4,
        version: '18.0',
        connections: 42,
        maxConnections: 300,
        databaseBytes: 734_003_200,
        longestTransactionSeconds: 0.1,
      },
      temporal: {
        reached: true,
        pingMs: 1.2,
        queues: [
          {
            queue: 'steps',
            backlog: 0,
            backlogSeconds: 0,
            addedPerSecond: 12.5,
            dispatchedPerSecond: 12.5,
            pollers: 2,
          },
        ],
      },
      outbox: [
        {
          kind: 'execution.start',
          waiting: 120,
          handedOver: 12,
          oldestSeconds: 4.2,
          projects: 1,
          failing: 0,
          lastError: null,
        },
      ],
      periodicWork: [
        {
          kind: 'segments',
          everyMinutes: 5,
          running: false,
          lastStartedAt: AT,
          lastEndedAt: AT,
          lastDurationSeconds: 12.5,
          backlog: 0,
          failing: [],
          lastError: null,
          lastErrorAt: null,
          late: false,
        },
      ],
      processes: [
        {
          id: EXAMPLE_ID,
          kind: 'worker',
          host: 'worker-1',
          pid: 7,
          version: '0.1.0',
          build: '0f2c9a1b7d3e4f50',
          startedAt: AT,
          seenAt: AT,
          alive: true,
        },
      ],
    },
  });

const formatInstantOrNull = (at: Date | null): string | null => at?.toISOString() ?? null;

export function toTenantResponse(tenant: TenantState): z.infer<typeof Tenant> {
  const { createdAt, ownHold, operatorHold, ...rest } = tenant;
  return {
    ...rest,
    createdAt: createdAt.toISOString(),
    ownHold: { ...ownHold, since: formatInstantOrNull(ownHold.since) },
    operatorHold: { ...operatorHold, since: formatInstantOrNull(operatorHold.since) },
  };
}

export function toPeriodicWorkResponse(work: PeriodicWorkState): z.infer<typeof PeriodicWork> {
  const { kind, everyMinutes, isRunning, startedAt, endedAt, durationMs, backlog, failing } = work;
  return {
    kind,
    everyMinutes,
    running: isRunning,
    lastStartedAt: formatInstantOrNull(startedAt),
    lastEndedAt: formatInstantOrNull(endedAt),
    lastDurationSeconds: durationMs === null ? null : durationMs / 1000,
    backlog,
    failing,
    lastError: work.lastError,
    lastErrorAt: formatInstantOrNull(work.lastErrorAt),
    late: work.isLate,
  };
}

/** Converts the hold of the installation to its response. */
export function toSendingHoldResponse(hold: InstallationHold | null): z.infer<typeof SendingHold> | null {
  return hold && { reason: hold.reason, since: hold.since.toISOString() };
}

export function toProcessResponse({ startedAt, seenAt, ...process }: ServiceProcess): z.infer<typeof Process> {
  return { ...process, startedAt: startedAt.toISOString(), seenAt: seenAt.toISOString() };
}
