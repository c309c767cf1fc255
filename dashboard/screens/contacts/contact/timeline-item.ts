import { text } from '../../../text/text.ts';

const words = text.contacts.timeline;

/** A line of the timeline, in words. */
export interface TimelineLine {
  title: string;
  /** Link to the email, automation or campaign. */
  to?: string;
  /** Statuses, reasons or the actor: values of the API with their kind. */
  words: { kind: 'email' | 'execution' | 'step' | 'reason' | 'change'; value: string }[];
  /** Its cause. */
  cause?: { label: string; to: string };
}

export interface TimelineItem {
  type: string;
  metadata: Record<string, unknown>;
}

/** Formats an item of the timeline in words, with its cause. */
export function lineOf({ type, metadata }: TimelineItem): TimelineLine {
  const say = words.types[type] ?? ((what: string) => `${type} ${what}`);
  const line: TimelineLine = { title: say(subjectOf(type, metadata)), words: wordsOf(type, metadata) };
  const to = targetOf(type, metadata);
  const cause = causeOf(type, metadata);
  return { ...line, ...(to !== undefined && { to }), ...(cause && { cause }) };
}

function subjectOf(type: string, metadata: Record<string, unknown>): string {
  if (type === 'event.triggered') return textIn(metadata, 'eventName') ?? '';
  if (type.startsWith('email.')) return textIn(metadata, 'subject') ?? words.noSubject;
  if (type === 'sms.received') return textIn({ ...(metadata.data as object) }, 'text') ?? '';
  if (type.startsWith('sms.')) return textIn(metadata, 'to') ?? '';
  if (type === 'workflow.step') {
    const name = textIn(metadata, 'stepName') ?? textIn(metadata, 'stepType') ?? '';
    return `${name} · ${textIn(metadata, 'workflowName') ?? ''}`;
  }
  return textIn(metadata, 'workflowName') ?? '';
}

function wordsOf(type: string, metadata: Record<string, unknown>): TimelineLine['words'] {
  const found: TimelineLine['words'] = [];
  const add = (kind: TimelineLine['words'][number]['kind'], key: string) => {
    const value = textIn(metadata, key);
    if (value !== undefined) found.push({ kind, value });
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
  return found;
}

function targetOf(type: string, metadata: Record<string, unknown>): string | undefined {
  const emailId = textIn(metadata, 'emailId');
  if (type.startsWith('email.') && emailId !== undefined) return `/messages/${emailId}`;
  if (type.startsWith('workflow.')) return executionOf(metadata);
  return undefined;
}

/** Returns the cause of an email: a campaign or an automation. Other events have no cause. */
function causeOf(type: string, metadata: Record<string, unknown>): TimelineLine['cause'] {
  if (!type.startsWith('email.')) return undefined;
  const campaignId = textIn(metadata, 'campaignId');
  if (campaignId !== undefined) {
    return { label: textIn(metadata, 'campaignName') ?? words.of.campaign, to: `/campaigns/${campaignId}` };
  }
  const to = executionOf(metadata);
  return to === undefined ? undefined : { label: textIn(metadata, 'workflowName') ?? words.of.automation, to };
}

/** Returns the id of the execution that the event belongs to. */
function executionOf(metadata: Record<string, unknown>): string | undefined {
  const workflowId = textIn(metadata, 'workflowId');
  const executionId = textIn(metadata, 'executionId');
  return workflowId === undefined || executionId === undefined
    ? undefined
    : `/messages/executions/${workflowId}/${executionId}`;
}

function textIn(metadata: Record<string, unknown>, key: string): string | undefined {
  const value = metadata[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
