import type { Finding } from '../content/findings.ts';
import { assignVariants, type CampaignVariant, type VariantTest } from './variants.ts';

/** Codes of a campaign's findings, except findings about its content. */
export const CAMPAIGN_FINDINGS = [
  'sender_not_verified',
  'project_held',
  'dmarc_missing',
  'slow',
  'empty_audience',
  'variant_without_reader',
] as const;
export type CampaignFinding = (typeof CAMPAIGN_FINDINGS)[number];

/** Facts about a campaign besides its content. */
export interface ReviewedCampaign {
  /** Each sender address, with its domain in the project; null if the project does not have the domain. */
  senders: { from: string; domain: { verified: boolean; dmarc: boolean } | null }[];
  held: boolean;
  audience: number;
  willSend: number;
  estimatedSeconds: number;
}

/**
 * The maximum number of recipients to assign for the check of variants. With more recipients, every variant with a
 * reasonable weight gets one.
 */
const ASSIGNED_MAX = 100_000;
const SLOW_SECONDS = 24 * 3600;

/** Lists the problems that speak against sending a campaign now. */
export function listCampaignFindings(p: ReviewedCampaign): Finding<CampaignFinding>[] {
  const findings: Finding<CampaignFinding>[] = [];
  const { estimatedSeconds } = p;
  for (const { from, domain } of p.senders) {
    if (!domain?.verified) {
      const message = `The domain of ${from} is not verified: nothing can be sent from it.`;
      findings.push({ code: 'sender_not_verified', severity: 'error', message, details: { from } });
    }
    if (domain && !domain.dmarc) {
      const message = 'The domain has no DMARC record: Gmail and Yahoo require one from senders of many emails.';
      findings.push({ code: 'dmarc_missing', severity: 'warning', message, details: { from } });
    }
  }
  if (p.held) {
    const message = 'The sending of this project is on hold: emails wait until it is released.';
    findings.push({ code: 'project_held', severity: 'error', message, details: {} });
  }
  if (p.willSend === 0) {
    const message = p.audience === 0 ? 'The audience is empty.' : 'No contact in the audience can get this email.';
    findings.push({ code: 'empty_audience', severity: 'error', message, details: { audience: p.audience } });
  }
  if (estimatedSeconds > SLOW_SECONDS) {
    const message = `It will take about ${Math.round(estimatedSeconds / 3600)} hours to send.`;
    findings.push({ code: 'slow', severity: 'warning', message, details: { estimatedSeconds } });
  }
  return findings;
}

/** Finds the variants that no recipient would get, because the audience or the tested share is too small. */
export function findVariantsWithoutReader(p: {
  variants: readonly Pick<CampaignVariant, 'name' | 'weight'>[] | null;
  test: Pick<VariantTest, 'share'> | null;
  willSend: number;
}): Finding<CampaignFinding>[] {
  const { variants, willSend } = p;
  if (!variants || willSend === 0 || willSend > ASSIGNED_MAX) return [];
  const weights = variants.map(({ weight }) => weight);
  const before = { variants: weights.map(() => 0), rest: 0 };
  const read = new Set(assignVariants({ weights, share: p.test?.share ?? 1, before, n: willSend }));
  const names = variants.filter((_, n) => !read.has(n)).map(({ name }) => name);
  if (names.length === 0) return [];
  const message = 'The audience is too small for these variants: no recipient gets them.';
  return [{ code: 'variant_without_reader', severity: 'warning', message, details: { variants: names } }];
}

/**
 * Merges equal findings of a campaign's variants into one. If only some variants have a finding, its `details.variants`
 * names them.
 * @param names names of the variants, in the order of `found`; null for a campaign without variants
 */
export function mergeFindings<Code extends string>(found: Finding<Code>[][], names: string[] | null): Finding<Code>[] {
  const merged = new Map<string, { finding: Finding<Code>; of: Set<number> }>();
  for (const [n, findings] of found.entries())
    for (const finding of findings) {
      const key = JSON.stringify(finding);
      const entry = merged.get(key) ?? { finding, of: new Set<number>() };
      merged.set(key, entry);
      entry.of.add(n);
    }
  return [...merged.values()].map(({ finding, of }) => {
    if (!names || of.size === found.length) return finding;
    return { ...finding, details: { ...finding.details, variants: names.filter((_, n) => of.has(n)) } };
  });
}
