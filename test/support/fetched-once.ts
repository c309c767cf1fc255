import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns a folder in the user's cache folder with files that a test needs from elsewhere. It is filled once per
 * machine, without root, and nothing is installed. If it cannot be filled, returns the reason as a sentence that starts
 * with `refusal`; in CI it throws, so that no test is skipped there.
 */
export async function fetchOnce(p: {
  /** Names the folder, with a hash of `wanted` within. */
  kind: string;
  /** Everything on which its content depends. */
  wanted: string;
  refusal: string;
  /** Fills the given folder. Returns the path of the result in it. */
  fetch: (staging: string) => Promise<string>;
}): Promise<{ root: string } | string> {
  const key = createHash('sha256').update(p.wanted).digest('hex').slice(0, 12);
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tidings', p.kind);
  const root = join(folder, key);
  if (existsSync(root)) return { root };
  const staging = join(folder, `.staging-${key}-${process.pid}`);
  try {
    mkdirSync(staging, { recursive: true });
    moveTo(await p.fetch(staging), root);
    return { root };
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    if (process.env.CI) throw new Error(`${p.refusal}: ${why}`);
    return `${p.refusal}: ${why.split('\n').at(-1)}`;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Another test process may have been first. */
function moveTo(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}
