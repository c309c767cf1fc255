import { findInnermostReason } from '../database-error.ts';
import type { Deployment } from './deployment.ts';

/** A result of a check. A `warn` and a `fail` say in `remedy` what the user can do. */
export type DoctorFinding =
  | { verdict: 'pass'; message: string }
  | { verdict: 'warn' | 'fail'; message: string; remedy: string };

/** A check, with the name in the report. It may return several findings. */
export interface DoctorCheck {
  readonly name: string;
  run(deployment: Deployment): Promise<DoctorFinding[]> | DoctorFinding[];
}

export interface DoctorReport {
  readonly lines: string[];
  /** 0 if everything passes, 1 if there is a warning, 2 if there is a failure. */
  readonly exitCode: 0 | 1 | 2;
}

/**
 * The time limit of a check. All checks run concurrently, so this limit keeps the whole run within 15 s. It is only for
 * unexpected hangs, because each network request of a check has a shorter limit.
 */
const CHECK_MS = 12_000;
const EXIT_CODES = { pass: 0, warn: 1, fail: 2 } as const;

export const passFinding = (message: string): DoctorFinding => ({ verdict: 'pass', message });
export const warnFinding = (message: string, remedy: string): DoctorFinding => ({ verdict: 'warn', message, remedy });
export const failFinding = (message: string, remedy: string): DoctorFinding => ({ verdict: 'fail', message, remedy });

/**
 * Runs all checks concurrently and reports them in order. A check that fails unexpectedly or takes too long becomes a
 * warning.
 */
export async function runChecks(deployment: Deployment, checks: readonly DoctorCheck[]): Promise<DoctorReport> {
  const found = await Promise.all(
    checks.map(async (check) => (await runCheck(check, deployment)).map((finding) => ({ name: check.name, finding }))),
  );
  return formatReport(found.flat());
}

/**
 * Formats the findings as lines, with each remedy below its problem. The last line has the number of findings of each
 * verdict.
 */
export function formatReport(found: readonly { name: string; finding: DoctorFinding }[]): DoctorReport {
  const width = Math.max(...found.map(({ name }) => name.length));
  const count = (verdict: DoctorFinding['verdict']) =>
    found.filter(({ finding }) => finding.verdict === verdict).length;
  const lines = found.flatMap(({ name, finding }) => [
    `${finding.verdict}  ${name.padEnd(width)}  ${finding.message}`,
    ...('remedy' in finding ? [`${' '.repeat(width + 8)}→ ${finding.remedy}`] : []),
  ]);
  return {
    lines: [...lines, `${count('pass')} pass, ${count('warn')} warn, ${count('fail')} fail`],
    exitCode: Math.max(...found.map(({ finding }) => EXIT_CODES[finding.verdict])) as DoctorReport['exitCode'],
  };
}

async function runCheck(check: DoctorCheck, deployment: Deployment): Promise<DoctorFinding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<DoctorFinding[]>((resolve) => {
    const finding = warnFinding(`not known: no result in ${CHECK_MS / 1000} s`, 'retry, and check the network');
    timer = setTimeout(() => resolve([finding]), CHECK_MS);
  });
  const result = Promise.resolve()
    .then(() => check.run(deployment))
    .catch((error) => [
      warnFinding(`not known: ${findInnermostReason(error)}`, 'fix the error, and run the doctor again'),
    ]);
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}
