import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Matches files in bench/ that are not benches, but modules of benches. */
const PARTS = /^(bare-|campaign-(baselines|content|stage)|tenants-|smtp-sink|stack|kill-)/;
const folder = join(import.meta.dirname, '..', 'bench');
const benches = readdirSync(folder)
  .filter((file) => file.endsWith('.js') && !PARTS.test(file))
  .map((file) => file.slice(0, -'.js'.length));

// `npm run bench -- <name> [options]`: runs one bench in this process, together with its baseline.
const [name, ...options] = process.argv.slice(2);
if (name === undefined || !benches.includes(name)) {
  console.error(`Usage: npm run bench -- <name> [options]; the benches: ${benches.join(', ')}`);
  process.exit(1);
}
process.argv = [process.argv[0] ?? 'node', join(folder, `${name}.js`), ...options];
await import(pathToFileURL(join(folder, `${name}.js`)).href);
