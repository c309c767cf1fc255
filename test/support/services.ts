import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { ensureSearchAttributes } from '../../temporal/search-attributes.ts';

/** Not all parts of Temporal's dev server know a new namespace at once; they need a second or two. */
const NAMESPACE_TIMEOUT_MS = 120_000;
const RETENTION_SECONDS = 86_400;

export interface TestTemporal {
  /** Host and port of the run's Temporal. */
  address: string;
  /** The namespace of this test file. Workers of two files never take each other's tasks. */
  namespace: string;
  /** Path of the prebuilt workflows. */
  workflowBundle: string;
}

/**
 * Creates a Temporal namespace for the test file on the run's dev server, with our search attributes, or without them
 * like the namespace of a new installation.
 */
export async function createTestTemporal({ attributes = true } = {}): Promise<TestTemporal> {
  const address = inject('temporalAddress');
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: RETENTION_SECONDS as never },
    });
    if (attributes) await untilDone(() => ensureSearchAttributes(connection, namespace));
    await untilDone(() => connection.workflowService.listOpenWorkflowExecutions({ namespace, maximumPageSize: 1 }));
  } finally {
    await connection.close();
  }
  return { address, namespace, workflowBundle: inject('workflowBundle') };
}

async function untilDone(attempt: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + NAMESPACE_TIMEOUT_MS;
  while (true) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() >= deadline) throw error;
      await sleep(50);
    }
  }
}
