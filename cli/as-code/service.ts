import { DOCUMENT_MAX_BYTES } from '../../rules/as-code/document-size.ts';
import { StartError } from '../start/error.ts';
import type { ProjectFiles, Resource } from './files.ts';

/** The address of the service, and an API key of the project. */
export interface ServiceAccess {
  url: string;
  key: string;
}

/** The response of `POST /project/apply`. */
export interface ApplyResult {
  created: AppliedResource[];
  updated: (AppliedResource & { changes: string[] })[];
  unchanged: AppliedResource[];
  findings: { code: string; severity: string; message: string }[];
}

interface AppliedResource {
  kind: string;
  slug: string | null;
}

const TIMEOUT_MS = 120_000;

/**
 * Returns the current project.
 * @throws StartError
 */
export async function fetchProject(service: ServiceAccess): Promise<ProjectFiles> {
  const { result } = await request(service, 'GET', '/project/export');
  const kinds = Object.entries(result).filter((entry): entry is [string, Resource[]] => Array.isArray(entry[1]));
  return { settings: result.settings as Record<string, unknown>, kinds: new Map(kinds) };
}

/**
 * Changes the project so that it matches the files. A dry run changes nothing and only returns the changes. The service
 * ignores fields that it does not know. Each of them becomes a finding, because the user would otherwise believe that
 * the field was applied.
 * @throws StartError
 */
export async function applyProject(service: ServiceAccess, files: ProjectFiles, dryRun: boolean): Promise<ApplyResult> {
  const { settings, kinds } = files;
  const present = [...kinds].filter(([, resources]) => resources.length > 0);
  const body = JSON.stringify({ ...Object.fromEntries(present), ...(settings && { settings }), dryRun });
  refuseTooLarge(body);
  const { result, ignored } = await request(service, 'POST', '/project/apply', { body, files });
  const applied = result as unknown as ApplyResult;
  const findings = ignored
    // The service already reports unknown settings.
    .filter((field) => !/^settings\.[^.]+$/.test(field))
    .map((field) => ({
      code: 'unknown_field',
      severity: 'warning',
      message: `${toFilePath(field, files)}: the service does not know this field, so it is not applied.`,
    }));
  return { ...applied, findings: [...applied.findings, ...findings] };
}

/**
 * Refuses a document before it is sent. The service would refuse it too, but may close the connection before the whole
 * body is sent, and then the user would not see why.
 */
function refuseTooLarge(body: string): void {
  const bytes = Buffer.byteLength(body);
  if (bytes <= DOCUMENT_MAX_BYTES) return;
  throw new StartError(
    `The files have ${toMegabytes(bytes)} MB, and a push has at most ${toMegabytes(DOCUMENT_MAX_BYTES)} MB. Move some of the files to another folder and push each folder with --dir: a push does not change resources that its folder does not have.`,
  );
}

/** Rounds up to two decimals, so that a size above a limit never looks like the limit. */
function toMegabytes(bytes: number): number {
  return Math.ceil((bytes / (1024 * 1024)) * 100) / 100;
}

async function request(
  { url, key }: ServiceAccess,
  method: string,
  path: string,
  payload?: { body: string; files: ProjectFiles },
): Promise<{ result: Record<string, unknown>; ignored: string[] }> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...(payload && { 'Content-Type': 'application/json' }) },
      ...(payload && { body: payload.body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await response.text();
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new StartError(`${url} does not respond: ${cause instanceof Error ? cause.message : cause}`);
  }
  const result = parse(text);
  if (response.ok && result) {
    const names = response.headers.get('x-ignored-fields')?.split(', ') ?? [];
    return { result, ignored: names.map(decodeURIComponent) };
  }
  throw new StartError(
    formatError({ path: `${method} ${path}`, status: response.status, result, files: payload?.files }),
  );
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Envelope {
  code?: string;
  message?: string;
  requestId?: string;
  suggestion?: string;
  errors?: { field: string; message: string }[];
  details?: { requiredScope?: string };
}

function formatError(p: {
  path: string;
  status: number;
  result: Record<string, unknown> | undefined;
  files: ProjectFiles | undefined;
}): string {
  const { code, message, requestId, suggestion, errors = [], details } = (p.result?.error ?? {}) as Envelope;
  if (!code) return `${p.path} responded with ${p.status}, but not like Tidings: check TIDINGS_URL.`;
  const lines = [
    `${p.path} responded with ${p.status} ${code}: ${message}`,
    ...(details?.requiredScope ? [`The key needs the scope ${details.requiredScope}.`] : []),
    ...errors.map((error) => `  ${toFilePath(error.field, p.files)}: ${error.message}`),
    ...(errors.length === 0 && suggestion ? [suggestion] : []),
    ...(requestId ? [`Request ${requestId}`] : []),
  ];
  return lines.join('\n');
}

/**
 * Converts the path of a field in the request to the name of a file, for example `templates.3.subject` to
 * `templates/welcome.json subject`.
 */
function toFilePath(field: string, files: ProjectFiles | undefined): string {
  const [, kind = '', index = '', rest = ''] = /^([a-z-]+)\.(\d+)\.?(.*)$/.exec(field) ?? [];
  const resource = files?.kinds.get(kind)?.[Number(index)];
  return resource ? `${kind}/${resource.slug}.${rest === 'body' ? 'html' : 'json'} ${rest}`.trimEnd() : field;
}
