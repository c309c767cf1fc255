import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, isGrpcServiceError } from '@temporalio/client';
import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  SearchAttributeType,
  type TypedSearchAttributes,
} from '@temporalio/common';
import { SET_BY_WORKFLOWS } from '../rules/search-attributes.ts';
import type { InstallationNames } from './names.ts';

/**
 * The search attributes for operators in the Temporal UI. They hold only ids, because every user of the UI reads them.
 * The tenant's workflow is `AutomationId`, because Temporal uses `WorkflowId` itself.
 */
const KEYS = {
  /** The short form of the installation's id, because installations may share a namespace. */
  installation: defineSearchAttributeKey('Installation', SearchAttributeType.KEYWORD),
  projectId: defineSearchAttributeKey('ProjectId', SearchAttributeType.KEYWORD),
  contactId: defineSearchAttributeKey('ContactId', SearchAttributeType.KEYWORD),
  automationId: defineSearchAttributeKey('AutomationId', SearchAttributeType.KEYWORD),
  campaignId: defineSearchAttributeKey('CampaignId', SearchAttributeType.KEYWORD),
  jobKind: defineSearchAttributeKey('JobKind', SearchAttributeType.KEYWORD),
  stepId: defineSearchAttributeKey(SET_BY_WORKFLOWS.stepId, SearchAttributeType.KEYWORD),
  stepType: defineSearchAttributeKey(SET_BY_WORKFLOWS.stepType, SearchAttributeType.KEYWORD),
  outcome: defineSearchAttributeKey(SET_BY_WORKFLOWS.outcome, SearchAttributeType.KEYWORD),
};

/** The names of all attributes, each a Keyword. The dev server registers them before its first workflow. */
export const SEARCH_ATTRIBUTE_NAMES: readonly string[] = Object.values(KEYS).map((key) => key.name);

/** The enum values of Temporal's operator API: INDEXED_VALUE_TYPE_KEYWORD. */
const INDEXED_VALUE_TYPE_KEYWORD = 2;

/** Builds the search attributes of a start: the installation and the given ids. */
export function searchAttributes(
  { shortId }: InstallationNames,
  ids: Partial<Record<Exclude<keyof typeof KEYS, 'installation' | keyof typeof SET_BY_WORKFLOWS>, string>>,
): SearchAttributePair[] {
  return Object.entries({ installation: shortId, ...ids }).flatMap(([name, value]) =>
    value === undefined ? [] : [{ key: KEYS[name as keyof typeof KEYS], value }],
  );
}

/**
 * Returns the search attributes of a workflow that is restarted, with the installation added. Workflows of an earlier
 * release have no `Installation` attribute.
 */
export function withInstallation(
  { shortId }: InstallationNames,
  attributes: TypedSearchAttributes,
): TypedSearchAttributes {
  return attributes.updateCopy([{ key: KEYS.installation, value: shortId }]);
}

/**
 * The condition that scopes a visibility query to this installation. Workflows of an earlier release have no attribute.
 * They count as this installation's when that release ran on its database.
 */
export function installationQuery({ shortId, hasLegacyWorkflows }: InstallationNames): string {
  const own = `Installation = '${shortId}'`;
  return hasLegacyWorkflows ? `(${own} OR Installation IS NULL)` : own;
}

/** The maximum wait for new attributes. A server accepts them some seconds after they were registered. */
const LEARN_MS = 30_000;
const LEARN_POLL_MS = 250;
const GRPC_INVALID_ARGUMENT = 3;

/**
 * Registers the search attributes in the namespace and waits until the server accepts them. Existing ones stay. Safe to
 * repeat, also on many hosts.
 */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const known = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(KEYS).filter((key) => !known.customAttributes?.[key.name]);
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map((key) => [key.name, INDEXED_VALUE_TYPE_KEYWORD])),
  });
  const query = missing.map((key) => `${key.name} IS NULL`).join(' AND ');
  const deadline = Date.now() + LEARN_MS;
  while (!(await isUnderstood(connection, { namespace, query })) && Date.now() < deadline) await sleep(LEARN_POLL_MS);
}

async function isUnderstood(connection: Connection, p: { namespace: string; query: string }): Promise<boolean> {
  try {
    await connection.workflowService.countWorkflowExecutions(p);
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === GRPC_INVALID_ARGUMENT) return false;
    throw error;
  }
}
