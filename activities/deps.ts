import type { Logger } from 'pino';
import type { Bucket } from '../channels/assets/bucket.ts';
import type { EmailProvider } from '../channels/email/provider.ts';
import type { WebhookClient } from '../channels/webhook-request.ts';
import type { Compute } from '../compute/compute.ts';
import type { Db } from '../db/connection.ts';
import type { OutboxBell } from '../db/outbox/outbox-bell.ts';
import type { Config } from '../rules/config.ts';
import type { SampledLog } from '../rules/sampled-log.ts';
import type { Lifecycle } from '../temporal/lifecycle.ts';
import type { EmailAttempts } from './emails/attempts.ts';
import type { Mailer } from './emails/mailer.ts';
import type { RouteWatch } from './emails/route-watch.ts';
import type { SendRates } from './emails/send-rates.ts';
import type { SmsAttempts } from './sms/attempts.ts';

/** What activities are built from: one object a worker process, made by `worker/worker.ts`. */
export interface ActivityDeps {
  config: Config;
  db: Db;
  compute: Compute;
  /** Wakes the workers, after the commit. */
  outbox: OutboxBell;
  lifecycle: Lifecycle;
  log: Logger;
  /** Where the ends of messages are written. */
  ends: SampledLog;
  mailer: Mailer;
  rates: SendRates;
  emailAttempts: EmailAttempts;
  smsAttempts: SmsAttempts;
  /** Whether the provider takes our email; absent where it is not watched. */
  route?: RouteWatch;
  /** For campaigns: with connections of its own, so that a single mail never waits behind a campaign. */
  bulkProvider: EmailProvider;
  webhooks: WebhookClient;
  /** Where new pictures are kept; undefined is Postgres. */
  bucket: Bucket | undefined;
  /** Aborted as soon as the process is told to end: nothing more is taken on, while what is on its way is finished. */
  stopping: AbortSignal;
}
