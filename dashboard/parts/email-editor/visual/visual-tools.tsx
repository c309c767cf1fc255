import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { IconBold, IconItalic, IconLink, IconUnderline } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { text } from '../../../text/text.ts';

/** Tools for the selection in the email. */
export function VisualTools({
  canWrap,
  onWrap,
}: {
  canWrap: boolean;
  onWrap: (before: string, after: string) => void;
}) {
  return (
    <Group gap={4} role="toolbar" aria-label={text.emailEditor.tools}>
      <Tool label={text.emailEditor.bold} isOff={!canWrap} onClick={() => onWrap('<strong>', '</strong>')}>
        <IconBold size={16} />
      </Tool>
      <Tool label={text.emailEditor.italic} isOff={!canWrap} onClick={() => onWrap('<em>', '</em>')}>
        <IconItalic size={16} />
      </Tool>
      <Tool label={text.emailEditor.underline} isOff={!canWrap} onClick={() => onWrap('<u>', '</u>')}>
        <IconUnderline size={16} />
      </Tool>
      <Tool label={text.emailEditor.link} isOff={!canWrap} onClick={() => onWrap('<a href="https://">', '</a>')}>
        <IconLink size={16} />
      </Tool>
    </Group>
  );
}

function Tool({
  label,
  isOff,
  onClick,
  children,
}: {
  label: string;
  isOff: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={isOff} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
