// Creates a migration: `npm run migration:new -- campaign-lanes` writes db/migrations/20261121T1030-campaign-lanes.ts
// and adds it to db/migrations.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [name] = process.argv.slice(2);
if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name ?? '')) {
  console.error('Usage: npm run migration:new -- <name>, lower-case words with dashes such as campaign-lanes');
  process.exit(1);
}
const stamp = new Date().toISOString().replace(/[-:]/g, '').slice(0, 13);
const id = `${stamp}-${name}`;
const list = join(import.meta.dirname, 'migrations.ts');
const identifier = name.replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase());
const before = readFileSync(list, 'utf8');
if (new RegExp(`\\* as ${identifier} from`).test(before)) {
  console.error(`A migration named ${name} already exists. Choose another name.`);
  process.exit(1);
}

const template = `import { type Kysely, sql } from 'kysely';

/** The purpose of this migration. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql\`SELECT 1\`.execute(db);
}
`;
writeFileSync(join(import.meta.dirname, 'migrations', `${id}.ts`), template, { flag: 'wx' });
writeFileSync(list, register(before));
console.log(`db/migrations/${id}.ts: write it, and its types in db/schema/.`);

/** Adds the migration after the last import, and at the end of the list. */
function register(source) {
  const lines = source.split('\n');
  const lastImport = lines.findLastIndex((line) => line.startsWith('import '));
  lines.splice(lastImport + 1, 0, `import * as ${identifier} from './migrations/${id}.ts';`);
  lines.splice(lines.lastIndexOf('};'), 0, `  '${id}': ${identifier},`);
  return lines.join('\n');
}
