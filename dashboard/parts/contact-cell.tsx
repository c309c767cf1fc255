import { Box, Group, Text } from '@mantine/core';
import { AppLink } from './app-link.tsx';
import { Avatar } from './avatar.tsx';
import { findContactName } from './contact-name.ts';

/** A contact in a list: its initials, its name if the data has one, and its address, which is the link. */
export function ContactCell({
  id,
  email,
  data = {},
}: {
  id: string;
  email: string;
  /** Undefined if the API's response omits the data. */
  data?: Record<string, unknown> | undefined;
}) {
  const name = findContactName(data);
  return (
    <Group gap={10} wrap="nowrap">
      <Avatar of={email} name={name} />
      <Box miw={0} className="contact-cell">
        {name && (
          <Text span size="sm" fw={500}>
            {name}
          </Text>
        )}
        <AppLink to={`/contacts/${id}`}>{email}</AppLink>
      </Box>
    </Group>
  );
}
