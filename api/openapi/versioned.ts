import { type Document, parseReferenceName } from './json.ts';

/** Removes all paths that are not under `/v1`. */
export function removeUnversionedPaths(document: Document): void {
  document.paths = Object.fromEntries(Object.entries(document.paths ?? {}).filter(([path]) => path.startsWith('/v1/')));
}

/** Removes the schemas of `components` to which no path, webhook or other component refers, directly or indirectly. */
export function removeUnusedSchemas(document: Document): void {
  const schemas = document.components?.schemas ?? {};
  const used = new Set<string>();
  const { schemas: _, ...others } = document.components ?? {};
  const waiting: unknown[] = [document.paths, document.webhooks, others];
  while (waiting.length > 0) {
    for (const name of listSchemaReferences(waiting.pop())) {
      if (used.has(name)) continue;
      used.add(name);
      waiting.push(schemas[name]);
    }
  }
  for (const name of Object.keys(schemas)) if (!used.has(name)) delete schemas[name];
}

function listSchemaReferences(part: unknown): Set<string> {
  const references = (JSON.stringify(part ?? null).match(/#\/components\/schemas\/[^"]+/g) ?? []).map(
    parseReferenceName,
  );
  return new Set(references);
}
