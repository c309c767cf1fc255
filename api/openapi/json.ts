/** The OpenAPI document as plain JSON, with the parts that the transformations in this folder use. */
export interface Document {
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, unknown>;
  components?: Components;
}

export interface Components {
  schemas?: Record<string, Schema>;
  responses?: Record<string, Part>;
  parameters?: Record<string, Part>;
}

export interface Operation {
  operationId: string;
  /** The operation under `/v1` that this one is, too. */
  'x-alias-of'?: string;
  description?: string;
  requestBody?: Part;
  responses: Record<string, Part>;
  parameters?: Part[];
}

/** A parameter, a body that is asked for, or an answer; or a reference to one. */
export interface Part {
  $ref?: string;
  name?: string;
  schema?: Schema;
  content?: Record<string, Content>;
}

export interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, unknown>;
}

export interface Schema {
  $ref?: string;
  example?: unknown;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: boolean | Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

export function operationsOf({ paths = {} }: Document): Operation[] {
  return Object.values(paths).flatMap((item) => Object.values(item));
}

/** Operations that answer under `/v1` too, which is the path that new clients use. */
export function aliasesIn(document: Document): Set<Operation> {
  return new Set(operationsOf(document).filter((operation) => operation['x-alias-of'] !== undefined));
}

/** The schemas that stand within a schema, one level deep. */
export function partsOf({ allOf = [], anyOf = [], oneOf = [], items, properties = {} }: Schema): Schema[] {
  return [...allOf, ...anyOf, ...oneOf, ...(items ? [items] : []), ...Object.values(properties)];
}

/** The name that a reference ends with: `Contact` of `#/components/schemas/Contact`. */
export function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

export function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
