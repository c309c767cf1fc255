import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { diagnose } from '../../cli/doctor/diagnosis.ts';
import { packageRoot } from '../../cli/package-root.ts';

export interface Diagnosis {
  exitCode: number;
  output: string;
  /** Returns the findings of a check, such as `fail SECRET_KEY can be guessed`, with the remedy after ` → `. */
  of(check: string): string[];
}

/**
 * Runs `npm run doctor` for this environment, in this process, and returns its report. Starting a process would cost
 * more than the check.
 */
export async function runDoctorInProcess(env: Record<string, string>, words: string[] = []): Promise<Diagnosis> {
  const { lines, exitCode } = await diagnose(env, words);
  const output = `${lines.join('\n')}\n`;
  return { exitCode, output, of: (check) => findLines(output, check) };
}

/** Runs `npm run doctor` in its own process, with this environment only. */
export async function runDoctor(env: Record<string, string>, words: string[] = []): Promise<Diagnosis> {
  const child = spawn(process.execPath, [join(packageRoot(), 'dist', 'cli', 'doctor.js'), ...words], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const [exitCode] = await once(child, 'close');
  return { exitCode, output, of: (check) => findLines(output, check) };
}

function findLines(output: string, check: string): string[] {
  const joined = output.replaceAll(/\n +→ /g, ' → ').split('\n');
  return joined.flatMap((line) => {
    const [, verdict, name = '', says] = /^(pass|warn|fail) {2}(.*?) {2,}(.*)$/.exec(line) ?? [];
    return name === check ? [`${verdict} ${says}`] : [];
  });
}
