/** Project settings during editing: the values of the inputs. */
import type { PatchProject, Project, SendingWindow } from '../../../../packages/client/src/operations.generated.ts';

/** Whether the sending window uses the time zone of the project, the contact or the form. */
export type WindowZone = 'project' | 'contact' | 'zone';
/** Empty if the input is empty. An empty `rate` or `month` means no limit. */
type Amount = number | '';

export interface ProjectDraft {
  name: string;
  /** `#rrggbb`; empty for the default color of the service. */
  color: string;
  timezone: string;
  windowed: boolean;
  from: string;
  to: string;
  days: string[];
  clocks: WindowZone;
  /** Time zone of the window, unless it uses the contact's. */
  zone: string;
  capped: boolean;
  capMax: Amount;
  capDays: Amount;
  tracking: Project['tracking'];
  doubleOptIn: boolean;
  templateId: string | null;
  publicKeyMode: Project['publicKeyMode'];
  resubscribe: Project['resubscribe'];
  /** ISO 3166-1 alpha-2; empty for none. */
  phoneCountry: string;
  rate: Amount;
  month: Amount;
  /** In percent. */
  bounceGuard: Amount;
  complaintGuard: Amount;
}

const WORK_DAYS = [1, 2, 3, 4, 5];

export function toProjectDraft(project: Project): ProjectDraft {
  const window = project.sendingWindow as SendingWindow | null;
  const zone = window?.timezone;
  return {
    name: project.name,
    color: project.color ?? '',
    timezone: project.timezone,
    tracking: project.tracking,
    windowed: window !== null,
    from: window?.from ?? '09:00',
    to: window?.to ?? '18:00',
    days: (window?.days ?? WORK_DAYS).map(String),
    clocks: zone === undefined ? 'project' : zone === 'contact' ? 'contact' : 'zone',
    zone: zone === undefined || zone === 'contact' ? project.timezone : zone,
    capped: project.frequencyCap !== null,
    capMax: project.frequencyCap?.max ?? 3,
    capDays: project.frequencyCap?.days ?? 7,
    doubleOptIn: project.doubleOptIn.enabled,
    templateId: project.doubleOptIn.templateId,
    publicKeyMode: project.publicKeyMode,
    resubscribe: project.resubscribe,
    phoneCountry: project.phoneCountry ?? '',
    rate: project.sendRatePerSecond ?? '',
    month: project.monthlyEmailLimit ?? '',
    bounceGuard: toPercent(project.bounceGuard),
    complaintGuard: toPercent(project.complaintGuard),
  };
}

/**
 * Returns only the changed fields. The form shows the operator's limits; saving another field must not store them as
 * the project's own.
 */
export function toChangedSettings(project: Project, draft: ProjectDraft): PatchProject {
  const [next, current] = [toSettings(draft), toSettings(toProjectDraft(project))];
  const changed = Object.entries(next).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(current[field as keyof PatchProject]),
  );
  return Object.fromEntries(changed);
}

function toSettings(draft: ProjectDraft): PatchProject {
  return {
    name: draft.name.trim(),
    color: draft.color === '' ? null : draft.color,
    timezone: draft.timezone,
    // The generated type of a nullable reference does not include null.
    sendingWindow: toSendingWindow(draft) as NonNullable<PatchProject['sendingWindow']>,
    frequencyCap: draft.capped ? { max: Number(draft.capMax), days: Number(draft.capDays) } : null,
    tracking: draft.tracking,
    doubleOptIn: { enabled: draft.doubleOptIn, templateId: draft.templateId },
    publicKeyMode: draft.publicKeyMode,
    resubscribe: draft.resubscribe,
    phoneCountry: draft.phoneCountry.trim() === '' ? null : draft.phoneCountry.trim().toUpperCase(),
    sendRatePerSecond: toLimit(draft.rate),
    monthlyEmailLimit: toLimit(draft.month),
    bounceGuard: toShare(draft.bounceGuard),
    complaintGuard: toShare(draft.complaintGuard),
  };
}

function toSendingWindow({ windowed, from, to, days, clocks, zone, timezone }: ProjectDraft): SendingWindow | null {
  if (!windowed) return null;
  const zonePart = clocks === 'project' ? {} : { timezone: clocks === 'contact' ? 'contact' : zone || timezone };
  return { from, to, days: days.map(Number).sort(), ...zonePart };
}

function toLimit(amount: Amount): number | null {
  return amount === '' ? null : amount;
}

function toPercent(share: number): number {
  return Math.round(share * 100_000) / 1_000;
}

function toShare(percents: Amount): number {
  return Math.round(Number(percents) * 1_000) / 100_000;
}
