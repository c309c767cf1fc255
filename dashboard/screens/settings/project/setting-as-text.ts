import { text } from '../../../text/text.ts';
import type { ProjectDraft } from './project-draft.ts';

const words = text.settings.project;

/** The name of each setting in a conflict. */
export const SETTING_NAMES: Record<keyof ProjectDraft, string> = {
  name: words.name,
  color: words.color,
  timezone: words.timezone,
  window: words.windowName,
  cap: words.cap,
  tracking: words.tracking,
  doubleOptIn: words.doubleOptIn,
  publicKeyMode: words.publicKeyMode,
  resubscribe: words.protectRefusals,
  phoneCountry: words.phoneCountry,
  rate: words.rate,
  month: words.month,
  bounceGuard: words.bounceGuard,
  complaintGuard: words.complaintGuard,
};

/** Formats a setting as text, so that a conflict can show this user's and another user's value. */
export function settingAsText(name: keyof ProjectDraft, value: ProjectDraft[keyof ProjectDraft]): string {
  const { window, cap, tracking, doubleOptIn, publicKeyMode, resubscribe } = { [name]: value } as Partial<ProjectDraft>;
  if (window) return windowAsText(window);
  if (cap) return cap.isOn ? words.capIs(String(cap.max), String(cap.days)) : words.off;
  if (tracking) return words.trackings[tracking];
  if (doubleOptIn) return doubleOptIn.enabled ? words.doubleOptInIs(doubleOptIn.templateId) : words.off;
  if (publicKeyMode) return words.publicKeyModes[publicKeyMode];
  if (resubscribe) return resubscribe === 'protect' ? words.on : words.off;
  return String(value);
}

function windowAsText({ isOn, from, to, days, clocks, zone }: ProjectDraft['window']): string {
  if (!isOn) return words.off;
  const names = [...days].sort().map((day) => words.weekdays[Number(day) - 1]);
  return [`${from}–${to}`, names.join(', '), clocks === 'zone' && zone ? zone : words.clocksOf[clocks]].join('\n');
}
