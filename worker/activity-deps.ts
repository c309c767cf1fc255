import { createHmac } from 'node:crypto';
import type { Logger } from 'pino';
import type { ActivityDeps } from '../activities/deps.ts';
import { createEmailAttempts } from '../activities/emails/attempts.ts';
import { createMailer } from '../activities/emails/mailer.ts';
import { createRouteWatch } from '../activities/emails/route-watch.ts';
import { createSendRates } from '../activities/emails/send-rates.ts';
import { createProviderWatch } from '../activities/provider-watch.ts';
import { createSmsAttempts } from '../activities/sms/attempts.ts';
import { openBucket } from '../channels/assets/bucket.ts';
import { createDns } from '../channels/dns.ts';
import { createEmailProvider, getProviderAddress } from '../channels/email/providers.ts';
import { withSimulator } from '../channels/email/simulator.ts';
import { createSmsProvider } from '../channels/sms/providers.ts';
import { createWebhookClient } from '../channels/webhook-request.ts';
import { type ComputedWork, createCompute } from '../compute/compute.ts';
import type { Db } from '../db/connection.ts';
import type { OutboxWaker } from '../db/outbox/outbox-waker.ts';
import { insertCapturedEmail, insertCapturedSms } from '../db/sending/captured.ts';
import { createSimulatorHandler } from '../db/sending/simulated-emails.ts';
import { deriveKey } from '../rules/access/secrets.ts';
import type { Config } from '../rules/config.ts';
import { createSampledLog } from '../rules/sampled-log.ts';
import type { Lifecycle } from '../temporal/lifecycle.ts';

/** Creates the dependencies of the activities of a worker process: providers, caches and limits. */
export function createActivityDeps(p: {
  config: Config;
  db: Db;
  outbox: OutboxWaker;
  lifecycle: Lifecycle;
  log: Logger;
  stopping: AbortSignal;
  onComputed: (done: ComputedWork) => void;
  onResume: () => void;
}): {
  deps: ActivityDeps;
  close(): Promise<void>;
} {
  const { config, db } = p;
  const compute = createCompute({
    cpuMsPerSecond: config.projectCpuMsPerSecond,
    onDone: p.onComputed,
    onResume: p.onResume,
  });
  const watchProvider = createProviderWatch({ log: p.log, address: getProviderAddress(config.email) });
  const handleSimulated = createSimulatorHandler(db);
  // The simulator wraps the watched provider, because the simulator's replies must not count as replies of the
  // provider.
  const createProvider = () =>
    withSimulator(
      watchProvider(createEmailProvider(config.email, (message) => insertCapturedEmail(db, message))),
      handleSimulated,
    );
  const provider = createProvider();
  const bulkProvider = createProvider();
  const dns = createDns({ servers: config.dnsServers, cached: false });
  const webhooks = createWebhookClient({ allowPrivate: config.webhookAllowPrivate, dns });
  const bucket = config.assetsBucket && openBucket(config.assetsBucket);
  const smsProvider = createSmsProvider(config, (sms) => insertCapturedSms(db, sms));
  const endLog = createSampledLog(p.log);
  const routeWatch = createRouteWatch({
    db,
    log: p.log,
    route: identifyRoute(config),
    address: getProviderAddress(config.email),
    returnPathDomain: config.email.returnPathDomain,
    provider: bulkProvider,
  });
  const mailer = createMailer({ ...p, endLog, compute, provider, routeWatch });
  const rates = createSendRates({ db, installationRate: config.sendRatePerSecond });
  const emailAttempts = createEmailAttempts({ config, db, mailer, rates });
  const smsAttempts = createSmsAttempts({
    db,
    provider: smsProvider,
    outbox: p.outbox,
    endLog,
    suppressionKey: deriveKey(config.secretKey, 'suppression'),
  });
  return {
    deps: {
      ...p,
      endLog,
      compute,
      mailer,
      rates,
      emailAttempts,
      smsAttempts,
      bulkProvider,
      webhooks,
      bucket,
      routeWatch,
    },
    close: async () => {
      await Promise.all([provider.close(), bulkProvider.close(), routeWatch.close()]);
      await webhooks.close();
      await bucket?.close();
      await compute.close();
    },
  };
}

/**
 * Returns a hash that identifies the email provider and its settings. A pause of a route is stored for this hash, so
 * the pause ends when an operator changes the settings.
 */
function identifyRoute({ email, secretKey }: Config): string {
  const settings = JSON.stringify([email.provider, email[email.provider]]);
  return createHmac('sha256', deriveKey(secretKey, 'routes')).update(settings).digest('hex').slice(0, 32);
}
