import {
  IconActivity,
  IconArrowsSplit2,
  IconClock,
  IconDoorExit,
  IconFlag,
  IconGitFork,
  IconMail,
  IconMessage,
  IconUserEdit,
  IconWebhook,
} from '@tabler/icons-react';
import type { StepType } from './graph/graph.ts';
import classes from './step-icon.module.css';

type Kind = 'message' | 'wait' | 'branch' | 'effect' | 'end';

/** The icon of each step type and of the trigger. The kind gives its color. */
const ICONS: Record<StepType | 'TRIGGER', [icon: typeof IconMail, kind: Kind]> = {
  TRIGGER: [IconFlag, 'message'],
  SEND_EMAIL: [IconMail, 'message'],
  SEND_SMS: [IconMessage, 'message'],
  DELAY: [IconClock, 'wait'],
  WAIT_FOR_EVENT: [IconActivity, 'wait'],
  CONDITION: [IconGitFork, 'branch'],
  SPLIT: [IconArrowsSplit2, 'branch'],
  WEBHOOK: [IconWebhook, 'effect'],
  UPDATE_CONTACT: [IconUserEdit, 'effect'],
  EXIT: [IconDoorExit, 'end'],
};

/** The icon of a step type; the name is beside it. */
export function StepIcon({ type }: { type: StepType | 'TRIGGER' }) {
  const [Icon, kind] = ICONS[type];
  return (
    <span className={classes.icon} data-kind={kind} aria-hidden>
      <Icon size={16} stroke={1.75} />
    </span>
  );
}
