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
 * The search attributes that operators use in the Temporal UI. These attributes contain only ids, types, codes, and the
 * reason that a tenant wrote in an EXIT step, because every user of the UI can read them. The id of the tenant's
 * workflow is `AutomationId`, because Temporal itself uses `WorkflowId`.
 */
const KEYS = {
  /** The short form of the installation's id. Several installations may use the same namespace. */
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

/**
 * The names of all attributes. The type of each attribute is Keyword. The development server registers them before the
 * first workflow starts.
 */
export const SEARCH_ATTRIBUTE_NAMES: readonly string[] = Object.values(KEYS).map((key) => key.name);

/** The value INDEXED_VALUE_TYPE_KEYWORD of Temporal's operator API. */
const INDEXED_VALUE_TYPE_KEYWORD = 2;

/** Builds the search attributes for starting a workflow: the installation and the given ids. */
export function toSearchAttributes(
  { shortId }: InstallationNames,
  ids: Partial<Record<Exclude<keyof typeof KEYS, 'installation' | keyof typeof SET_BY_WORKFLOWS>, string>>,
): SearchAttributePair[] {
  return Object.entries({ installation: shortId, ...ids }).flatMap(([name, value]) =>
    value === undefined ? [] : [{ key: KEYS[name as keyof typeof KEYS], value }],
  );
}

/**
 * Returns the search attributes for a workflow that is restarted. Adds the installation, because workflows of an
 * earlier release have no `Installation` attribute.
 */
export function withInstallation(
  { shortId }: InstallationNames,
  attributes: TypedSearchAttributes,
): TypedSearchAttributes {
  return attributes.updateCopy([{ key: KEYS.installation, value: shortId }]);
}

/**
 * Returns the condition that restricts a visibility query to this installation. Workflows of an earlier release have no
 * `Installation` attribute. If that release used this installation's database, workflows without the attribute are
 * included.
 */
export function buildInstallationCondition({ shortId, hasLegacyWorkflows }: InstallationNames): string {
  const ofInstallation = `Installation = '${shortId}'`;
  return hasLegacyWorkflows ? `(${ofInstallation} OR Installation IS NULL)` : ofInstallation;
}

/** The maximum time to wait until the server accepts new attributes. A server usually needs some seconds. */
const ACCEPT_MAX_MS = 30_000;
const ACCEPT_POLL_MS = 250;
const GRPC_INVALID_ARGUMENT = 3;

/**
 * Registers missing search attributes in the namespace, and waits until the server accepts them, at most
 * `ACCEPT_MAX_MS`. Existing attributes do not change. Safe to run twice, and concurrently on many hosts.
 */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const registered = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(KEYS).filter((key) => !registered.customAttributes?.[key.name]);
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map((key) => [key.name, INDEXED_VALUE_TYPE_KEYWORD])),
  });
  const query = missing.map((key) => `${key.name} IS NULL`).join(' AND ');
  const deadline = Date.now() + ACCEPT_MAX_MS;
  while (!(await acceptsQuery(connection, { namespace, query })) && Date.now() < deadline) await sleep(ACCEPT_POLL_MS);
}

async function acceptsQuery(connection: Connection, p: { namespace: string; query: string }): Promise<boolean> {
  try {
    await connection.workflowService.countWorkflowExecutions(p);
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === GRPC_INVALID_ARGUMENT) return false;
    throw error;
  }
}
