import { z } from '@hono/zod-openapi';
import type { Compute } from '../../../compute/compute.ts';
import { type Campaign, type CampaignContent, listVariantTexts } from '../../../db/campaigns/campaigns.ts';
import {
  type CampaignVariant,
  findVariantIndex,
  TEST_METRICS,
  VARIANTS_MAX,
  VARIANTS_MIN,
  type VariantTest,
} from '../../../rules/campaigns/variants.ts';
import type { EmailText } from '../../../rules/content/email-text.ts';
import { AppError, createFieldError } from '../../../rules/errors.ts';
import { oneLineText } from '../../http/schemas.ts';
import { emailTextInput, splitSender } from '../email-text.ts';
import { refuseBadContent } from '../templates/content-check.ts';

const NAME_MAX_CHARS = 100;
const WEIGHT_MAX = 1_000_000;
const SHARE_MIN = 0.02;
/** 30 days. */
const WAIT_MAX_MINUTES = 30 * 24 * 60;
const WAIT_DEFAULT_MINUTES = 240;

/** The text fields of an email in a request, all optional and nullable. */
const optionalText = Object.fromEntries(
  Object.entries(emailTextInput).map(([field, type]) => [field, (type as z.ZodType).nullish()]),
) as { [Field in keyof typeof emailTextInput]: z.ZodOptional<z.ZodNullable<(typeof emailTextInput)[Field]>> };

const VariantInput = z
  .object({
    name: oneLineText(NAME_MAX_CHARS).trim().min(1),
    weight: z.number().positive().max(WEIGHT_MAX).default(1),
    ...optionalText,
  })
  .transform(splitSender)
  .openapi('CampaignVariantInput', {
    description: 'A variant of the content. Fields that it does not set have the value of the campaign.',
    example: { name: 'B', subject: 'A shorter subject', weight: 1 },
  });

const TestInput = z
  .object({
    share: z.number().min(SHARE_MIN).max(1).openapi({
      description:
        'Share of the recipients that take part in the test, rounded up to whole recipients. These recipients get the variants by weight. With 1, all recipients get a variant, and no recipient waits for the winner.',
    }),
    metric: z
      .enum(TEST_METRICS)
      .default('opens')
      .openapi({ description: 'Rate that decides the winner. Only opens and clicks by humans count.' }),
    waitMinutes: z
      .number()
      .min(0)
      .max(WAIT_MAX_MINUTES)
      .default(WAIT_DEFAULT_MINUTES)
      .openapi({ description: 'Minutes from the last email of the share until the winner is chosen' }),
    minimum: z.number().int().min(0).default(0).openapi({
      description:
        'Minimum number of opens or clicks (see `metric`) that the best variant needs to win. If it has fewer, the first variant of the campaign wins.',
    }),
  })
  .openapi('CampaignTestInput', {
    description:
      'Sends the variants to a share of the recipients, waits, and sends the better variant to the other recipients. Without a test, all recipients get a variant by weight.',
    example: { share: 0.2, metric: 'opens', waitMinutes: 240, minimum: 50 },
  });

/** The fields about variants of a campaign in a request. */
export const variantFields = {
  variants: z
    .array(VariantInput)
    .max(VARIANTS_MAX)
    .nullish()
    .openapi({
      description: `${VARIANTS_MIN} to ${VARIANTS_MAX} variants with distinct names. Null or an empty list removes all variants.`,
    }),
  test: TestInput.nullish(),
};

export const ChooseWinner = z
  .object({ variant: z.string().min(1).openapi({ description: 'Name of the variant' }) })
  .openapi('ChooseWinner', { example: { variant: 'B' } });

type VariantChanges = { [Field in keyof typeof variantFields]?: z.output<(typeof variantFields)[Field]> | undefined };

/**
 * Returns a campaign's variants and test after a change. Omitted fields do not change, null clears them, and a test is
 * removed together with the variants.
 * @throws AppError VALIDATION_ERROR for a single variant, a repeated name, or a test without variants
 */
export function mergeVariants(
  changes: VariantChanges,
  current?: Campaign,
): { variants: CampaignVariant[] | null; test: VariantTest | null } {
  const newVariants = changes.variants?.map(omitNullFields) ?? null;
  const variants =
    changes.variants === undefined ? (current?.variants ?? null) : newVariants?.length ? newVariants : null;
  if (variants) checkVariants(variants);
  if (!variants && changes.test) throw createFieldError('test', 'A test needs variants', 'invalid_type');
  const test = changes.test === undefined ? (current?.test ?? null) : changes.test;
  return { variants, test: variants && test };
}

/**
 * Returns the text of the campaign, or of its variant with this name.
 * @throws AppError VALIDATION_ERROR for an unknown variant
 */
export function findVariantText(campaign: Campaign, variant: string | undefined): EmailText {
  if (variant === undefined) return campaign;
  const text = listVariantTexts(campaign)[findVariantIndex(campaign.variants, variant) ?? -1];
  if (!text) throw createFieldError('variant', 'No variant of this campaign has this name');
  return text;
}

function checkVariants(variants: CampaignVariant[]): void {
  if (variants.length < VARIANTS_MIN)
    throw createFieldError('variants', `Must be at least ${VARIANTS_MIN} variants`, 'too_small');
  const names = new Set(variants.map(({ name }) => name.toLowerCase()));
  if (names.size < variants.length) throw createFieldError('variants', 'The names of variants must be unique');
}

/** Removes null fields from a variant, because the campaign's value is used for them. */
function omitNullFields(variant: z.output<typeof VariantInput>): CampaignVariant {
  const setFields = Object.entries(variant).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(setFields) as unknown as CampaignVariant;
}

/**
 * Checks the content of the campaign and of each variant.
 * @param p.stored the stored campaign that is changed; templates that it already contains are not checked again
 * @throws AppError as `refuseBadContent`; field names of a variant's error start with `variants.<n>`
 */
export async function refuseBadVariants(
  compute: Compute,
  p: { projectId: string; content: CampaignContent; stored?: CampaignContent | undefined },
): Promise<void> {
  const { projectId, content } = p;
  const stored = p.stored ? [p.stored, ...listVariantTexts(p.stored)] : [];
  await refuseBadContent(compute, { projectId, content: { ...content, type: 'MARKETING' }, stored });
  for (const [n, text] of (content.variants ? listVariantTexts(content) : []).entries()) {
    const review = { projectId, content: { ...text, type: 'MARKETING' as const }, stored };
    await refuseBadContent(compute, review).catch((error: unknown) => {
      throw error instanceof AppError ? prefixVariantFields(n, error) : error;
    });
  }
}

function prefixVariantFields(n: number, error: AppError): AppError {
  if (error.code !== 'VALIDATION_ERROR') return error;
  const errors = error.errors?.map((each) => ({ ...each, field: `variants.${n}.${each.field}` }));
  return new AppError('VALIDATION_ERROR', { errors, details: error.details, cause: error });
}
