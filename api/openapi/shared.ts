import { shareErrors } from './errors.ts';
import {
  capitalize,
  type Document,
  findAliases,
  listOperations,
  type OpenApiOperation,
  type OpenApiPart,
  parseReferenceName,
} from './json.ts';

interface Reference {
  $ref: string;
}

/** The description of an alias, which is the path without `/v1`. Only the path under `/v1` has the full description. */
const ALIAS_DESCRIPTION = 'See the operation under `/v1`.';

/**
 * Moves parts of operations to `components`, and replaces them by references. These parts are error responses with
 * their examples, and repeated success responses and parameters. The operations of `/contacts` and `/v1/contacts`, for
 * example, have the same parameters. Changes the document in place.
 */
export function shareParts(document: Document): void {
  const operations = listOperations(document);
  for (const alias of findAliases(document)) {
    if ((alias.description?.length ?? 0) > ALIAS_DESCRIPTION.length) alias.description = ALIAS_DESCRIPTION;
  }
  const errors = shareErrors(document);
  const successResponses = shareResponses(operations);
  const parameters = shareParameters(operations);
  const responses = { ...errors.responses, ...successResponses };
  document.components = { ...document.components, ...errors, responses, parameters };
}

/** Replaces a part by a reference. */
type Use = (ref: Reference) => void;

/**
 * Moves repeated success responses to `components`. A moved response gets the name of its schema. If it has no named
 * schema or the name is taken, it gets the operation id with the status.
 */
function shareResponses(operations: OpenApiOperation[]): Record<string, OpenApiPart> {
  const found = operations.flatMap((operation) =>
    Object.entries(operation.responses).map(([status, part]) => ({
      part,
      names: [
        parseReferenceName(part.content?.['application/json']?.schema?.$ref ?? ''),
        `${toSharedOperationId(operation)}-${status}`,
      ],
      use: (ref: Reference) => {
        operation.responses[status] = ref;
      },
    })),
  );
  return shareRepeated(found, 'responses');
}

function shareParameters(operations: OpenApiOperation[]): Record<string, OpenApiPart> {
  const found = operations.flatMap((operation) =>
    (operation.parameters ?? []).map((part, n, parameters) => {
      const name = capitalize(part.name ?? '');
      return {
        part,
        names: [name, `${toSharedOperationId(operation)}-${name}`],
        use: (ref: Reference) => {
          parameters[n] = ref;
        },
      };
    }),
  );
  return shareRepeated(found, 'parameters');
}

/**
 * Replaces each repeated part by references if that makes the document shorter. Returns the replaced parts by name, for
 * the section of `components`. The name of a part is the first of its `names` that is free.
 */
function shareRepeated(
  found: { part: OpenApiPart; names: string[]; use: Use }[],
  section: 'parameters' | 'responses',
): Record<string, OpenApiPart> {
  const usesByJson = new Map<string, typeof found>();
  for (const one of found) {
    const json = JSON.stringify(one.part);
    const equalParts = usesByJson.get(json);
    if (equalParts) equalParts.push(one);
    else usesByJson.set(json, [one]);
  }
  const shared: Record<string, OpenApiPart> = {};
  for (const [json, uses] of [...usesByJson].sort(([, a], [, b]) => b.length - a.length)) {
    const [first] = uses;
    const name = first?.names.find((one) => one !== '' && !(one in shared));
    if (!first || first.part.$ref || name === undefined) continue;
    const $ref = `#/components/${section}/${name}`;
    const saved = uses.length * (json.length - JSON.stringify({ $ref }).length);
    if (saved <= json.length + name.length) continue;
    shared[name] = first.part;
    for (const { use } of uses) use({ $ref });
  }
  return shared;
}

/** Returns the operation id that both paths of an operation share, capitalized. */
function toSharedOperationId({ operationId, 'x-alias-of': aliasOf = operationId }: OpenApiOperation): string {
  return capitalize(aliasOf);
}
