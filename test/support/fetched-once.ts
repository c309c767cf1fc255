import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns a folder in the user's cache folder with downloaded files that a test needs. The folder is filled once for
 * each machine, without root rights, and nothing is installed. If the folder cannot be filled, returns `refusal` and
 * the reason as one text. In CI, throws an error with that text, so that no test is skipped there.
 */
export async function fetchOnce(p: {
  /** The name of the folder. The folders in it are named by a hash of `wanted`. */
  kind: string;
  /** Everything that determines the content of the folder. */
  wanted: string;
  refusal: string;
  /** Fills the given folder, and returns the path of the result in the folder. */
  fetch: (staging: string) => Promise<string>;
}): Promise<{ root: string } | string> {
  const key = createHash('sha256').update(p.wanted).digest('hex').slice(0, 12);
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tidings', p.kind);
  const root = join(folder, key);
  if (existsSync(root)) return { root };
  const staging = join(folder, `.staging-${key}-${process.pid}`);
  try {
    mkdirSync(staging, { recursive: true });
    moveFolder(await p.fetch(staging), root);
    return { root };
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    if (process.env.CI) throw new Error(`${p.refusal}: ${why}`);
    return `${p.refusal}: ${why.split('\n').at(-1)}`;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Moves the filled folder to its final path, unless another test process has done so. */
function moveFolder(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}
