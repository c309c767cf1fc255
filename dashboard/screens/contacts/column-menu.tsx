import { Button, Checkbox, Popover, ScrollArea, Stack, Text } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../../api/queries.ts';
import { text } from '../../text/text.ts';
import { STANDARD_COLUMNS } from './columns.ts';

const words = text.contacts.list;
const FRESH_MS = 60_000;

/** Returns the title of a column. */
export function getColumnName(column: string): string {
  const names: Record<string, string> = {
    subscription: words.subscription,
    createdAt: words.created,
    updatedAt: words.updated,
    smsSubscribed: words.sms,
  };
  return names[column] ?? column.replace(/^data\./, '');
}

/** Selects the columns of the list. The menu is hidden on a phone, where the list has fixed columns. */
export function ColumnMenu({ columns, show }: { columns: string[]; show: (name: string, shown: boolean) => void }) {
  return (
    <Popover position="bottom-end" shadow="md" trapFocus withinPortal>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          ml="auto"
          visibleFrom="sm"
          leftSection={<IconColumns3 size={16} aria-hidden />}
        >
          {words.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Choices columns={columns} show={show} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Choices({ columns, show }: { columns: string[]; show: (name: string, shown: boolean) => void }) {
  const fields = useQuery({ ...queryFor('listContactFields'), staleTime: FRESH_MS });
  const custom = (fields.data?.fields ?? []).filter(({ standard }) => !standard).map(({ field }) => field);
  const offered = [...new Set([...STANDARD_COLUMNS, ...columns, ...custom])];
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {words.columnsHelp}
      </Text>
      <ScrollArea.Autosize mah={320} type="auto">
        <Stack gap={8}>
          {offered.map((name) => (
            <Checkbox
              key={name}
              size="sm"
              label={<span style={{ overflowWrap: 'anywhere' }}>{getColumnName(name)}</span>}
              checked={columns.includes(name)}
              onChange={(event) => show(name, event.currentTarget.checked)}
            />
          ))}
        </Stack>
      </ScrollArea.Autosize>
    </Stack>
  );
}
