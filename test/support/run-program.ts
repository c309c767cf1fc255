import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a program until it ends. Returns its exit code and output. */
export async function runProgram(program: string, args: string[], env = process.env) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  const [code] = await once(child, 'close').catch((cause) => {
    throw new Error(`this test needs ${program} on PATH`, { cause });
  });
  return { code, output: Buffer.concat(output).toString() };
}
