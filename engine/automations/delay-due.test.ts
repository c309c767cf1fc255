import { expect, it } from 'vitest';
import { markTrusted } from '../../rules/provenance/provenance.ts';
import { computeDelayEnd } from './delay-due.ts';
import type { ExecutionEnvironment } from './environment.ts';

/**
 * Returns the end of a DELAY that starts now, in a project with the Berlin time zone. Undefined if `until` is not an
 * instant.
 */
async function endOf(config: object, { now = '2027-01-15T08:00:00Z', value }: { now?: string; value?: unknown } = {}) {
  const environment = {
    getTiming: async () => ({ zone: null, projectZone: 'Europe/Berlin' }),
    loadVariables: async () => ({ variables: markTrusted({ value }) }),
  } as unknown as ExecutionEnvironment;
  const p = { step: { config }, execution: {}, nowMs: Date.parse(now) } as unknown as Parameters<
    typeof computeDelayEnd
  >[1];
  return (await computeDelayEnd(environment, p))?.dueAt.toISOString();
}

it.each([
  ['2027-07-01T09:00:00Z', '2027-07-01T09:00:00.000Z'],
  ['2027-07-01T09:00', '2027-07-01T07:00:00.000Z'],
  ['2027-07-01', '2027-06-30T22:00:00.000Z'],
  ['2027-07-01 09:00:00+05:30', '2027-07-01T03:30:00.000Z'],
  ['09:30', '2027-01-15T08:30:00.000Z'],
  // This hour is skipped when daylight saving time starts.
  ['2027-03-28T02:30', '2027-03-28T01:30:00.000Z'],
])('reads %s, written or from a variable, in the zone of the project unless it has an offset', async (until, at) => {
  expect(await endOf({ until })).toBe(at);
  expect(await endOf({ until: '{{value}}' }, { value: until })).toBe(at);
});

it('reads a date-time without an offset in the zone that the step names', async () => {
  expect(await endOf({ until: '2027-07-01T09:00', timezone: 'America/New_York' })).toBe('2027-07-01T13:00:00.000Z');
});

it.each(['12:60', 'Table 7', 'day 8', '1', 1, '2027-02-30T09:00:00Z', 'May 5 2027', '', null, '1764148800000', '2027'])(
  'does not accept %j from a variable as an instant',
  async (value) => {
    expect(await endOf({ until: '{{value}}' }, { value })).toBeUndefined();
  },
);

it('still reads a date that is not ISO 8601 in a step that was saved earlier', async () => {
  expect(await endOf({ until: 'Thu, 01 Jul 2027 09:00:00 GMT' })).toBe('2027-07-01T09:00:00.000Z');
});

it.each([
  [{ amount: 1, unit: 'days' }, '2027-03-27T08:00:00Z', '2027-03-28T07:00:00.000Z'],
  [{ amount: 1, unit: 'weeks' }, '2027-10-28T07:00:00Z', '2027-11-04T08:00:00.000Z'],
  [{ amount: 24, unit: 'hours' }, '2027-03-27T08:00:00Z', '2027-03-28T08:00:00.000Z'],
  [{ amount: 1440, unit: 'minutes' }, '2027-03-27T08:00:00Z', '2027-03-28T08:00:00.000Z'],
])('a DELAY of %j from %s ends at %s: days keep the time of day, shorter units are exact', async (config, now, at) => {
  expect(await endOf(config, { now })).toBe(at);
});
