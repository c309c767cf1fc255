import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../cli/package-root.ts';
import { getProgramEnv } from './program-env.ts';

export interface DemoRun {
  readonly code: number | null;
  /** Standard output and error. */
  readonly output: string;
  /** Files and running processes that remain after the demo. */
  readonly remaining: string[];
}

/** Runs a demo without a terminal, as CI does. It uses a running service only if `home` is given. */
export async function runDemo(
  command: 'demo' | 'demo-channels',
  { home = '/nonexistent/home' }: { home?: string } = {},
): Promise<DemoRun> {
  const folder = mkdtempSync(join(tmpdir(), 'demo-'));
  const child = spawn(process.execPath, [join('dist', 'cli', `${command}.js`)], {
    cwd: packageRoot(),
    env: { ...getProgramEnv(), HOME: process.env.HOME, TMPDIR: folder, TIDINGS_HOME: home, WORKERS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const remaining = [...readdirSync(folder), ...listCommandLines().filter((line) => line.includes(folder))];
  rmSync(folder, { recursive: true, force: true });
  return { code, output, remaining };
}

/** Returns the command lines of all processes, if the system lists them. */
function listCommandLines(): string[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')] : [];
    } catch {
      return []; // The process has ended meanwhile.
    }
  });
}
