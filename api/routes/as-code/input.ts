import { z } from '@hono/zod-openapi';
import { hasField } from '../../../rules/executions/steps/names.ts';
import { STEP_TYPES } from '../../../rules/executions/steps/registry.ts';
import { ConditionInput } from '../../../rules/filters/filters.ts';
import { declareForms } from '../../../rules/input-forms.ts';
import { anyJsonObject, anyJsonValue } from '../../http/free-json.ts';
import { SlugInput } from '../../http/schemas.ts';
import { CampaignFields } from '../campaigns/input.ts';
import { splitSender } from '../email-text.ts';
import { PatchProject } from '../project/input.ts';
import { FILTERS_EXAMPLE } from '../segments/input.ts';
import { TemplateChanges } from '../templates/input.ts';
import { PatchTopic } from '../topics/input.ts';
import { withConfigForms } from '../workflow-steps/input.ts';
import { PatchWorkflow } from '../workflows/input.ts';
import { Position } from '../workflows/response.ts';

/** Maximum number of records of one kind in a document. */
const RECORDS_MAX = 1_000;
const STEPS_MAX = 500;

const NamedSlug = SlugInput.openapi({ description: 'Identifies the resource. It is created if it does not exist.' });

/**
 * Settings of a project in a file, without the name. A file from another project must not rename the project, because
 * members recognize the project by its name.
 */
export const Settings = PatchProject.omit({ name: true });

const SettingsForm = Settings.extend({
  doubleOptIn: z.union([Settings.shape.doubleOptIn, z.object({ template: SlugInput })]),
});

/** Settings before their slugs are replaced by ids. */
const FileSettings = declareForms(anyJsonObject('The settings of a project'), () => SettingsForm);

/** A template in a file. Omitted fields do not change. A new template needs the fields that `POST /templates` needs. */
export const TemplateItem = TemplateChanges.omit({ topicId: true })
  .extend({ slug: NamedSlug, topic: SlugInput.nullish().openapi({ description: 'Slug of the topic of its emails' }) })
  .transform(splitSender)
  .openapi('TemplateFile', {
    example: { slug: 'welcome', name: 'Welcome', subject: 'Welcome', body: '<p>Hello</p>', type: 'TRANSACTIONAL' },
  });

/** A topic in a file, without its subscribers. */
export const TopicItem = PatchTopic.extend({ slug: NamedSlug }).openapi('TopicFile', {
  example: { slug: 'news', name: 'Product news', defaultSubscribed: true },
});

/** A condition before its slugs are replaced by ids. */
const FileCondition = declareForms(anyJsonValue('The condition'), () => ConditionInput);

/** A segment in a file, without its members. Its condition refers to other segments by slug (`segment.<slug>`). */
export const SegmentItem = z
  .object({
    slug: NamedSlug,
    name: z.string().trim().min(1).max(255).optional(),
    description: z.string().max(2_000).nullish(),
    type: z.enum(['DYNAMIC', 'STATIC']).optional(),
    condition: FileCondition.optional().openapi({
      description: 'Same as `filters` of a segment, with `segment.<slug>` instead of `segment.<id>`',
    }),
    trackMembership: z.boolean().optional(),
  })
  .openapi('SegmentFile', { example: { slug: 'big-spenders', name: 'Big spenders', condition: FILTERS_EXAMPLE } });

const StepItem = withConfigForms(
  z
    .object({
      slug: NamedSlug,
      type: z.enum(STEP_TYPES),
      name: z.string().trim().min(1).max(200).optional(),
      config: anyJsonObject("A step's config").optional().openapi({
        description:
          'Same as for a step in the API, with `template` (a slug) instead of `templateId`. A header with the value null keeps the stored value.',
      }),
      position: Position.nullish(),
    })
    .openapi('WorkflowStepFile', {
      example: { slug: 'a-day-later', type: 'DELAY', config: { amount: 1, unit: 'days' } },
    }),
  (type) => (hasField(type, 'templateId') ? z.object({ template: SlugInput }) : z.object({})),
);

/** A workflow in a file. Steps and transitions in the file replace all existing ones. */
export const WorkflowItem = PatchWorkflow.omit({ entryStepId: true, triggerConfig: true })
  .extend({
    slug: NamedSlug,
    entry: SlugInput.nullish().openapi({ description: 'Slug of the first step' }),
    steps: z.array(StepItem).max(STEPS_MAX).optional(),
    transitions: z
      .array(
        z.object({
          from: SlugInput,
          to: SlugInput,
          branch: z.string().max(200).nullish(),
        }),
      )
      .max(4 * STEPS_MAX)
      .optional(),
  })
  .openapi('WorkflowFile', {
    example: {
      slug: 'welcome',
      name: 'Welcome',
      eventName: 'signup',
      enabled: true,
      entry: 'hello',
      steps: [{ slug: 'hello', type: 'SEND_EMAIL', config: { template: 'welcome' } }],
      transitions: [],
    },
  });

/** A DRAFT campaign in a file, with its variants and their test, and without its schedule. */
export const CampaignItem = CampaignFields.omit({
  scheduledFor: true,
  type: true,
  filters: true,
  audienceCondition: true,
  segmentId: true,
  topicId: true,
})
  .extend({
    slug: NamedSlug,
    segment: SlugInput.nullish().openapi({ description: 'Slug of the segment of a SEGMENT campaign' }),
    topic: SlugInput.nullish().openapi({ description: 'Slug of the topic' }),
    audienceFilter: FileCondition.nullish().openapi({
      description: 'Audience of a FILTERED campaign, with `segment.<slug>` instead of `segment.<id>`',
    }),
  })
  .transform(splitSender)
  .openapi('CampaignFile', {
    example: {
      slug: 'november-news',
      name: 'November news',
      subject: 'News',
      body: '<p>Hello</p>',
      from: 'news@example.com',
      audienceType: 'ALL',
      variants: [
        { name: 'A', weight: 1 },
        { name: 'B', subject: 'What is new', weight: 1 },
      ],
      test: { share: 0.2, metric: 'opens', waitMinutes: 240, minimum: 50 },
    },
  });

/**
 * Returns a schema for a list without duplicate slugs, because two records with one slug would overwrite each other.
 */
function createListSchema<Item extends z.ZodType<{ slug: string }>>(item: Item) {
  return z
    .array(item)
    .max(RECORDS_MAX)
    .superRefine((items, ctx) => {
      const seen = new Set<string>();
      for (const [i, { slug }] of items.entries()) {
        if (seen.has(slug))
          ctx.addIssue({
            code: 'custom',
            path: [i, 'slug'],
            message: 'Another record in this document has this slug.',
          });
        seen.add(slug);
      }
    })
    .optional();
}

export const ApplyProject = z
  .object({
    dryRun: z.boolean().default(false).openapi({ description: 'Returns the changes without making them' }),
    version: z.literal(1).optional(),
    settings: FileSettings.optional().openapi({
      description:
        'Same as in `PATCH /project`, without `name`. Changes need `project:manage`, which API keys cannot have.',
    }),
    topics: createListSchema(TopicItem),
    templates: createListSchema(TemplateItem),
    segments: createListSchema(SegmentItem),
    workflows: createListSchema(WorkflowItem),
    campaigns: createListSchema(CampaignItem),
  })
  .openapi('ApplyProject', {
    example: {
      dryRun: true,
      templates: [
        { slug: 'welcome', name: 'Welcome', subject: 'Welcome', body: '<p>Hello</p>', type: 'TRANSACTIONAL' },
      ],
    },
  });

/** A condition after its slugs have been replaced by ids. */
export const Condition = ConditionInput;

export type ProjectDocument = z.infer<typeof ApplyProject>;
export type TemplateItem = z.infer<typeof TemplateItem>;
export type TopicItem = z.infer<typeof TopicItem>;
export type SegmentItem = z.infer<typeof SegmentItem>;
export type WorkflowItem = z.infer<typeof WorkflowItem>;
export type CampaignItem = z.infer<typeof CampaignItem>;
export type StepItem = NonNullable<WorkflowItem['steps']>[number];
