import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import { type Installation, isLegacyRow } from '../rules/installation.ts';
import { type TaskQueue, taskQueueOf } from '../rules/queues.ts';

/** A connection to Temporal, and the names of this installation there. */
export interface Target {
  client: Client;
  names: InstallationNames;
}

/**
 * Every name that an installation has in Temporal. Each name carries the short form of the installation's id, so that
 * installations can share a namespace. A workflow id contains the id of a row, so Temporal rejects a second start of
 * the same row as "already started". Older rows, from before the short form existed, keep workflow ids without it.
 */
export class InstallationNames {
  readonly #installation: Installation;

  constructor(installation: Installation) {
    this.#installation = installation;
  }

  get shortId(): string {
    return this.#installation.shortId;
  }

  /** Whether workflows of an earlier release may exist, which have no `Installation` attribute. */
  get hasLegacyWorkflows(): boolean {
    return this.#installation.legacyBefore !== null;
  }

  /** Whether the workflow of this row has an id of the earlier release. */
  isLegacy(rowId: string): boolean {
    return isLegacyRow(this.#installation, rowId);
  }

  taskQueue(queue: TaskQueue): string {
    return taskQueueOf(this.shortId, queue);
  }

  /** Returns the identity of this process, which histories and lists of workers show. */
  identity(): string {
    return `${this.shortId}/${process.pid}@${hostname()}`;
  }

  schedule(name: string): string {
    return `${this.shortId}-${name}`;
  }

  /** Names the workflow that keeps the installation's token. */
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
   * Names a group of messages by its outbox rows, so that dispatching the same rows again is "already started". A
   * replay sends the same message again on purpose, and therefore has a row of its own.
   */
  messages(kind: 'delivery' | 'sms', outboxIds: [string, ...string[]]): string {
    const hash = createHash('sha256').update(outboxIds.join()).digest('hex').slice(0, 32);
    return this.#workflowId(kind, outboxIds[0], hash);
  }

  #workflowId(kind: string, rowId: string, rest: string): string {
    return this.isLegacy(rowId) ? `${kind}-${rest}` : `${kind}-${this.shortId}-${rest}`;
  }
}
