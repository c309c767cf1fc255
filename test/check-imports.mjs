/**
 * Checks which rooms import each other (docs/ARCHITECTURE.md), and prints one line for each wrong import. Also checks
 * these rules: Only cli/ reads environment variables. Workflows import nothing that is large or not deterministic.
 * `db/` has queries only and few cycles of imports. The files of the dashboard have no cycle of imports.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Rooms, or single modules, that a room may import; `types` only with `import type`. */
const RULES = {
  rules: { values: [], types: [] },
  db: { values: ['rules'], types: [] },
  engine: { values: ['rules', 'db'], types: [] },
  compute: { values: ['rules', 'db', 'engine', 'channels/email'], types: [] },
  channels: { values: ['rules'], types: [] },
  activities: { values: ['compute', 'db', 'engine', 'channels', 'rules', 'temporal'], types: [] },
  workflows: { values: ['rules'], types: ['activities'] },
  temporal: { values: ['rules'], types: ['workflows'] },
  web: { values: ['rules'], types: [] },
  dashboard: { values: ['packages/client/src/operations.generated'], types: [] },
  api: {
    values: [
      'compute',
      'db',
      'engine',
      'rules',
      'channels/assets',
      'channels/dns',
      'channels/inbound',
      'channels/public-address',
      'channels/relay',
      'temporal/lifecycle',
      'web',
    ],
    types: ['temporal'],
  },
};
/** Rooms that may import every other room. */
const FREE_ROOMS = ['worker', 'cli', 'bench', 'test'];
/** Folders that are not rooms of the service; imports from them are listed. */
const OUTSIDE = ['packages'];
const ENV_ROOMS = new Set(['cli', 'bench', 'test']);
/** The first file runs only at build time. The second file shows example code that contains `process.env`. */
const ENV_FILES = new Set(['dashboard/vite.config.ts', 'dashboard/parts/typescript-of.ts']);
/**
 * zod costs 28 ms and 500 KB for each workflow. The other modules do not exist in workflows or are not deterministic.
 */
const FORBIDDEN_IN_WORKFLOWS = /^(zod|node:.*|pg|kysely|@temporalio\/(client|worker|activity))$/;
const IMPORT = /^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm;

/**
 * The maximum number of files of `db/` without SQL, such as the migrator and group commit. Code that makes decisions
 * belongs in `engine/`.
 */
const DB_FILES_WITHOUT_SQL_MAX = 16;
/** The maximum number of pairs of folders of `db/` that import each other. */
const DB_TWO_WAY_PAIRS_MAX = 12;
/** The maximum number of files of `db/` in one cycle of imports. Imports of types count too. */
const DB_CYCLE_MAX = 4;
const SQL = /\b(?:sql|prepared)(?:<[^`]*?>)?`|\.(?:selectFrom|insertInto|updateTable|deleteFrom)\(|\bsql\.raw\b/;

const violations = [
  ...listStaleNames(),
  ...checkDb(),
  ...checkDashboard(),
  ...[...Object.keys(RULES), ...FREE_ROOMS].flatMap((room) =>
    listSources(join(ROOT, room)).flatMap((file) => checkFile(room, file)),
  ),
];
for (const violation of violations) console.error(violation);
process.exitCode = violations.length === 0 ? 0 : 1;

/** Lists names in the rules above that no longer exist, because a rule about a missing file checks nothing. */
function listStaleNames() {
  const modules = Object.values(RULES).flatMap(({ values, types }) => [...values, ...types]);
  const missing = [...new Set([...modules, ...OUTSIDE, ...ENV_FILES])].filter(
    (path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, `${path}.ts`)),
  );
  return missing.map((path) => `test/check-imports.mjs names ${path}, which is not there`);
}

function checkFile(room, file) {
  const text = readFileSync(file, 'utf8');
  const name = relative(ROOT, file);
  const found = [];
  for (const match of text.matchAll(IMPORT)) {
    const problem = findProblem({ room, file, target: match[2] ?? match[3], typeOnly: match[1] !== undefined });
    if (problem) found.push(`${name}:${getLineNumber(text, match.index)} ${problem}`);
  }
  if (!ENV_ROOMS.has(room) && !ENV_FILES.has(name) && !isTest(file)) {
    for (const match of text.matchAll(/\bprocess\.env\b/g)) {
      found.push(
        `${name}:${getLineNumber(text, match.index)} reads process.env, which only cli/ may: take it from the config`,
      );
    }
  }
  return found;
}

function findProblem({ room, file, target, typeOnly }) {
  if (!target.startsWith('.')) {
    const forbidden = room === 'workflows' && !typeOnly && !isTest(file) && FORBIDDEN_IN_WORKFLOWS.test(target);
    return forbidden ? `imports ${target}, which a workflow may not` : undefined;
  }
  const rule = RULES[room];
  const path = relative(ROOT, resolve(dirname(file), target)).replace(/\.(ts|js)$/, '');
  const other = path.split('/')[0];
  if (rule === undefined || other === room || ![...Object.keys(RULES), ...FREE_ROOMS, ...OUTSIDE].includes(other))
    return undefined;
  if (isTest(file) && other === 'test') return undefined;
  const allowed = typeOnly ? [...rule.values, ...rule.types] : rule.values;
  if (allowed.some((entry) => path === entry || path.startsWith(`${entry}/`))) return undefined;
  return `imports ${typeOnly ? 'types of ' : ''}${path}: ${room} may import ${rule.values.join(', ') || 'no other room'}${
    rule.types.length > 0 ? `, and types of ${rule.types.join(', ')}` : ''
  }`;
}

/** Checks that `db/` has queries only: few files without SQL, and few cycles of imports. */
function checkDb() {
  const files = listSources(join(ROOT, 'db'))
    .map((file) => relative(ROOT, file))
    .filter((file) => !isTest(file) && !file.startsWith('db/migrations/'));
  const imports = new Map(files.map((file) => [file, listImports(file).filter((target) => files.includes(target))]));
  const withoutSql = files.filter(
    (file) => !file.startsWith('db/schema/') && !SQL.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  const twoWay = findTwoWayPairs(imports);
  const cycles = findCycles(imports).filter((cycle) => cycle.length > DB_CYCLE_MAX);
  return [
    ...(withoutSql.length > DB_FILES_WITHOUT_SQL_MAX
      ? [
          `${withoutSql.length} files of db/ hold no SQL, more than ${DB_FILES_WITHOUT_SQL_MAX}: ${withoutSql.join(', ')}`,
        ]
      : []),
    ...(twoWay.length > DB_TWO_WAY_PAIRS_MAX
      ? [`${twoWay.length} pairs of folders of db/ import each other: ${twoWay.join(', ')}`]
      : []),
    ...cycles.map((cycle) => `${cycle.length} files of db/ need each other: ${cycle.join(', ')}`),
  ];
}

/**
 * Finds files of the dashboard that import each other in a cycle, also for types only, because such files can only be
 * understood together. The lazy `import('…')` of a route does not count: the screen that it loads needs the types of the route's
 * address.
 */
function checkDashboard() {
  const files = listSources(join(ROOT, 'dashboard'))
    .map((file) => relative(ROOT, file))
    .filter((file) => !isTest(file));
  const imports = new Map(
    files.map((file) => [file, listStaticImports(file).filter((target) => files.includes(target))]),
  );
  return findCycles(imports).map(
    (cycle) =>
      `${cycle.length} files of dashboard/ import each other: ${cycle.join(', ')}. Move the type that they share into a file of its own`,
  );
}

function listImports(file) {
  return listTargets(file, (match) => match[2] ?? match[3]);
}

/** Returns the imports of a file without the lazy ones. */
function listStaticImports(file) {
  return listTargets(file, (match) => match[2]);
}

function listTargets(file, nameOf) {
  return [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)]
    .flatMap((match) => nameOf(match) ?? [])
    .filter((target) => target.startsWith('.'))
    .map((target) => relative(ROOT, resolve(ROOT, dirname(file), target)));
}

function findTwoWayPairs(imports) {
  const pairs = new Set();
  for (const [file, targets] of imports)
    for (const target of targets) pairs.add(`${dirname(file)} and ${dirname(target)}`);
  return [...pairs].filter((pair) => {
    const [from, to] = pair.split(' and ');
    return from < to && pairs.has(`${to} and ${from}`);
  });
}

/**
 * Returns the groups of files in which each file imports every other file, directly or through other files of the group
 * (Tarjan's strongly connected components).
 */
function findCycles(imports) {
  const [order, low, onStack, stack, cycles] = [new Map(), new Map(), new Set(), [], []];
  const visit = (file) => {
    order.set(file, order.size);
    low.set(file, order.get(file));
    stack.push(file);
    onStack.add(file);
    for (const target of imports.get(file)) {
      if (!order.has(target)) visit(target);
      if (onStack.has(target)) low.set(file, Math.min(low.get(file), low.get(target)));
    }
    if (low.get(file) !== order.get(file)) return;
    const cycle = stack.splice(stack.indexOf(file));
    for (const member of cycle) onStack.delete(member);
    if (cycle.length > 1) cycles.push(cycle);
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return cycles;
}

function listSources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listSources(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function isTest(file) {
  return file.endsWith('.test.ts');
}

function getLineNumber(text, index) {
  return text.slice(0, index).split('\n').length;
}
