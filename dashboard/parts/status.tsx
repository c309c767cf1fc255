import { Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

/** The color of a status: green, blue, amber, red or gray. */
export type Tone = 'done' | 'moving' | 'waiting' | 'failed' | 'idle';

/** A status as a dot and a word. Its meaning is shown on hover and focus. */
export function Status({ tone, means, children }: { tone: Tone; means?: string | undefined; children: ReactNode }) {
  return (
    <WithMeaning means={means}>
      <span className="status" data-tone={tone} tabIndex={means ? 0 : undefined}>
        <span className="status-word">{children}</span>
      </span>
    </WithMeaning>
  );
}

/** A property other than a status, such as a type. Its meaning is shown on hover and focus. */
export function Tag({ means, children }: { means?: string | undefined; children: ReactNode }) {
  return (
    <WithMeaning means={means}>
      <span className="tag" tabIndex={means ? 0 : undefined}>
        {children}
      </span>
    </WithMeaning>
  );
}

/** A name as plain text. Its meaning is shown on hover and focus. */
export function Term({ means, children }: { means: string; children: ReactNode }) {
  return (
    <WithMeaning means={means}>
      <Text span inherit tabIndex={0}>
        {children}
      </Text>
    </WithMeaning>
  );
}

function WithMeaning({ means, children }: { means: string | undefined; children: ReactNode }) {
  if (!means) return children;
  return (
    <Tooltip label={means} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      {children}
    </Tooltip>
  );
}
