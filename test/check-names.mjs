/**
 * Checks two rules about names (CONTRIBUTING.md): no two exported types have the same name, except the types in
 * `MIRRORED`, and the name of a function with an effect does not start with a participle. Prints one line for each name
 * that breaks a rule.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const DASHBOARD = 'dashboard';
const ROOMS = [
  ...['activities', 'api', 'bench', 'channels', 'cli', 'compute', 'db', 'engine', 'rules', 'temporal', 'test'],
  ...['web', 'worker', 'workflows'],
];

/** Types of the dashboard that mean the same as the service's type of the same name, as the API returns it. */
const MIRRORED = new Set([
  ...['Campaign', 'CampaignStatus', 'Contact', 'Email', 'Execution', 'FieldKind', 'Graph', 'Invitation'],
  ...['LoggedRequest', 'Operator', 'Role', 'Scalar', 'Step', 'StepType', 'Template', 'TimelineItem', 'Topic'],
  ...['Transition', 'Unit', 'VisitStatus', 'Workflow', 'WorkflowDetail'],
]);

const EXPORTED_TYPE = /^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm;
/** Patterns of functions with an effect: async functions, and functions that return a promise or nothing. */
const ACTING = [
  /\basync function\*? (\w+)/g,
  /\bconst (\w+) = async\b/g,
  /^ +async (\w+)\(/gm,
  /\b(?:function |const )(\w+)(?:<[^(\n]*>)?(?: = )?\([^\n]*\): (?:Promise<[^\n]*>|void) (?:\{|=>)$/gm,
];
const IRREGULAR = new Set(
  'begun bought brought built caught chosen done drawn found given gone held kept known left lost made paid seen sent shown spent taken told written'.split(
    ' ',
  ),
);
/** Verbs and nouns that only look like participles. */
const NO_PARTICIPLES = new Set(['embed', 'exceed', 'feed', 'need', 'proceed', 'seed', 'speed', 'succeed']);

const service = mapTypesToFiles(ROOMS.flatMap((room) => listSources(join(ROOT, room))));
const dashboard = mapTypesToFiles(listSources(join(ROOT, DASHBOARD)));
const violations = [
  ...describeDuplicates(service),
  ...describeDuplicates(dashboard),
  ...[...dashboard].flatMap(([name, files]) =>
    service.has(name) && !MIRRORED.has(name) ? [describeDuplicate(name, [...files, ...service.get(name)])] : [],
  ),
  ...[...MIRRORED].flatMap((name) =>
    dashboard.has(name) && service.has(name) ? [] : [`test/check-names.mjs names ${name}, which is not in both`],
  ),
  ...[...ROOMS, DASHBOARD].flatMap((room) => listSources(join(ROOT, room)).flatMap(findParticiples)),
];
for (const violation of violations) console.error(violation);
process.exitCode = violations.length === 0 ? 0 : 1;

/** Maps each exported type to the files that export it. */
function mapTypesToFiles(files) {
  const types = new Map();
  for (const file of files)
    for (const [, name] of readFileSync(file, 'utf8').matchAll(EXPORTED_TYPE))
      types.set(name, [...(types.get(name) ?? []), relative(ROOT, file)]);
  return types;
}

function describeDuplicates(types) {
  return [...types].flatMap(([name, files]) => (files.length > 1 ? [describeDuplicate(name, files)] : []));
}

function describeDuplicate(name, files) {
  return `The type ${name} is exported by ${files.join(' and ')}: name each by its own meaning`;
}

function findParticiples(file) {
  const text = readFileSync(file, 'utf8');
  return ACTING.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(({ 1: name, index }) =>
      name !== undefined && isParticiple(/^[a-z]+/.exec(name)?.[0] ?? '')
        ? [
            `${relative(ROOT, file)}:${getLineNumber(text, index)} names an action ${name}: begin with a verb, such as read or wait`,
          ]
        : [],
    ),
  );
}

function isParticiple(word) {
  return IRREGULAR.has(word) || (word.endsWith('ed') && !NO_PARTICIPLES.has(word));
}

function listSources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listSources(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function getLineNumber(text, index) {
  return text.slice(0, index).split('\n').length;
}
