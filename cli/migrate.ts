import { migrateToLatest } from '../db/migrator.ts';
import { ConfigError, parseSettings, VARIABLES } from '../rules/config.ts';
import { createDatabaseError } from './database-error.ts';
import { describeStartError } from './start/service-process.ts';

// `npm run migrate`: migrates the database at DATABASE_URL to this release, and prints the applied migrations. Safe
// to run again.
try {
  const url = readDatabaseUrl();
  const applied = await migrateToLatest(url).catch((error) => {
    throw createDatabaseError(url, error);
  });
  for (const name of applied) console.log(`applied ${name}`);
  console.log(applied.length === 0 ? 'The database is up to date.' : `${applied.length} migrations applied.`);
} catch (error) {
  console.error(describeStartError(error));
  process.exitCode = 1;
}

function readDatabaseUrl(): string {
  const { url } = parseSettings(process.env).database;
  if (url === undefined) {
    throw new ConfigError('DATABASE_URL', `DATABASE_URL is required: set it to ${VARIABLES.DATABASE_URL.takes}.`);
  }
  return url;
}
