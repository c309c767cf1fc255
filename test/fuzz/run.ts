// `npm run fuzz -- --minutes 10 --seed 7` runs every parser of untrusted bytes in turn, with inputs that one seed
// generates. It fails on an error that is not a refusal, and on an input that costs too much time or memory per
// kilobyte. It stores such an input.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { PARSERS, type Parser } from './parsers.ts';

/** The CPU time that an input may cost: a fixed part, because a first call compiles, and a part for each kilobyte. */
const BASE_MS = 1_500;
const MS_A_KB = 20;
const BASE_MB = 96;
const MB_A_KB = 1;
const BATCH = 100;

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = Number(values.minutes ?? 5);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const endsAt = Date.now() + minutes * 60_000;
let inputs = 0;
let failed = false;

console.log(`seed ${seed}, ${minutes} minutes, ${PARSERS.length} parsers`);
const slowest = new Map<string, number>();
for (let round = 0; !failed && Date.now() < endsAt; round += 1) {
  for (const parser of PARSERS) {
    for (const input of fc.sample(parser.inputs, { numRuns: BATCH, seed: seed + round })) {
      failed ||= !(await isHandled(parser, input));
      inputs += 1;
      if (failed) break;
    }
    if (failed || Date.now() >= endsAt) break;
  }
}
for (const [name, ms] of slowest) console.log(`${name}: at most ${ms.toFixed(1)} ms a kB`);
console.log(failed ? `fuzz FAILED: run it again with --seed ${seed}` : `fuzz passed: ${inputs} inputs`);
process.exitCode = failed ? 1 : 0;

async function isHandled(parser: Parser, input: unknown): Promise<boolean> {
  const kilobytes = Buffer.byteLength(typeof input === 'string' ? input : JSON.stringify(input)) / 1024;
  const before = process.memoryUsage().rss;
  const startedAt = process.cpuUsage();
  try {
    await parser.run(input as never);
  } catch (error) {
    if (!parser.refuses(error))
      return reportFailure(parser, input, `throws ${error instanceof Error ? error.stack : error}`);
  }
  const { user, system } = process.cpuUsage(startedAt);
  const ms = (user + system) / 1_000;
  const megabytes = (process.memoryUsage().rss - before) / 1024 / 1024;
  if (kilobytes >= 1) slowest.set(parser.name, Math.max(slowest.get(parser.name) ?? 0, ms / kilobytes));
  if (ms > BASE_MS + MS_A_KB * kilobytes) return reportFailure(parser, input, `took ${ms.toFixed(0)} ms of CPU`);
  if (megabytes > BASE_MB + MB_A_KB * kilobytes) return reportFailure(parser, input, `took ${megabytes.toFixed(0)} MB`);
  return true;
}

function reportFailure(parser: Parser, input: unknown, what: string): false {
  const file = join(tmpdir(), `tidings-fuzz-${seed}.txt`);
  writeFileSync(file, typeof input === 'string' ? input : JSON.stringify(input));
  console.error(`${parser.name} ${what}; the input is in ${file}`);
  return false;
}
