/** The OpenAPI document as plain JSON, limited to the parts that this folder uses. */
export interface Document {
  paths?: Record<string, Record<string, OpenApiOperation>>;
  webhooks?: Record<string, unknown>;
  components?: Components;
}

export interface Components {
  schemas?: Record<string, Schema>;
  responses?: Record<string, OpenApiPart>;
  parameters?: Record<string, OpenApiPart>;
}

export interface OpenApiOperation {
  operationId: string;
  /** Set on an alias: the operation under `/v1`. */
  'x-alias-of'?: string;
  description?: string;
  requestBody?: OpenApiPart;
  responses: Record<string, OpenApiPart>;
  parameters?: OpenApiPart[];
}

/** A parameter, a request body or a response, or a reference to one. */
export interface OpenApiPart {
  $ref?: string;
  name?: string;
  schema?: Schema;
  content?: Record<string, OpenApiContent>;
}

export interface OpenApiContent {
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

/** Returns all operations of the document, without webhooks. */
export function listOperations({ paths = {} }: Document): OpenApiOperation[] {
  return Object.values(paths).flatMap((item) => Object.values(item));
}

/** Returns the operations that are aliases of an operation under `/v1`. New clients use the path under `/v1`. */
export function findAliases(document: Document): Set<OpenApiOperation> {
  return new Set(listOperations(document).filter((operation) => operation['x-alias-of'] !== undefined));
}

/** Returns the schemas directly inside a schema. */
export function listInnerSchemas({ allOf = [], anyOf = [], oneOf = [], items, properties = {} }: Schema): Schema[] {
  return [...allOf, ...anyOf, ...oneOf, ...(items ? [items] : []), ...Object.values(properties)];
}

/** Returns the name at the end of a reference: `Contact` for `#/components/schemas/Contact`. */
export function parseReferenceName(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

export function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
