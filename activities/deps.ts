import type { Logger } from 'pino';
import type { Bucket } from '../channels/assets/bucket.ts';
import type { EmailProvider } from '../channels/email/provider.ts';
import type { WebhookClient } from '../channels/webhook-request.ts';
import type { Compute } from '../compute/compute.ts';
import type { Db } from '../db/connection.ts';
import type { OutboxWaker } from '../db/outbox/outbox-waker.ts';
import type { Config } from '../rules/config.ts';
import type { SampledLog } from '../rules/sampled-log.ts';
import type { Lifecycle } from '../temporal/lifecycle.ts';
import type { EmailAttempts } from './emails/attempts.ts';
import type { Mailer } from './emails/mailer.ts';
import type { RouteWatch } from './emails/route-watch.ts';
import type { SendRates } from './emails/send-rates.ts';
import type { SmsAttempts } from './sms/attempts.ts';

/** The dependencies of activities: one object for each worker process, created by `worker/worker.ts`. */
export interface ActivityDeps {
  config: Config;
  db: Db;
  compute: Compute;
  /** Wakes the workers. Call it after the commit. */
  outbox: OutboxWaker;
  lifecycle: Lifecycle;
  log: Logger;
  /** Logs the ends of messages, sampled. */
  ends: SampledLog;
  mailer: Mailer;
  rates: SendRates;
  emailAttempts: EmailAttempts;
  smsAttempts: SmsAttempts;
  /** Tells whether the provider accepts our email. Undefined if the provider is not watched. */
  route?: RouteWatch;
  /** The provider for campaigns. It has its own connections, so a single email never waits behind a campaign. */
  bulkProvider: EmailProvider;
  webhooks: WebhookClient;
  /** The bucket for new images. Without one, images are stored in Postgres. */
  bucket: Bucket | undefined;
  /** Aborted as soon as the process should end: no new work starts, and running work finishes. */
  stopping: AbortSignal;
}
