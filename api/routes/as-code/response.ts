import { z } from '@hono/zod-openapi';
import { CampaignItem, SegmentItem, TemplateItem, TopicItem, WorkflowItem } from './input.ts';

export const KINDS = ['settings', 'template', 'segment', 'topic', 'workflow', 'campaign'] as const;

const RefOf = z
  .object({
    kind: z.enum(KINDS),
    slug: z.string().nullable().openapi({ description: 'Null for the settings' }),
    name: z.string().nullable(),
  })
  .openapi('AppliedResource', { example: { kind: 'template', slug: 'welcome', name: 'Welcome' } });

const Changed = RefOf.extend({
  changes: z.array(z.string()).openapi({ description: 'Changed fields; steps as `steps.<slug>`' }),
}).openapi('ChangedResource', {
  example: { kind: 'template', slug: 'welcome', name: 'Welcome', changes: ['subject'] },
});

const ApplyFinding = z
  .object({
    code: z.enum([
      'sender_not_verified',
      'secret_missing',
      'workflow_not_enabled',
      'campaign_begun',
      'operator_limit',
      'unknown_setting',
      'unknown_segment',
      'unknown_topic',
    ]),
    severity: z.enum(['error', 'warning', 'info']),
    message: z.string(),
    details: z.record(z.string(), z.unknown()),
  })
  .openapi('ApplyFinding', {
    example: {
      code: 'sender_not_verified',
      severity: 'warning',
      message: 'hello@example.com is not on a verified domain of this project: the sender does not change.',
      details: { kind: 'template', slug: 'welcome', from: 'hello@example.com' },
    },
  });

export const Applied = z
  .object({
    dryRun: z.boolean(),
    created: z.array(RefOf),
    updated: z.array(Changed),
    unchanged: z.array(RefOf),
    findings: z.array(ApplyFinding),
  })
  .openapi('AppliedProject', {
    example: {
      dryRun: true,
      created: [{ kind: 'template', slug: 'welcome', name: 'Welcome' }],
      updated: [],
      unchanged: [],
      findings: [],
    },
  });

export const ExportedProject = z
  .object({
    version: z.literal(1),
    settings: z.record(z.string(), z.unknown()),
    templates: z.array(TemplateItem),
    segments: z.array(SegmentItem),
    topics: z.array(TopicItem),
    workflows: z.array(WorkflowItem),
    campaigns: z.array(CampaignItem).optional().openapi({
      description: 'Drafts. Omitted for a key without `campaigns:view`',
    }),
  })
  .openapi('ExportedProject', {
    example: {
      version: 1,
      settings: { tracking: 'ENABLED', color: null },
      templates: [],
      segments: [],
      topics: [],
      workflows: [],
      campaigns: [],
    },
  });

export type Applied = z.infer<typeof Applied>;
export type ApplyFinding = z.infer<typeof ApplyFinding>;
export type Kind = (typeof KINDS)[number];
