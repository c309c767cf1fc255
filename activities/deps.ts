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

/** The dependencies of activities. `worker/activity-deps.ts` creates one object for each worker process. */
export interface ActivityDeps {
  config: Config;
  db: Db;
  compute: Compute;
  /** Wakes the processes that start the work of outbox rows. Call it after the commit that added the rows. */
  outbox: OutboxWaker;
  lifecycle: Lifecycle;
  log: Logger;
  /** Logs how emails and SMS ended. When many end at the same time, only a sample of them is logged. */
  endLog: SampledLog;
  mailer: Mailer;
  rates: SendRates;
  emailAttempts: EmailAttempts;
  smsAttempts: SmsAttempts;
  /** Watches whether the email provider accepts our email. Undefined if the provider is not watched. */
  routeWatch?: RouteWatch;
  /**
   * The email provider for campaigns. This provider has separate connections, so that a single email never waits behind
   * a campaign.
   */
  bulkProvider: EmailProvider;
  webhooks: WebhookClient;
  /** The bucket for new images. If undefined, images are stored in Postgres. */
  bucket: Bucket | undefined;
  /** Aborted as soon as the process should end. From then on no new work starts, and running work finishes. */
  stopping: AbortSignal;
}
