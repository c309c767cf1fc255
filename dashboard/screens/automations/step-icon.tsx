import { ThemeIcon } from '@mantine/core';
import {
  IconArrowsSplit2,
  IconBell,
  IconClock,
  IconDoorExit,
  IconGitFork,
  IconMail,
  IconMessage,
  IconUserEdit,
  IconWebhook,
} from '@tabler/icons-react';
import { wordOf } from '../../text/words.ts';
import type { StepType } from './graph/graph.ts';

const ICONS: Record<StepType, typeof IconMail> = {
  SEND_EMAIL: IconMail,
  SEND_SMS: IconMessage,
  DELAY: IconClock,
  WAIT_FOR_EVENT: IconBell,
  CONDITION: IconGitFork,
  SPLIT: IconArrowsSplit2,
  WEBHOOK: IconWebhook,
  UPDATE_CONTACT: IconUserEdit,
  EXIT: IconDoorExit,
};

/** The icon of a step type; the name is beside it. */
export function StepIcon({ type, size = 26 }: { type: StepType; size?: number }) {
  const Icon = ICONS[type];
  return (
    <ThemeIcon variant="light" size={size} color={wordOf('step', type)?.color ?? 'gray'} aria-hidden>
      <Icon size={Math.round(size * 0.62)} stroke={1.7} />
    </ThemeIcon>
  );
}
