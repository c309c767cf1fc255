import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import { type Installation, isLegacyRow } from '../rules/installation.ts';
import { type TaskQueue, toTaskQueueName } from '../rules/queues.ts';

/** A connection to Temporal, and the names of this installation there. */
export interface Target {
  client: Client;
  names: InstallationNames;
}

/**
 * All names that an installation uses in Temporal. Most methods return the name or the workflow id of one object, such
 * as the id of an execution's workflow. Each name contains the short form of the installation's id, so that several
 * installations can use the same namespace. Most workflow ids contain the id of a row. While the row's workflow is
 * running, Temporal rejects a second start as "already started". Legacy rows keep workflow ids without the short form.
 */
export class InstallationNames {
  readonly #installation: Installation;

  constructor(installation: Installation) {
    this.#installation = installation;
  }

  get shortId(): string {
    return this.#installation.shortId;
  }

  /** Whether legacy workflows may exist. They have no search attribute `Installation`. */
  get hasLegacyWorkflows(): boolean {
    return this.#installation.legacyBefore !== null;
  }

  /** Tells whether the row's workflow id has the legacy form, without the installation's short id. */
  isLegacy(rowId: string): boolean {
    return isLegacyRow(this.#installation, rowId);
  }

  taskQueue(queue: TaskQueue): string {
    return toTaskQueueName(this.shortId, queue);
  }

  /** Returns the identity of this process, which the Temporal UI shows in histories and lists of workers. */
  identity(): string {
    return `${this.shortId}/${process.pid}@${hostname()}`;
  }

  schedule(name: string): string {
    return `${this.shortId}-${name}`;
  }

  /** Returns the id of the workflow that stores the installation's token. */
  installation(): string {
    return `installation-${this.shortId}`;
  }

  execution(executionId: string): string {
    return this.#workflowId('execution', executionId, executionId);
  }

  campaign(campaignId: string, sendNo: number): string {
    return this.#workflowId('campaign', campaignId, `${campaignId}-${sendNo}`);
  }

  job(jobId: string): string {
    return this.#workflowId('job', jobId, jobId);
  }

  webhooks(endpointId: string): string {
    return this.#workflowId('webhooks', endpointId, endpointId);
  }

  sendingWindow(outboxId: string): string {
    return this.#workflowId('sending-window', outboxId, outboxId);
  }

  holdRelease(outboxId: string): string {
    return this.#workflowId('hold-release', outboxId, outboxId);
  }

  restock(outboxId: string, p: { projectId: string; variantId: string; restockNo: number }): string {
    return this.#workflowId('restock', outboxId, `${p.projectId}-${p.variantId}-${p.restockNo}`);
  }

  /**
   * Returns a workflow id for a group of messages, derived from the ids of their outbox rows. If the same rows are
   * handed over again while the workflow is running, Temporal responds "already started". A message that
   * recovery queues again gets a new outbox row, and therefore another workflow id.
   */
  messages(kind: 'delivery' | 'sms', outboxIds: [string, ...string[]]): string {
    const hash = createHash('sha256').update(outboxIds.join()).digest('hex').slice(0, 32);
    return this.#workflowId(kind, outboxIds[0], hash);
  }

  #workflowId(kind: string, rowId: string, rest: string): string {
    return this.isLegacy(rowId) ? `${kind}-${rest}` : `${kind}-${this.shortId}-${rest}`;
  }
}
