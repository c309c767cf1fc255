import { conditionAsText } from '../../parts/condition-builder/condition-as-text.ts';
import { text } from '../../text/text.ts';
import type { CampaignDraft } from './campaign-draft.ts';

/** Formats a field of a campaign as text, so that a conflict can show this user's and another user's value. */
export function fieldAsText(name: keyof CampaignDraft, value: CampaignDraft[keyof CampaignDraft]): string {
  const field = { [name]: value } as Partial<CampaignDraft>;
  if (field.condition) return conditionAsText(field.condition);
  if (name === 'window' && value === undefined) return text.campaigns.windowOfProject;
  if (field.variants) {
    return field.variants
      .map(({ name: variantName, weight, subject, preheader, from, body }) =>
        [`${variantName} (${weight})`, subject, preheader, from, body].filter(Boolean).join('\n'),
      )
      .join('\n\n');
  }
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : String(value ?? '');
}
