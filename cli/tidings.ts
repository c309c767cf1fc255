import { parseArgs } from 'node:util';
import { listDifferences } from './as-code/diff.ts';
import { readFiles, writeFiles } from './as-code/files.ts';
import { type ApplyResult, applyProject, fetchProject, type ServiceAccess } from './as-code/service.ts';
import { StartError } from './start/error.ts';

const USAGE = `Usage: npm run tidings -- pull | push [--dry-run] | diff [--dir tidings]
  pull  writes the files from the project
  push  changes the project to match the files; other resources do not change
  diff  prints the differences: exit code 0 none, 1 some, 2 an error
TIDINGS_URL is the address of the service, TIDINGS_KEY a secret key of the project.`;

const DIFFERS = 1;
const FAILED = 2;

// `npm run tidings -- pull|push|diff`: manages a project's templates, segments, topics, workflows, campaign drafts
// and settings as files in a repository.
try {
  const { command, folder, dryRun } = readArguments();
  if (command === 'pull') await pull(folder);
  else if (command === 'push') await push(folder, dryRun);
  else await diff(folder);
} catch (error) {
  // Prints one line for an error that the user can fix, and the whole error otherwise.
  console.error(error instanceof StartError ? error.message : error);
  process.exitCode = FAILED;
}

function readArguments(): { command: 'pull' | 'push' | 'diff'; folder: string; dryRun: boolean } {
  const options = {
    dir: { type: 'string', default: 'tidings' },
    'dry-run': { type: 'boolean', default: false },
  } as const;
  let parsed: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;
  try {
    parsed = parseArgs({ options, allowPositionals: true });
  } catch (cause) {
    throw new StartError(USAGE, { cause });
  }
  const [command, ...more] = parsed.positionals;
  const known = command === 'pull' || command === 'push' || command === 'diff';
  if (!known || more.length > 0 || (parsed.values['dry-run'] && command !== 'push')) throw new StartError(USAGE);
  return { command, folder: parsed.values.dir, dryRun: parsed.values['dry-run'] };
}

function readServiceAccess(): ServiceAccess {
  const { TIDINGS_URL: url, TIDINGS_KEY: key } = process.env;
  if (!url || !URL.canParse(url) || !key) throw new StartError(`TIDINGS_URL and TIDINGS_KEY are required.\n${USAGE}`);
  return { url, key };
}

async function pull(folder: string): Promise<void> {
  const changed = writeFiles(folder, await fetchProject(readServiceAccess()));
  for (const path of changed) console.log(path);
  console.log(
    changed.length === 0 ? `${folder} matches the project.` : `${changed.length} files of ${folder} changed.`,
  );
}

async function push(folder: string, dryRun: boolean): Promise<void> {
  const applied = await applyProject(readServiceAccess(), readFiles(folder), dryRun);
  for (const { kind, slug } of applied.created) console.log(`created ${formatName(kind, slug)}`);
  for (const { kind, slug, changes } of applied.updated)
    console.log(`updated ${formatName(kind, slug)}: ${changes.join(', ')}`);
  printFindings(applied.findings);
  const { created, updated, unchanged } = applied;
  const sum = `${created.length} created, ${updated.length} updated, ${unchanged.length} unchanged`;
  console.log(dryRun ? `${sum}. This was a dry run, so nothing changed.` : `${sum}.`);
}

async function diff(folder: string): Promise<void> {
  const { lines, findings } = await listDifferences(readServiceAccess(), readFiles(folder));
  for (const line of lines) console.log(line);
  printFindings(findings);
  console.log(lines.length === 0 ? 'No differences.' : `${lines.length} differences.`);
  if (lines.length > 0) process.exitCode = DIFFERS;
}

function formatName(kind: string, slug: string | null): string {
  return slug === null ? kind : `${kind}s/${slug}`;
}

/** Prints findings to stderr, so that they are separate from the changes on stdout. */
function printFindings(findings: ApplyResult['findings']): void {
  for (const { severity, code, message } of findings) console.error(`${severity} ${code}: ${message}`);
}
