import { readInstallation } from '../../db/installation/installation.ts';
import { parseConfig } from '../../rules/config.ts';
import { createWorkflowLifecycle, type Lifecycle } from '../../temporal/lifecycle.ts';
import type { TestService } from './service.ts';

/** Connects to the Temporal of a test service, as the service's own processes do. */
export async function connectLifecycle({ db, temporal }: Pick<TestService, 'db' | 'temporal'>): Promise<Lifecycle> {
  const config = parseConfig({
    DATABASE_URL: 'postgres://unused',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SECRET_KEY: 'the secret key of the tests',
  });
  return createWorkflowLifecycle({
    temporal: config.temporal,
    installation: await readInstallation(db),
    publicUrl: config.publicUrl,
  });
}
