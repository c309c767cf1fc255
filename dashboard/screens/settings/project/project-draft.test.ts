import { expect, it } from 'vitest';
import type { Project } from '../../../../packages/client/src/operations.generated.ts';
import { toChangedSettings, toProjectDraft } from './project-draft.ts';

const project = {
  id: 'p',
  name: 'Shop',
  public: 'pk',
  tracking: 'ENABLED',
  color: null,
  disabled: false,
  doubleOptIn: { enabled: false, templateId: null },
  publicKeyMode: 'protected',
  resubscribe: 'allow',
  phoneCountry: null,
  frequencyCap: null,
  timezone: 'Europe/Berlin',
  sendingWindow: null,
  sendRatePerSecond: 50,
  monthlyEmailLimit: null,
  bounceGuard: 0.1,
  complaintGuard: 0.003,
  hold: { held: false, since: null, reason: null },
  operatorLimits: {
    sendRatePerSecond: 50,
    monthlyEmailLimit: null,
    bounceGuard: null,
    complaintGuard: null,
    held: false,
  },
  createdAt: '',
  updatedAt: '',
} as unknown as Project;

it("only changed fields are sent, so an operator's limit does not become the project's own limit", () => {
  const draft = toProjectDraft(project);
  expect(toChangedSettings(project, draft)).toEqual({});
  expect(toChangedSettings(project, { ...draft, name: ' Store ' })).toEqual({ name: 'Store' });
  expect(toChangedSettings(project, { ...draft, month: 1000, complaintGuard: 0.2 })).toEqual({
    monthlyEmailLimit: 1000,
    complaintGuard: 0.002,
  });
  expect(toChangedSettings(project, { ...draft, rate: '' })).toEqual({ sendRatePerSecond: null });
  expect(toChangedSettings(project, { ...draft, publicKeyMode: 'open' })).toEqual({ publicKeyMode: 'open' });
});

it('a window uses the chosen time zone', () => {
  const stored = toProjectDraft(project);
  const withWindow = (changes: Partial<typeof stored.window> = {}) => ({
    ...stored,
    window: { ...stored.window, isOn: true, days: ['5', '1'], ...changes },
  });
  const window = { from: '09:00', to: '18:00', days: [1, 5] };
  expect(toChangedSettings(project, withWindow())).toEqual({ sendingWindow: window });
  expect(toChangedSettings(project, withWindow({ clocks: 'contact' })).sendingWindow).toEqual({
    ...window,
    timezone: 'contact',
  });
  expect(toChangedSettings(project, withWindow({ clocks: 'zone', zone: 'Asia/Tokyo' })).sendingWindow).toEqual({
    ...window,
    timezone: 'Asia/Tokyo',
  });
  const windowed = { ...project, sendingWindow: { ...window, timezone: 'contact' } } as unknown as Project;
  const draft = toProjectDraft(windowed);
  expect(toChangedSettings(windowed, draft)).toEqual({});
  const off = { ...draft, window: { ...draft.window, isOn: false } };
  expect(toChangedSettings(windowed, off)).toEqual({ sendingWindow: null });
});

it("a window in the project's time zone has no time zone of its own", () => {
  const draft = toProjectDraft(project);
  const berlin = { ...draft, window: { ...draft.window, isOn: true, clocks: 'zone' as const } };
  expect(toChangedSettings(project, berlin).sendingWindow).toMatchObject({ timezone: 'Europe/Berlin' });
  // Another user who changes the project's time zone therefore causes no conflict with a change of the window.
  expect(toProjectDraft({ ...project, timezone: 'Asia/Tokyo' }).window).toEqual(draft.window);
});
