import { text } from '../../../text/text.ts';

const words = text.contacts.timeline;

/** A line of the timeline, in words. */
export interface TimelineLine {
  title: string;
  /** Path of the email, or of the run of the automation. */
  to?: string;
  /** Statuses, step types and reasons: values of the API with their kind. */
  words: { kind: 'email' | 'execution' | 'step' | 'reason' | 'change'; value: string }[];
  /** The campaign or automation that sent the email of the event. */
  cause?: { label: string; to: string };
}

export interface TimelineItem {
  type: string;
  metadata: Record<string, unknown>;
}

/** Formats an item of the timeline in words, with links to its email or run and to the cause. */
export function toTimelineLine({ type, metadata }: TimelineItem): TimelineLine {
  const say = words.types[type] ?? ((what: string) => `${type} ${what}`);
  const line: TimelineLine = { title: say(getSubject(type, metadata)), words: describeEvent(type, metadata) };
  const to = findTargetPath(type, metadata);
  const cause = findCampaignOrAutomation(type, metadata);
  return { ...line, ...(to !== undefined && { to }), ...(cause && { cause }) };
}

function getSubject(type: string, metadata: Record<string, unknown>): string {
  if (type === 'event.triggered') return readText(metadata, 'eventName') ?? '';
  if (type.startsWith('email.')) return readText(metadata, 'subject') ?? words.noSubject;
  if (type === 'sms.received') return readText({ ...(metadata.data as object) }, 'text') ?? '';
  if (type.startsWith('sms.')) return readText(metadata, 'to') ?? '';
  if (type === 'workflow.step') {
    const name = readText(metadata, 'stepName') ?? readText(metadata, 'stepType') ?? '';
    return `${name} · ${readText(metadata, 'workflowName') ?? ''}`;
  }
  return readText(metadata, 'workflowName') ?? '';
}

function describeEvent(type: string, metadata: Record<string, unknown>): TimelineLine['words'] {
  const values: TimelineLine['words'] = [];
  const add = (kind: TimelineLine['words'][number]['kind'], key: string) => {
    const value = readText(metadata, key);
    if (value !== undefined) values.push({ kind, value });
  };
  if (type === 'workflow.step') {
    add('step', 'stepType');
    add('execution', 'status');
    add('reason', 'error');
  }
  if (type === 'workflow.completed') {
    add('execution', 'status');
    add('reason', 'exitReason');
    add('reason', 'error');
  }
  if (type === 'email.failed') add('reason', 'reason');
  if (type === 'contact.subscribed' || type === 'contact.unsubscribed') add('change', 'reason');
  return values;
}

function findTargetPath(type: string, metadata: Record<string, unknown>): string | undefined {
  const emailId = readText(metadata, 'emailId');
  if (type.startsWith('email.') && emailId !== undefined) return `/messages/${emailId}`;
  if (type.startsWith('workflow.')) return findExecutionPath(metadata);
  return undefined;
}

/** Returns the campaign or automation that sent the email of an event; undefined for events without an email. */
function findCampaignOrAutomation(type: string, metadata: Record<string, unknown>): TimelineLine['cause'] {
  if (!type.startsWith('email.')) return undefined;
  const campaignId = readText(metadata, 'campaignId');
  if (campaignId !== undefined) {
    return { label: readText(metadata, 'campaignName') ?? words.of.campaign, to: `/campaigns/${campaignId}` };
  }
  const to = findExecutionPath(metadata);
  return to === undefined ? undefined : { label: readText(metadata, 'workflowName') ?? words.of.automation, to };
}

/** Returns the path of the run that the event belongs to. */
function findExecutionPath(metadata: Record<string, unknown>): string | undefined {
  const workflowId = readText(metadata, 'workflowId');
  const executionId = readText(metadata, 'executionId');
  return workflowId === undefined || executionId === undefined
    ? undefined
    : `/messages/executions/${workflowId}/${executionId}`;
}

function readText(metadata: Record<string, unknown>, key: string): string | undefined {
  const value = metadata[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
