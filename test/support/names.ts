import { findInstallation } from '../../db/installation/installation.ts';
import { InstallationNames } from '../../temporal/names.ts';
import type { StartedService } from './start.ts';

/** Returns the names that a running service uses in Temporal. */
export async function readInstallationNames(service: StartedService): Promise<InstallationNames> {
  return new InstallationNames(await findInstallation(service.dev().databaseUrl));
}
