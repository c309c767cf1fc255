import { Box, Code, Group, Stack, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';

type Records = ResponseOf<'listDomains'>[number]['records'];
const words = text.settings.domains;

/**
 * The DNS records that a domain needs, each with a copy button and whether it was found. It is not a table, so that a
 * phone shows the long values completely.
 */
export function DomainRecords({ records, note, domain }: { records: Records; note: string | null; domain: string }) {
  return (
    <Stack gap="sm">
      {note && <Text size="sm">{note}</Text>}
      <RecordList records={records} domain={domain} />
    </Stack>
  );
}

function RecordList({ records, domain }: { records: Records; domain: string }) {
  if (records.length === 0) return null;
  return (
    <Stack gap="sm" role="list" aria-label={domain}>
      {records.map((record) => (
        <Box key={`${record.purpose} ${record.name}`} role="listitem">
          <Group gap="xs" mb={2}>
            <Text fw={550} size="sm">
              {words.purposes[record.purpose]}
            </Text>
            <Status tone={toneOf(record)}>{record.found ? words.found : words.missing}</Status>
            {!record.found && (
              <Text size="xs" c="dimmed">
                {record.required ? words.required : words.advised}
              </Text>
            )}
          </Group>
          <Line label={record.type} value={record.name} copy={words.copyName} />
          <Line label={words.value} value={record.value} copy={words.copyValue} />
          {record.warning && (
            <Text size="sm" mt={4} c="var(--mantine-color-orange-light-color)">
              {record.warning}
            </Text>
          )}
          {!record.found && record.seen && record.seen.length > 0 && <Seen values={record.seen} />}
        </Box>
      ))}
    </Stack>
  );
}

function Line({ label, value, copy }: { label: string; value: string; copy: string }) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Text size="xs" c="dimmed" w={{ base: 64, sm: 110 }} style={{ flex: 'none' }} mt={6}>
        {label}
      </Text>
      <Code block flex={1} miw={0} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap', padding: '4px 8px' }}>
        {value}
      </Code>
      <CopyButton value={value} label={copy} />
    </Group>
  );
}

/** The values that DNS returns instead. */
function Seen({ values }: { values: string[] }) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" mt={2}>
      <Text size="xs" c="dimmed" w={{ base: 64, sm: 110 }} style={{ flex: 'none' }} mt={6}>
        {words.seen}
      </Text>
      <Code block flex={1} miw={0} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap', padding: '4px 8px' }}>
        {values.join('\n')}
      </Code>
    </Group>
  );
}

function toneOf({ found, required }: Records[number]): Tone {
  if (found) return 'done';
  return required ? 'waiting' : 'idle';
}
