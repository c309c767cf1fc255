import { ERRORS, type ErrorCode } from '../../rules/errors.ts';
import { CODES } from './answers.ts';

interface Operation {
  operationId: string;
  description?: string;
  responses: Record<string, ErrorResponse | Reference>;
  parameters?: (Parameter | Reference)[];
}
interface ErrorResponse {
  [CODES]?: ErrorCode[];
  content?: Record<string, { examples?: Record<string, unknown> }>;
}
interface Parameter {
  name: string;
}
interface Reference {
  $ref: string;
}

/** What is shorter than this reads better where it stands. */
const MIN_SHARED_BYTES = 120;

/**
 * Puts what operations have in common once under `components`, with references where it stood: error answers and their
 * examples, and the answers and parameters that two operations have in one form, as those at both of their paths do. A
 * third of the bytes. Changes the document in place.
 */
export function shareParts(document: { paths?: object; components?: object }): void {
  const operations: Operation[] = Object.values(document.paths ?? {}).flatMap((item: object) => Object.values(item));
  shareDescriptions((document.paths ?? {}) as Record<string, Record<string, Operation>>);
  const errors = shareErrors(operations);
  const answers = shareAnswers(operations);
  const parameters = shareParameters(operations);
  const responses = { ...errors.responses, ...answers };
  document.components = { ...document.components, ...errors, responses, parameters };
}

/** What answers at two paths is described at the one that new clients use. */
function shareDescriptions(paths: Record<string, Record<string, Operation>>): void {
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (!paths[`/v1${path}`]?.[method]) continue;
      const elsewhere = `As at \`/v1${path}\`.`;
      if ((operation.description?.length ?? 0) > elsewhere.length) operation.description = elsewhere;
    }
  }
}

/**
 * An error answer is named by its status; where a status has several forms, the one used most is, and the others name
 * their codes too.
 */
function shareErrors(operations: Operation[]) {
  const examples: Record<string, unknown> = {};
  const forms = new Map<string, { status: string; codes: ErrorCode[]; response: ErrorResponse; uses: Use[] }>();
  for (const operation of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const codes = CODES in response ? (response[CODES] ?? []) : [];
      if (codes.length === 0 || '$ref' in response) continue;
      const key = `${status} ${codes.join(' ')}`;
      const form = forms.get(key) ?? { status, codes, response, uses: [] };
      form.uses.push((ref) => {
        operation.responses[status] = ref;
      });
      forms.set(key, form);
    }
  }
  const responses: Record<string, ErrorResponse> = {};
  for (const { status, codes, response, uses } of [...forms.values()].sort((a, b) => b.uses.length - a.uses.length)) {
    const name = status in responses ? [status, ...codes].join('-') : status;
    responses[name] = withSharedExamples(response, Number(status), examples);
    for (const use of uses) use({ $ref: `#/components/responses/${name}` });
  }
  return { responses, examples };
}

/** Puts a reference where a part stood. */
type Use = (ref: Reference) => void;

function withSharedExamples(response: ErrorResponse, status: number, shared: Record<string, unknown>): ErrorResponse {
  const refer = ([code, example]: [string, unknown]) => {
    const name = ERRORS[code as ErrorCode].status === status ? code : `${code}_${status}`;
    shared[name] = example;
    return [code, { $ref: `#/components/examples/${name}` }];
  };
  const content = Object.entries(response.content ?? {}).map(([type, { examples = {}, ...rest }]) => [
    type,
    { ...rest, examples: Object.fromEntries(Object.entries(examples).map(refer)) },
  ]);
  return { ...response, content: Object.fromEntries(content) };
}

/** Answers of success, named by the operation that gives them. */
function shareAnswers(operations: Operation[]): Record<string, object> {
  const found = operations.flatMap((operation) =>
    Object.entries(operation.responses).map(([status, part]) => ({
      part,
      names: [`${nameOf(operation)}-${status}`],
      use: (ref: Reference) => {
        operation.responses[status] = ref;
      },
    })),
  );
  return share(found, 'responses');
}

function shareParameters(operations: Operation[]): Record<string, object> {
  const found = operations.flatMap((operation) =>
    (operation.parameters ?? []).map((part, n, parameters) => {
      const name = 'name' in part ? capital(part.name) : '';
      return {
        part,
        names: [name, `${nameOf(operation)}-${name}`],
        use: (ref: Reference) => {
          parameters[n] = ref;
        },
      };
    }),
  );
  return share(found, 'parameters');
}

/**
 * What has been found in one form more than once, by the first of its names that is free; references stand where it
 * stood.
 */
function share(
  found: { part: object; names: string[]; use: Use }[],
  section: 'parameters' | 'responses',
): Record<string, object> {
  const byForm = new Map<string, typeof found>();
  for (const one of found) {
    const form = JSON.stringify(one.part);
    const same = byForm.get(form);
    if (same) same.push(one);
    else byForm.set(form, [one]);
  }
  const shared: Record<string, object> = {};
  for (const [form, uses] of [...byForm].sort(([, a], [, b]) => b.length - a.length)) {
    const [first] = uses;
    if (!first || uses.length < 2 || '$ref' in first.part || form.length < MIN_SHARED_BYTES) continue;
    const name = first.names.find((one) => !(one in shared));
    if (name === undefined) continue;
    shared[name] = first.part;
    for (const { use } of uses) use({ $ref: `#/components/${section}/${name}` });
  }
  return shared;
}

/** The same at both paths of an operation. */
function nameOf({ operationId }: Operation): string {
  return capital(operationId.replace(/V1$/, ''));
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
