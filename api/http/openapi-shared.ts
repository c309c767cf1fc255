import { ERRORS, type ErrorCode } from '../../rules/errors.ts';
import { CODES } from './answers.ts';

interface Operation {
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

/** What fewer operations take in one and the same form reads better where it stands. */
const MIN_USES_OF_SHARED_PARAMETER = 8;

/**
 * Puts what operations have in common once under `components`, with references where it stood: error answers, their examples
 * and the parameters that many take. A quarter of the bytes, and types with names in a generated client. Changes the document
 * in place.
 */
export function shareParts(document: { paths?: object; components?: object }): void {
  const operations: Operation[] = Object.values(document.paths ?? {}).flatMap((item: object) => Object.values(item));
  document.components = { ...document.components, ...shareErrors(operations), parameters: shareParameters(operations) };
}

function shareErrors(operations: Operation[]) {
  const responses: Record<string, ErrorResponse> = {};
  const examples: Record<string, unknown> = {};
  for (const operation of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const codes = CODES in response ? (response[CODES] ?? []) : [];
      if (codes.length === 0 || '$ref' in response) continue;
      const name = codes.map(wordsOf).join('Or');
      responses[name] ??= withSharedExamples(response, Number(status), examples);
      operation.responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return { responses, examples };
}

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

function shareParameters(operations: Operation[]): Record<string, Parameter> {
  const uses = new Map<string, number>();
  for (const parameter of operations.flatMap((operation) => operation.parameters ?? [])) {
    const form = JSON.stringify(parameter);
    uses.set(form, (uses.get(form) ?? 0) + 1);
  }
  const shared: Record<string, Parameter> = {};
  const refer = (parameter: Parameter | Reference): Parameter | Reference => {
    const form = JSON.stringify(parameter);
    if ('$ref' in parameter || (uses.get(form) ?? 0) < MIN_USES_OF_SHARED_PARAMETER) return parameter;
    const name = parameter.name.charAt(0).toUpperCase() + parameter.name.slice(1);
    shared[name] ??= parameter;
    // Another form of the same name stays where it stands.
    return JSON.stringify(shared[name]) === form ? { $ref: `#/components/parameters/${name}` } : parameter;
  };
  for (const operation of operations) {
    if (operation.parameters) operation.parameters = operation.parameters.map(refer);
  }
  return shared;
}

/** `NOT_FOUND` as a name of a component: `NotFound`. */
function wordsOf(code: string): string {
  return code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
