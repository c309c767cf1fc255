import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns a folder in the user's cache folder with files that a test needs from elsewhere. The folder is filled once
 * per machine, without root, and nothing is installed. If the folder cannot be filled, returns `refusal` and the reason
 * as one text. In CI, throws an error with that text, so that no test is skipped there.
 */
export async function fetchOnce(p: {
  /** Names the folder, with a hash of `wanted` within. */
  kind: string;
  /** Everything on which the content of the folder depends. */
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

/** Moves the filled folder to its place, unless another test process did so first. */
function moveTo(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}
