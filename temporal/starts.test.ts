import { expect, it } from 'vitest';
import { uuidv7 } from '../rules/uuid.ts';
import type { DeliveryState } from '../workflows/delivery-loop.ts';
import { InstallationNames } from './names.ts';
import { handOverGroup } from './starts.ts';

const HOUR_MS = 3_600_000;
const names = new InstallationNames({
  id: '3f9a1c07-3a52-4c1e-9a57-0c0f5a2f7d11',
  shortId: '3f9a1c07',
  legacyBefore: null,
  legacyClosedAt: null,
});

/** Hands a deferred SMS to a simulated Temporal. Returns the initial state of its delivery. */
async function startDelivery(dueAt: string | undefined): Promise<DeliveryState> {
  const states: DeliveryState[] = [];
  const start = async (_: string, { args }: { args: [{ carried: DeliveryState }] }) => states.push(args[0].carried);
  const temporal = { client: { workflow: { start } }, names, publicUrl: '' } as unknown as Parameters<
    typeof handOverGroup
  >[0];
  const payload = dueAt === undefined ? {} : { dueAt };
  const row = { id: uuidv7(), projectId: uuidv7(), kind: 'sms.retry' as const, refId: uuidv7(), payload };
  await handOverGroup(temporal, { kind: 'sms.retry', rows: [row] });
  const [state] = states;
  if (!state) throw new Error('not started');
  return state;
}

const getHoursUntilExpiry = ({ expiresAt }: DeliveryState) =>
  Math.round((Date.parse(expiresAt) - Date.now()) / HOUR_MS);

it('retries end a day after the first attempt is due, for example when the sending window opens', async () => {
  expect(getHoursUntilExpiry(await startDelivery(undefined))).toBe(24);
  expect(getHoursUntilExpiry(await startDelivery(new Date(Date.now() - 5 * HOUR_MS).toISOString()))).toBe(24);
  const dueAt = new Date(Date.now() + 60 * HOUR_MS).toISOString();
  const state = await startDelivery(dueAt);
  expect(state.waiting).toMatchObject([{ dueAt }]);
  expect(getHoursUntilExpiry(state)).toBe(84);
});
