import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { findCancellationWork, findSignaledWork, findStartedWork } from '../rules/executions/started-work.ts';
import { toSiblingQueueName } from '../rules/queues.ts';
import { uuidv7 } from '../rules/uuid.ts';
import { InstallationNames } from './names.ts';

const ID = '3f9a1c07-3a52-4c1e-9a57-0c0f5a2f7d11';
const installation = { id: ID, shortId: '3f9a1c07', legacyBefore: null, legacyClosedAt: null };
const names = new InstallationNames(installation);
const row = uuidv7();

describe('names of an installation in Temporal', () => {
  it('contain the short form of its id', () => {
    expect([names.taskQueue('steps'), names.taskQueue('bulk'), names.schedule('housekeeping')]).toEqual([
      '3f9a1c07-workflows',
      '3f9a1c07-bulk',
      '3f9a1c07-housekeeping',
    ]);
    expect([names.execution(row), names.campaign(row, 2), names.webhooks(row)]).toEqual([
      `execution-3f9a1c07-${row}`,
      `campaign-3f9a1c07-${row}-2`,
      `webhooks-3f9a1c07-${row}`,
    ]);
    expect(names.identity()).toMatch(/^3f9a1c07\/\d+@/);
  });

  it('omit the short id for rows from before the upgrade', () => {
    const upgraded = new InstallationNames({ ...installation, legacyBefore: new Date(Date.now() + 1_000) });
    expect([upgraded.execution(row), upgraded.campaign(row, 2), upgraded.job(row)]).toEqual([
      `execution-${row}`,
      `campaign-${row}-2`,
      `job-${row}`,
    ]);
    expect(upgraded.messages('delivery', [row])).toMatch(/^delivery-[0-9a-f]{32}$/);
    const restock = { projectId: 'p', variantId: 'v', restockNo: 3 };
    expect(upgraded.restock(row, restock)).toBe('restock-p-v-3');
    const later = new InstallationNames({ ...installation, legacyBefore: new Date(Date.now() - 60_000) });
    expect(later.execution(row)).toBe(`execution-3f9a1c07-${row}`);
  });

  it('have the new form if the id of the row is a UUID without a time', () => {
    const upgraded = new InstallationNames({ ...installation, legacyBefore: new Date('2200-01-01') });
    expect(upgraded.isLegacy(randomUUID())).toBe(false);
  });
});

describe('the row to which a workflow id belongs', () => {
  it.each([names.execution(row), `execution-${row}`])('is the row of the execution for %s', (workflowId) => {
    expect(findStartedWork(workflowId)).toEqual({ kind: 'execution.start', refId: row, visit: null });
    expect(findSignaledWork(workflowId, 'event', [{ visit: 4 }])).toEqual({
      kind: 'execution.event',
      refId: row,
      visit: 4,
    });
    expect(findCancellationWork(workflowId)?.refId).toBe(row);
  });

  it('is the row of the campaign or job, and undefined for other workflows', () => {
    expect(findStartedWork(names.campaign(row, 12))).toEqual({ kind: 'campaign.start', refId: row, visit: null });
    expect(findStartedWork(names.job(row))?.refId).toBe(row);
    expect(findStartedWork(names.webhooks(row))).toBeUndefined();
    expect(findStartedWork(names.schedule('housekeeping'))).toBeUndefined();
  });
});

it('a workflow finds the other queues of its installation', () => {
  expect(toSiblingQueueName(names.taskQueue('workflows'), 'bulk')).toBe('3f9a1c07-bulk');
  expect(toSiblingQueueName('workflows', 'steps')).toBe('workflows');
  expect(toSiblingQueueName('fake_replay_queue-1', 'bulk')).toBe('bulk');
});
