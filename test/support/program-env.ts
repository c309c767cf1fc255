/**
 * Returns the environment variables that every program of a test gets: paths of programs and of temporary files, and
 * nothing else of the developer's environment. TMPDIR also marks the program as part of this run (`reaper.mjs`).
 */
export function getProgramEnv(): Record<string, string> {
  const { PATH, TMPDIR, TEMPORAL_CLI_PATH } = process.env;
  return Object.fromEntries(Object.entries({ PATH, TMPDIR, TEMPORAL_CLI_PATH }).filter(isSet));
}

function isSet(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined;
}
