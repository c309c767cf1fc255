import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SLUG_PATTERN } from '../../rules/slug.ts';
import { StartError } from '../start/error.ts';

/** A resource in a project's export. */
export interface Resource {
  slug: string;
  [field: string]: unknown;
}

/** A project in the form that `GET /project/export` returns and `POST /project/apply` accepts. */
export interface ProjectFiles {
  settings?: Record<string, unknown>;
  kinds: Map<string, Resource[]>;
}

/** The kinds of resources. Each kind has a folder of the same name. A newer service may return more kinds. */
export const KINDS = ['templates', 'segments', 'topics', 'workflows', 'campaigns'];
const SETTINGS = 'settings.json';

/**
 * Reads the files of a project from a folder: `settings.json`, and for each resource `<kind>/<slug>.json` with the body
 * in `<slug>.html`.
 * @throws StartError that names the invalid file
 */
export function readFiles(folder: string): ProjectFiles {
  if (listFolder(folder) === undefined)
    throw new StartError(`The folder ${folder} does not exist: run pull first, or set --dir.`);
  const kinds = new Map(KINDS.map((kind) => [kind, readResources(join(folder, kind))]));
  const settings = listFolder(folder)?.includes(SETTINGS) ? readJson(join(folder, SETTINGS)) : undefined;
  return { kinds, ...(settings && { settings }) };
}

function readResources(folder: string): Resource[] {
  const names = listFolder(folder) ?? [];
  const bodies = new Set(names.filter((name) => name.endsWith('.html')));
  const resources = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const slug = name.slice(0, -'.json'.length);
      if (!SLUG_PATTERN.test(slug)) throw new StartError(`${join(folder, name)}: the file name is not a slug.`);
      const fields = readJson(join(folder, name));
      const html = `${slug}.html`;
      return { ...fields, ...(bodies.delete(html) && { body: readFileSync(join(folder, html), 'utf8') }), slug };
    });
  const [orphan] = bodies;
  if (orphan) throw new StartError(`${join(folder, orphan)}: ${orphan.replace(/html$/, 'json')} is missing beside it.`);
  return resources;
}

function readJson(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new StartError(`${path}: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new StartError(`${path}: the file must contain a JSON object.`);
}

/**
 * Writes the project to the folder, and removes files of resources that are not in the project. Returns the changed
 * paths.
 */
export function writeFiles(folder: string, { settings, kinds }: ProjectFiles): string[] {
  const wanted = new Map<string, string>();
  if (settings) wanted.set(SETTINGS, toJsonText(settings));
  for (const [kind, resources] of kinds) {
    if (!/^[a-z][a-z-]*$/.test(kind)) throw new StartError(`The service returned an invalid kind: ${kind}`);
    for (const { slug, ...fields } of resources) {
      // The slug becomes a file name, so the service's response must not contain anything else.
      if (!SLUG_PATTERN.test(slug)) throw new StartError(`The service returned an invalid slug: ${kind}/${slug}`);
      const { body, ...rest } = fields;
      const isHtml = typeof body === 'string';
      wanted.set(join(kind, `${slug}.json`), toJsonText(isHtml ? rest : fields));
      if (isHtml) wanted.set(join(kind, `${slug}.html`), body);
    }
  }
  const changed = [...wanted]
    .filter(([path, content]) => writeIfChanged(join(folder, path), content))
    .map(([path]) => path);
  return [...changed, ...removeUnwantedFiles(folder, [...kinds.keys()], wanted)];
}

function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function writeIfChanged(path: string, content: string): boolean {
  mkdirSync(join(path, '..'), { recursive: true });
  try {
    if (readFileSync(path, 'utf8') === content) return false;
  } catch {
    // The file does not exist yet.
  }
  writeFileSync(path, content);
  return true;
}

function removeUnwantedFiles(folder: string, kinds: string[], wanted: ReadonlyMap<string, string>): string[] {
  const found = kinds.flatMap((kind) => (listFolder(join(folder, kind)) ?? []).map((name) => join(kind, name)));
  const removedPaths = found.filter((path) => /\.(json|html)$/.test(path) && !wanted.has(path));
  for (const path of removedPaths) rmSync(join(folder, path));
  return removedPaths.map((path) => `${path} (removed)`);
}

function listFolder(folder: string): string[] | undefined {
  try {
    return readdirSync(folder).sort();
  } catch {
    return undefined;
  }
}
