import { lockProjectApply } from '../../../db/as-code.ts';
import type { Db, Trx } from '../../../db/connection.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { AppError } from '../../../rules/errors.ts';
import type { OutboxRow } from '../../../rules/outbox.ts';
import { applyCampaigns } from './apply-campaigns.ts';
import { applySegments } from './apply-segments.ts';
import { applySettings } from './apply-settings.ts';
import { type ApplyState, createApplyState } from './apply-state.ts';
import { applyTemplates } from './apply-templates.ts';
import { applyTopics } from './apply-topics.ts';
import { applyWorkflows } from './apply-workflows.ts';
import type { ProjectDocument } from './input.ts';
import type { Applied } from './response.ts';

/** The scope that a caller needs for each kind of resource in the document. */
const EDIT_SCOPES = {
  topics: 'contacts:edit',
  templates: 'templates:edit',
  segments: 'segments:edit',
  workflows: 'workflows:edit',
  campaigns: 'campaigns:edit',
} as const satisfies Partial<Record<keyof ProjectDocument, string>>;

/** The response to `POST /project/apply`, and the work to do after the commit. */
export interface ApplyOutcome {
  response: Applied;
  outbox: OutboxRow[];
  /** Ids of the segments whose contacts must be counted. */
  segmentsToCount: string[];
  /** The changed settings. */
  settings: Record<string, unknown>;
}

/** Thrown to roll back the transaction of a dry run. Contains the result of the dry run. */
class DryRun extends Error {
  readonly outcome: ApplyOutcome;

  constructor(outcome: ApplyOutcome) {
    super('a dry run leaves nothing');
    this.outcome = outcome;
  }
}

/**
 * Refuses a document if the caller lacks a scope for one of its kinds.
 * @throws AppError FORBIDDEN with the first missing scope
 */
export function refuseMissingScopes(document: ProjectDocument, scopes: ReadonlySet<string>): void {
  for (const [kind, scope] of Object.entries(EDIT_SCOPES)) {
    const items = document[kind as keyof typeof EDIT_SCOPES];
    if (items && items.length > 0 && !scopes.has(scope)) {
      throw new AppError('FORBIDDEN', { details: { requiredScope: scope } });
    }
  }
}

/**
 * Changes a project's resources to match the document, in one transaction. Resources that the document does not name do
 * not change. A dry run makes the same changes and rolls them back, so it shows the exact result. Applying the same
 * document again changes nothing.
 * @param p.onSettings called in the transaction with the changed settings
 * @throws AppError VALIDATION_ERROR, CONFLICT, FORBIDDEN
 */
export async function applyDocument(
  db: Db,
  p: {
    projectId: string;
    secretKey: string;
    allowPrivate: boolean;
    document: ProjectDocument;
    mayManage: boolean;
    onSettings: (trx: Trx, changes: Record<string, unknown>) => Promise<void>;
  },
): Promise<ApplyOutcome> {
  try {
    return await inTransaction(db, async (trx) => {
      const outcome = await applyInTransaction(trx, p);
      if (p.document.dryRun) throw new DryRun(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof DryRun) return { ...error.outcome, outbox: [], segmentsToCount: [], settings: {} };
    throw error;
  }
}

async function applyInTransaction(trx: Trx, p: Parameters<typeof applyDocument>[1]): Promise<ApplyOutcome> {
  const { projectId, secretKey, allowPrivate, document } = p;
  await lockProjectApply(trx, projectId);
  const applying: ApplyState = await createApplyState({ trx, projectId, secretKey, allowPrivate });
  // Each kind is applied after the kinds that it may refer to.
  await applyTopics(applying, document.topics ?? []);
  await applyTemplates(applying, document.templates ?? []);
  await applySegments(applying, document.segments ?? []);
  const settings = document.settings ? await applySettings(applying, document.settings, p.mayManage) : {};
  await applyWorkflows(applying, document.workflows ?? []);
  await applyCampaigns(applying, document.campaigns ?? []);
  if (Object.keys(settings).length > 0) await p.onSettings(trx, settings);
  const { done, outbox, segmentsToCount } = applying;
  return { response: { dryRun: document.dryRun, ...done }, outbox, segmentsToCount, settings };
}
