import { ActionIcon, CopyButton as MantineCopyButton, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { text } from '../text/text.ts';

/** A button that copies a text and confirms it. `isSmall` fits into a line of text. */
export function CopyButton({
  value,
  label = text.parts.copy,
  isSmall = false,
}: {
  value: string;
  label?: string;
  isSmall?: boolean;
}) {
  return (
    <MantineCopyButton value={value} timeout={1_500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? text.parts.copied : label}>
          <ActionIcon
            variant="subtle"
            color={copied ? 'green' : 'gray'}
            size={isSmall ? 18 : undefined}
            onClick={copy}
            aria-label={label}
          >
            {copied ? <IconCheck size={isSmall ? 14 : 16} /> : <IconCopy size={isSmall ? 14 : 16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </MantineCopyButton>
  );
}
