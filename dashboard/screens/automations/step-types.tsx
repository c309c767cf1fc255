import {
  IconActivity,
  IconArrowsSplit2,
  IconClock,
  IconDoorExit,
  IconGitFork,
  IconMail,
  IconMessage,
  IconUserEdit,
  IconWebhook,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { text } from '../../text/text.ts';
import { getLabel } from '../../text/words.ts';
import { ConditionForm, SPLIT_FIELDS, SplitForm } from './forms/branches.tsx';
import { EXIT_FIELDS, ExitForm, UPDATE_FIELDS, UpdateForm, WEBHOOK_FIELDS, WebhookForm } from './forms/effects.tsx';
import { asText, type FormProps } from './forms/form.ts';
import { EMAIL_FIELDS, EmailForm, SMS_FIELDS, SmsForm } from './forms/messages.tsx';
import { DELAY_FIELDS, DelayForm, WAIT_FIELDS, WaitForm } from './forms/waits.tsx';
import type { AnyStepConfig, Step, StepType } from './graph/graph.ts';
import {
  summarizeCondition,
  summarizeDelay,
  summarizeSplit,
  summarizeUpdate,
  summarizeWait,
  summarizeWebhook,
} from './graph/summaries.ts';

const t = text.automations.summary;

/** The presentation of a step type. `text/words.ts` has its name and description. */
interface StepTypeEntry {
  icon: typeof IconMail;
  /** Gives the icon its color. */
  kind: StepKind;
  /** The config of a new step. The API either accepts it or reports what is missing. */
  firstConfig: AnyStepConfig;
  /** Inputs of the step in the side panel. */
  Form: ComponentType<FormProps>;
  /** Keys of the config that the form shows. The panel shows other keys as JSON. */
  formFields: readonly string[] | 'all';
  /** The config in one line, which the canvas shows below the step's name. Empty if nothing is set. */
  summarize: (config: AnyStepConfig, templateNames?: Map<string, string>) => string;
}
export type StepKind = 'message' | 'wait' | 'branch' | 'effect' | 'end';

/** All step types, in the order in which the dashboard offers them. */
export const STEP_TYPES: Record<StepType, StepTypeEntry> = {
  SEND_EMAIL: {
    icon: IconMail,
    kind: 'message',
    firstConfig: {},
    Form: EmailForm,
    formFields: EMAIL_FIELDS,
    summarize: ({ templateId }, names) => names?.get(asText(templateId)) ?? (templateId ? t.template : t.noTemplate),
  },
  SEND_SMS: {
    icon: IconMessage,
    kind: 'message',
    firstConfig: {},
    Form: SmsForm,
    formFields: SMS_FIELDS,
    summarize: ({ body }) => asText(body) || t.noText,
  },
  DELAY: {
    icon: IconClock,
    kind: 'wait',
    firstConfig: { amount: 1, unit: 'days' },
    Form: DelayForm,
    formFields: DELAY_FIELDS,
    summarize: summarizeDelay,
  },
  WAIT_FOR_EVENT: {
    icon: IconActivity,
    kind: 'wait',
    firstConfig: { eventName: 'order.paid', timeout: 86_400 },
    Form: WaitForm,
    formFields: WAIT_FIELDS,
    summarize: summarizeWait,
  },
  CONDITION: {
    icon: IconGitFork,
    kind: 'branch',
    firstConfig: { logic: 'AND', groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }] },
    Form: ConditionForm,
    formFields: 'all',
    summarize: summarizeCondition,
  },
  SPLIT: {
    icon: IconArrowsSplit2,
    kind: 'branch',
    firstConfig: {
      branches: [
        { name: 'A', weight: 1 },
        { name: 'B', weight: 1 },
      ],
    },
    Form: SplitForm,
    formFields: SPLIT_FIELDS,
    summarize: summarizeSplit,
  },
  WEBHOOK: {
    icon: IconWebhook,
    kind: 'effect',
    firstConfig: { url: 'https://', method: 'POST', onFailure: 'CONTINUE' },
    Form: WebhookForm,
    formFields: WEBHOOK_FIELDS,
    summarize: summarizeWebhook,
  },
  UPDATE_CONTACT: {
    icon: IconUserEdit,
    kind: 'effect',
    firstConfig: { updates: {} },
    Form: UpdateForm,
    formFields: UPDATE_FIELDS,
    summarize: summarizeUpdate,
  },
  EXIT: {
    icon: IconDoorExit,
    kind: 'end',
    firstConfig: {},
    Form: ExitForm,
    formFields: EXIT_FIELDS,
    summarize: ({ reason }) => asText(reason),
  },
};

/** Returns a new step with a temporary id, until the API gives it an id. */
export function newStep(type: StepType): Step {
  const config = structuredClone(STEP_TYPES[type].firstConfig);
  return { id: `new-${crypto.randomUUID()}`, type, name: getLabel('step', type), config, position: null };
}

/** Summarizes a step in one line. Empty if nothing is set. If the name already says so, returns the step's type. */
export function summarizeStep(
  { type, config, name = '' }: Pick<Step, 'type' | 'config'> & { name?: string },
  templates?: Map<string, string>,
): string {
  const line = STEP_TYPES[type].summarize(config, templates);
  return line !== '' && name.toLowerCase().includes(line.toLowerCase()) ? getLabel('step', type) : line;
}
