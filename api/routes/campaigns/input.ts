import { isDeepStrictEqual } from 'node:util';
import { z } from '@hono/zod-openapi';
import { CAMPAIGN_NAME_MAX_CHARS, type Campaign, type CampaignContent } from '../../../db/campaigns/campaigns.ts';
import { AUDIENCE_TYPES, type AudienceType } from '../../../rules/campaigns/campaign.ts';
import { createFieldError } from '../../../rules/errors.ts';
import { type Condition, ConditionInput } from '../../../rules/filters/filters.ts';
import { markAsAlias, resolveAliases } from '../../http/aliases.ts';
import { ReadUpdatedAt } from '../../http/record-version.ts';
import { EmailAddress, Id, NullableInstantInput, SlugInput } from '../../http/schemas.ts';
import { emailTextInput, mergeEmailText, splitSender } from '../email-text.ts';
import { localTimeInput, mergeTiming, timingInput } from './timing.ts';
import { mergeVariants, variantFields } from './variants-input.ts';

const EXAMPLE = {
  name: 'November news',
  subject: 'News for {{firstName ?? you}}',
  body: '<p>Hello {{firstName}}</p>',
  from: 'news@example.com',
  audienceType: 'FILTERED' as const,
  audienceFilter: { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] },
};

const AudienceTypeInput = z.enum(AUDIENCE_TYPES);

const Filter = ConditionInput.nullish().openapi({
  type: ['object', 'null'],
  description: 'Audience of a FILTERED campaign. `audienceFilter`, `audienceCondition` and `filters` are aliases.',
  example: EXAMPLE.audienceFilter,
});

const FilterAlias = markAsAlias(Filter, 'audienceFilter');

const fields = {
  name: z.string().trim().min(1).max(CAMPAIGN_NAME_MAX_CHARS),
  slug: SlugInput.optional(),
  description: z.string().max(2_000).nullish(),
  ...emailTextInput,
  audienceType: AudienceTypeInput.optional(),
  type: markAsAlias(AudienceTypeInput.optional(), 'audienceType'),
  segmentId: Id.nullish(),
  audienceFilter: Filter,
  audienceCondition: FilterAlias,
  filters: FilterAlias,
  topicId: Id.nullish().openapi({
    description: 'Topic of the campaign. Contacts that left the topic do not get the campaign.',
  }),
  ...timingInput,
  ...variantFields,
};

export const CreateCampaign = z.object(fields).transform(splitSender).openapi('CreateCampaign', { example: EXAMPLE });

/** The fields of a campaign in a request, all optional. */
export const CampaignFields = z
  .object(fields)
  .partial()
  .extend({
    scheduledFor: NullableInstantInput.openapi({ description: 'Reschedules a SCHEDULED campaign to this time' }),
  });

export const PutCampaign = CampaignFields.extend({
  updatedAt: ReadUpdatedAt,
  scheduledAt: markAsAlias(NullableInstantInput, 'scheduledFor'),
})
  .transform(splitSender)
  .openapi('PutCampaign', {
    example: { subject: 'News, at last' },
  });

export const SendCampaign = z
  .object({
    scheduledFor: NullableInstantInput.openapi({
      description: 'Time to send the campaign. Sends now if omitted or null.',
    }),
    scheduledAt: markAsAlias(NullableInstantInput, 'scheduledFor'),
    ...localTimeInput,
  })
  .openapi('SendCampaign', { example: { scheduledFor: '2030-01-01T12:00:00Z' } });

export const TestCampaign = z
  .object({
    email: EmailAddress,
    variant: z.string().nullish().openapi({ description: 'Name of the variant to send' }),
  })
  .openapi('TestCampaign', { example: { email: 'ada@example.com' } });

export type CampaignChanges = Omit<z.output<typeof PutCampaign>, 'scheduledFor' | 'scheduledAt'>;

/**
 * Returns the content of a campaign after a change. Omitted fields do not change; null clears an optional field.
 * @throws AppError VALIDATION_ERROR if the audience is incomplete, or a required field is missing
 */
export function mergeCampaignContent(changes: CampaignChanges, current?: Campaign): CampaignContent {
  const { audienceType: chosen, type } = changes;
  const audienceType = resolveAliases({ audienceType: chosen, type }, current?.audienceType) ?? current?.audienceType;
  if (!audienceType) throw createFieldError('audienceType', 'Required', 'invalid_type');
  const { name = current?.name ?? '', description = current?.description ?? null } = changes;
  return {
    name,
    description,
    ...mergeEmailText(changes, current),
    audienceType,
    segmentId: chooseSegment(audienceType, changes, current),
    audienceFilter: chooseFilter(audienceType, changes, current),
    topicId: changes.topicId === undefined ? (current?.topicId ?? null) : changes.topicId,
    timing: mergeTiming(changes, current?.timing),
    ...mergeVariants(changes, current),
  };
}

function chooseSegment(type: AudienceType, { segmentId }: CampaignChanges, current?: Campaign): string | null {
  const stored = current?.segmentId ?? undefined;
  const chosen = segmentId === undefined ? stored : segmentId;
  if (type !== 'SEGMENT') return dropUnusedAudience('segmentId', { chosen, stored, type: 'SEGMENT' });
  if (!chosen) throw createFieldError('segmentId', 'Required when audienceType is SEGMENT', 'invalid_type');
  return chosen;
}

function chooseFilter(type: AudienceType, changes: CampaignChanges, current?: Campaign): Condition | null {
  const stored = current?.audienceFilter ?? undefined;
  const names = {
    audienceFilter: changes.audienceFilter ?? undefined,
    audienceCondition: changes.audienceCondition ?? undefined,
    filters: changes.filters ?? undefined,
  };
  const chosen = resolveAliases(names, stored) ?? stored;
  if (type !== 'FILTERED') return dropUnusedAudience('audienceFilter', { chosen, stored, type: 'FILTERED' });
  if (!chosen) throw createFieldError('audienceFilter', 'Required when audienceType is FILTERED', 'invalid_type');
  return chosen;
}

/**
 * Removes an audience that does not match `audienceType`, such as the stored segment of a campaign that becomes
 * FILTERED. A client that reads a campaign, changes `audienceType` and sends the campaign back still sends the old
 * audience.
 * @throws AppError VALIDATION_ERROR if the audience is not the stored one, because removing it could let the campaign
 * reach more contacts than the caller wants
 */
function dropUnusedAudience<V>(
  field: string,
  p: { chosen: V | null | undefined; stored: V | undefined; type: AudienceType },
): null {
  const { chosen, stored, type } = p;
  if ((chosen ?? null) === null || isDeepStrictEqual(chosen, stored)) return null;
  throw createFieldError(field, `Applies only to audienceType ${type}. Set audienceType to ${type}, or omit ${field}`);
}

export const LIST_DEFAULT = 20;
