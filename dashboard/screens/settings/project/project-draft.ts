/** Project settings during editing: the values of the inputs. */
import type { PatchProject, Project, SendingWindow } from '../../../../packages/client/src/operations.generated.ts';

/** Whether the sending window uses the time zone of the project, the contact or the form. */
export type WindowZone = 'project' | 'contact' | 'zone';
/** Empty if the input is empty. An empty `rate` or `month` means no limit. */
type Amount = number | '';

/** The inputs keep their values while the window is off. */
interface WindowDraft {
  isOn: boolean;
  from: string;
  to: string;
  days: string[];
  clocks: WindowZone;
  /** Time zone of the window with `clocks: 'zone'`; empty for the project's. */
  zone: string;
}

/** The inputs keep their values while the cap is off. */
interface CapDraft {
  isOn: boolean;
  max: Amount;
  days: Amount;
}

/** Each field is one setting of the API, because a save sends, and a conflict compares, whole settings. */
export interface ProjectDraft {
  name: string;
  /** `#rrggbb`; empty for the default color of the service. */
  color: string;
  timezone: string;
  window: WindowDraft;
  cap: CapDraft;
  tracking: Project['tracking'];
  doubleOptIn: { enabled: boolean; templateId: string | null };
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
  const { doubleOptIn, frequencyCap } = project;
  return {
    name: project.name,
    color: project.color ?? '',
    timezone: project.timezone,
    window: toWindowDraft(project.sendingWindow as SendingWindow | null),
    cap: { isOn: frequencyCap !== null, max: frequencyCap?.max ?? 3, days: frequencyCap?.days ?? 7 },
    tracking: project.tracking,
    doubleOptIn: { enabled: doubleOptIn.enabled, templateId: doubleOptIn.templateId },
    publicKeyMode: project.publicKeyMode,
    resubscribe: project.resubscribe,
    phoneCountry: project.phoneCountry ?? '',
    rate: project.sendRatePerSecond ?? '',
    month: project.monthlyEmailLimit ?? '',
    bounceGuard: toPercent(project.bounceGuard),
    complaintGuard: toPercent(project.complaintGuard),
  };
}

function toWindowDraft(window: SendingWindow | null): WindowDraft {
  const zone = window?.timezone;
  return {
    isOn: window !== null,
    from: window?.from ?? '09:00',
    to: window?.to ?? '18:00',
    days: (window?.days ?? WORK_DAYS).map(String),
    clocks: zone === undefined ? 'project' : zone === 'contact' ? 'contact' : 'zone',
    zone: zone === undefined || zone === 'contact' ? '' : zone,
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
    frequencyCap: draft.cap.isOn ? { max: Number(draft.cap.max), days: Number(draft.cap.days) } : null,
    tracking: draft.tracking,
    doubleOptIn: draft.doubleOptIn,
    publicKeyMode: draft.publicKeyMode,
    resubscribe: draft.resubscribe,
    phoneCountry: draft.phoneCountry.trim() === '' ? null : draft.phoneCountry.trim().toUpperCase(),
    sendRatePerSecond: toLimit(draft.rate),
    monthlyEmailLimit: toLimit(draft.month),
    bounceGuard: toShare(draft.bounceGuard),
    complaintGuard: toShare(draft.complaintGuard),
  };
}

function toSendingWindow({ window, timezone }: ProjectDraft): SendingWindow | null {
  const { isOn, from, to, days, clocks, zone } = window;
  if (!isOn) return null;
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
