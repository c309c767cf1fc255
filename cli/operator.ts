import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { connect, type Db } from '../db/connection.ts';
import { resumeSending } from '../db/installation/sending-hold.ts';
import { getProject, type OperatorLimits, type Project } from '../db/projects/projects.ts';
import { inTransaction } from '../db/transaction.ts';
import { holdByOperator, releaseByOperator, setOperatorLimits } from '../engine/projects/operator-limits.ts';
import { ConfigError, parseSettings, VARIABLES } from '../rules/config.ts';
import { AppError } from '../rules/errors.ts';
import { createDatabaseError } from './database-error.ts';
import type { DevFile } from './start/dev-file.ts';
import { StartError } from './start/error.ts';
import { readJson } from './start/private-files.ts';
import { describeStartError } from './start/service-process.ts';

const USAGE =
  'Usage: npm run operator -- project <id> [--set name=value …] [--hold "reason" | --release]. The value none removes a limit. Or: npm run operator -- resume, which lets a clone send.';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const INT_MAX = 2_147_483_647;
const REASON_MAX_CHARS = 500;

/** The accepted values of each limit. They are the same as in `PATCH /operator/projects/{id}`. */
const LIMITS: Record<keyof OperatorLimits, { takes: string; allows: (value: number) => boolean }> = {
  monthlyEmailLimit: { takes: 'a whole number from 0', allows: (value) => isStorableInteger(value) && value >= 0 },
  sendRatePerSecond: { takes: 'a whole number from 1', allows: (value) => isStorableInteger(value) && value >= 1 },
  bounceGuard: { takes: 'a share above 0, at most 1', allows: (value) => value > 0 && value <= 1 },
  complaintGuard: { takes: 'a share above 0, at most 1', allows: (value) => value > 0 && value <= 1 },
};

interface OperatorCommand {
  projectId: string;
  limits: Partial<OperatorLimits>;
  hold: string | undefined;
  release: boolean;
}

// `npm run operator -- …`: actions that only the operator of the service may perform, independent of the project's
// own settings.
try {
  const args = process.argv.slice(2);
  if (args.join(' ') === 'resume') await resumeClone();
  else await changeProject(readCommand(args));
} catch (error) {
  console.error(describeStartError(error));
  process.exitCode = 1;
}

/** Ends the hold of a clone, so that it sends its waiting messages; see docs/operate/back-up.md. */
async function resumeClone(): Promise<void> {
  const hold = await withDatabase(resumeSending);
  console.log(
    hold === null
      ? 'Sending resumed. Waiting messages are sent now.'
      : 'Sending resumes when recovery has ended: a worker runs recovery once it reaches Temporal.',
  );
}

/** Changes a project and prints it. Without a change, only prints it. */
async function changeProject(command: OperatorCommand): Promise<void> {
  const project = await withDatabase((db) => applyChanges(db, command)).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'NOT_FOUND'
      ? new StartError(`There is no project ${command.projectId}.`)
      : error;
  });
  console.log(JSON.stringify(toProjectOutput(project), null, 2));
  if (command.release && project.hold.held)
    console.error(
      `The project is still on hold: ${project.hold.reason}. A member has to release this hold with POST /project/release.`,
    );
}

/**
 * Runs work on the service's database.
 * @throws StartError with a one-line message if the database cannot be reached
 */
async function withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const url = readDatabaseUrl();
  const { db } = connect({ connectionString: url, max: 1, applicationName: 'tidings-operator', onError: () => {} });
  try {
    return await work(db);
  } catch (error) {
    throw error instanceof AppError ? error : createDatabaseError(url, error);
  } finally {
    await db.destroy();
  }
}

function readCommand(args: string[]): OperatorCommand {
  const { values, positionals } = parseArguments(args);
  const [what, projectId, more] = positionals;
  if (what !== 'project' || projectId === undefined || more !== undefined) throw new StartError(USAGE);
  if (!UUID.test(projectId)) throw new StartError(`${JSON.stringify(projectId)} is not a project id.`);
  const hold = values.hold?.trim();
  if ((hold !== undefined && values.release) || hold === '' || (hold?.length ?? 0) > REASON_MAX_CHARS)
    throw new StartError(USAGE);
  const limits = Object.fromEntries((values.set ?? []).map(readLimit));
  return { projectId, limits, hold, release: values.release ?? false };
}

function parseArguments(args: string[]) {
  const options = {
    set: { type: 'string', multiple: true },
    hold: { type: 'string' },
    release: { type: 'boolean' },
  } as const;
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (cause) {
    throw new StartError(USAGE, { cause });
  }
}

function readLimit(text: string): [string, number | null] {
  const [name = '', value = ''] = text.split('=');
  if (!Object.hasOwn(LIMITS, name))
    throw new StartError(`${Object.keys(LIMITS).join(', ')} can be set, not ${JSON.stringify(name)}.`);
  const { takes, allows } = LIMITS[name as keyof OperatorLimits];
  if (value === 'none') return [name, null];
  if (!/^\d+(\.\d+)?$/.test(value) || !allows(Number(value)))
    throw new StartError(`${name} must be ${takes}, or none, not ${JSON.stringify(value)}.`);
  return [name, Number(value)];
}

function isStorableInteger(value: number): boolean {
  return Number.isInteger(value) && value <= INT_MAX;
}

/**
 * Makes all changes of a command in one transaction. Wakes no worker after it has released held emails, because workers
 * check for released emails regularly.
 */
async function applyChanges(db: Db, { projectId, limits, hold, release }: OperatorCommand): Promise<Project> {
  const change = { projectId, actor: `operator:${userInfo().username}` };
  return inTransaction(db, async (trx) => {
    if (Object.keys(limits).length > 0) await setOperatorLimits(trx, change, limits);
    if (hold !== undefined) await holdByOperator(trx, change, hold);
    if (release) await releaseByOperator(trx, change);
    return getProject(trx, projectId);
  });
}

function toProjectOutput({ id, name, hold, operatorLimits, ...project }: Project) {
  const { monthlyEmailLimit, sendRatePerSecond, bounceGuard, complaintGuard, disabled } = project;
  return {
    id,
    name,
    disabled,
    monthlyEmailLimit,
    sendRatePerSecond,
    bounceGuard,
    complaintGuard,
    hold,
    operatorLimits,
  };
}

/**
 * Returns DATABASE_URL, or the URL in the dev.json of a running `npm start`.
 * @throws ConfigError if there is neither
 */
function readDatabaseUrl(): string {
  const settings = parseSettings(process.env);
  const url = settings.database.url ?? readJson<DevFile>(join(resolve(settings.home), 'dev.json'))?.databaseUrl;
  if (url !== undefined) return url;
  throw new ConfigError(
    'DATABASE_URL',
    `DATABASE_URL is required if "npm start" is not running: set it to ${VARIABLES.DATABASE_URL.takes}.`,
  );
}
