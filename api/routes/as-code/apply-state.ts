import type { z } from 'zod';
import type { Trx } from '../../../db/connection.ts';
import { isVerifiedSender } from '../../../db/domains/senders.ts';
import { mapIdsBySlug } from '../../../db/records/slugs.ts';
import type { Names, UnknownName } from '../../../rules/as-code/references.ts';
import { AppError } from '../../../rules/errors.ts';
import type { OutboxRow } from '../../../rules/outbox.ts';
import { parseWithOlderRules } from '../../../rules/stored-values.ts';
import { toFieldErrors } from '../../http/field-errors.ts';
import type { Applied, ApplyFinding, Kind } from './response.ts';

/** State of a running `POST /project/apply`. `trx` contains all its changes. */
export interface ApplyState {
  trx: Trx;
  projectId: string;
  secretKey: string;
  /** Whether WEBHOOK steps may call private addresses. */
  allowPrivate: boolean;
  /** Ids by slug for each kind of resource, including the resources that this request created. */
  ids: { [Name in keyof Names]: Map<string, string> };
  /** The results so far, for the response. */
  done: Omit<Applied, 'dryRun'>;
  outbox: OutboxRow[];
  /** Ids of segments that are new or have a new condition. Their contacts are counted after the commit. */
  segmentsToCount: string[];
}

export async function createApplyState(
  p: Pick<ApplyState, 'trx' | 'projectId' | 'secretKey' | 'allowPrivate'>,
): Promise<ApplyState> {
  const { trx, projectId } = p;
  return {
    ...p,
    ids: {
      template: await mapIdsBySlug(trx, { projectId, table: 'templates' }),
      segment: await mapIdsBySlug(trx, { projectId, table: 'segments' }),
      topic: await mapIdsBySlug(trx, { projectId, table: 'topics' }),
    },
    done: { created: [], updated: [], unchanged: [], findings: [] },
    outbox: [],
    segmentsToCount: [],
  };
}

interface Ref {
  kind: Kind;
  slug: string | null;
  name: string | null;
}

/** Records the result for a resource. `changes` is undefined for a new resource. */
export function recordChange({ done }: ApplyState, { kind, slug, name }: Ref, changes: string[] | undefined): void {
  if (changes === undefined) done.created.push({ kind, slug, name });
  else if (changes.length > 0) done.updated.push({ kind, slug, name, changes });
  else done.unchanged.push({ kind, slug, name });
}

export function addFinding({ done }: ApplyState, finding: ApplyFinding): void {
  done.findings.push(finding);
}

/**
 * Checks whether an address is on a verified domain of the project, and returns the result. If it is not, adds a
 * finding to the response. `outcome` is the end of the finding's message, such as "the sender does not change".
 */
export async function checkSender(
  applying: ApplyState,
  from: string,
  of: Record<string, unknown>,
  outcome = 'the sender does not change',
): Promise<boolean> {
  if (await isVerifiedSender(applying.trx, { projectId: applying.projectId, from })) return true;
  addFinding(applying, {
    code: 'sender_not_verified',
    severity: 'warning',
    message: `${from} is not on a verified domain of this project: ${outcome}.`,
    details: { ...of, from },
  });
  return false;
}

/**
 * Parses an input by a schema.
 * @param isStored tells whether the stored record already has the value at a path. Such a value is accepted even if a
 * newer rule forbids it
 * @throws AppError VALIDATION_ERROR whose field names start with `at`
 */
export function parseItem<T>(
  schema: z.ZodType<T, unknown>,
  input: unknown,
  at: string,
  isStored: (path: readonly PropertyKey[]) => boolean = () => false,
): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const changed = result.error.issues.filter(({ path }) => !isStored(path));
  if (changed.length === 0) return parseWithOlderRules(() => parseItem(schema, input, at));
  const errors = toFieldErrors(changed, input);
  throw new AppError('VALIDATION_ERROR', { errors: errors.map((error) => prefixField(at, error)) });
}

/** @throws AppError VALIDATION_ERROR with an error for each unknown slug, unless the list is empty */
export function refuseUnknownSlugs(names: readonly UnknownName[], at: string): void {
  if (names.length === 0) return;
  const errors = names.map(({ kind, name, path }) => {
    const message = `There is no ${kind} with the slug ${name} in this document or in the project.`;
    return { field: [at, ...path].filter((part) => part !== '').join('.'), message, code: 'custom' };
  });
  throw new AppError('VALIDATION_ERROR', { errors });
}

/**
 * Runs `work` and returns its result. If it throws a VALIDATION_ERROR, adds `prefix` to the field names of the error.
 */
export async function withFieldPrefix<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error;
    const { message, details, errors = [], suggestion, cause } = error;
    throw new AppError('VALIDATION_ERROR', {
      message,
      suggestion,
      cause,
      ...(details && { details }),
      errors: errors.map((fieldError) => prefixField(prefix, fieldError)),
    });
  }
}

function prefixField<E extends { field: string }>(prefix: string, error: E): E {
  return { ...error, field: [prefix, error.field].filter(Boolean).join('.') };
}
