import { z } from '@hono/zod-openapi';
import type { Campaign } from '../../../db/campaigns/campaigns.ts';
import { type CampaignCounts, NO_COUNTS } from '../../../rules/campaigns/counts.ts';
import { TEST_METRICS, WINNER_SOURCES } from '../../../rules/campaigns/variants.ts';
import { type EmailText, NO_TEXT } from '../../../rules/content/email-text.ts';
import { Instant } from '../../http/schemas.ts';

const OwnText = Object.fromEntries(Object.keys(NO_TEXT).map((field) => [field, z.string().optional()])) as Record<
  keyof EmailText,
  z.ZodOptional<z.ZodString>
>;

/**
 * Progress of a test. PENDING: the campaign has not started. SENDING: the share gets its emails. WAITING: the service
 * waits before it chooses the winner. DECIDED: there is a winner. ENDED: the campaign has ended without a winner.
 */
const TEST_STATES = ['PENDING', 'SENDING', 'WAITING', 'DECIDED', 'ENDED'] as const;

/** Fields about variants in a campaign's response. */
export const variantResponseFields = {
  variants: z
    .array(z.object({ name: z.string(), weight: z.number(), ...OwnText }).openapi('CampaignVariant'))
    .nullable()
    .openapi({
      description: 'Variants of the content. Fields that a variant does not set have the value of the campaign.',
    }),
  test: z
    .object({ share: z.number(), metric: z.enum(TEST_METRICS), waitMinutes: z.number(), minimum: z.number().int() })
    .openapi('CampaignTest')
    .nullable(),
  testState: z.enum(TEST_STATES).nullable().openapi({
    description:
      'Null if the campaign has no test. `WAITING`: the emails of the share were sent, and the winner is chosen at `testEndsAt`. `ENDED`: the campaign has ended without a winner, because no recipient waited for one or the campaign was cancelled.',
  }),
  testEndsAt: Instant.nullable().openapi({
    description: 'When the winner is chosen. Null until all emails of the share were sent, failed or were deferred.',
  }),
  winner: z.string().nullable().openapi({ description: 'Name of the variant that the remaining recipients get' }),
  winnerBy: z.enum(WINNER_SOURCES).nullable().openapi({ description: 'Whether the test or a user chose the winner' }),
  winnerAt: Instant.nullable(),
};

/** The values of `variantResponseFields` for a campaign without variants. */
export const NO_VARIANTS_EXAMPLE = {
  variants: null,
  test: null,
  testState: null,
  testEndsAt: null,
  winner: null,
  winnerBy: null,
  winnerAt: null,
};

export function toVariantsResponse(campaign: Omit<Campaign, 'timing'>) {
  const { variants, test, testEndsAt, winner, winnerBy, winnerAt } = campaign;
  return {
    variants,
    test,
    testState: computeTestState(campaign),
    testEndsAt: testEndsAt?.toISOString() ?? null,
    winner,
    winnerBy,
    winnerAt: winnerAt?.toISOString() ?? null,
  };
}

function computeTestState({
  test,
  winner,
  status,
  testEndsAt,
}: Omit<Campaign, 'timing'>): (typeof TEST_STATES)[number] | null {
  if (!test) return null;
  if (winner !== null) return 'DECIDED';
  if (status === 'DRAFT' || status === 'SCHEDULED') return 'PENDING';
  if (status === 'SENT' || status === 'CANCELLED') return 'ENDED';
  return testEndsAt ? 'WAITING' : 'SENDING';
}

const VariantCounts = Object.fromEntries(Object.keys(NO_COUNTS).map((name) => [name, z.number().int()])) as Record<
  keyof CampaignCounts,
  z.ZodNumber
>;
const RateInterval = z.object({ low: z.number(), high: z.number() }).openapi('RateInterval', {
  description: 'Wilson interval of a rate, from 0 to 1, with 95 % confidence',
  example: { low: 0.31, high: 0.51 },
});

/** Fields about variants in a campaign's statistics. */
export const variantStatsFields = {
  variants: z
    .array(
      z
        .object({
          name: z.string(),
          weight: z.number(),
          winner: z.boolean(),
          ...VariantCounts,
          openRate: z.number().openapi({ description: 'Percentage of sent emails' }),
          clickRate: z.number().openapi({ description: 'Percentage of sent emails' }),
          openInterval: RateInterval,
          clickInterval: RateInterval,
          interval: RateInterval.openapi({
            description: 'Interval of the rate that decides the test. Without a test, interval of the open rate.',
          }),
        })
        .openapi('CampaignVariantStats'),
    )
    .nullable()
    .openapi({
      description:
        'Null if the campaign has no variants. Recipients that wait for the winner are not counted for any variant.',
    }),
  comparison: z
    .object({
      metric: z.enum(TEST_METRICS),
      leader: z.string().nullable(),
      significant: z.boolean(),
      sentence: z.string(),
    })
    .nullable()
    .openapi('VariantComparison', {
      description:
        'Whether the difference between the best variant and the second best is statistically significant. Only recipients who got a variant before the winner was chosen are compared.',
      example: {
        metric: 'opens',
        leader: 'B',
        significant: false,
        sentence:
          'The difference between B (25.0 % opened) and A (20.0 % opened) is not significant: with 95 % confidence it may be chance.',
      },
    }),
};
