import { Table, Text } from '@mantine/core';
import { CardSection } from '../../../parts/card-section.tsx';
import { GrayRows } from '../../../parts/row-table.tsx';
import { Status } from '../../../parts/status.tsx';
import { ERROR_TEXT, NUMBER_TEXT } from '../../../parts/tones.ts';
import { text } from '../../../text/text.ts';
import classes from './import.module.css';
import type { Preview } from './use-preview.ts';

const words = text.contacts.import;
const CELL_MAX_CHARS = 80;
const COLUMNS_MAX = 8;

/** Shows the first rows as they will be stored, with the types of their values. */
export function FirstRows({ preview: { preview, columns } }: { preview: Preview }) {
  const keys = columns.flatMap(({ field }) => (field?.startsWith('data.') ? [field.slice('data.'.length)] : []));
  const visibleKeys = keys.slice(0, COLUMNS_MAX);
  return (
    <CardSection title={words.preview} className={classes.table}>
      <Table.ScrollContainer minWidth={480} type="native" mah={360}>
        <Table aria-label={words.preview}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th miw={56}>{words.row}</Table.Th>
              <Table.Th miw={96}>{words.status}</Table.Th>
              <Table.Th miw={160}>{words.email}</Table.Th>
              {visibleKeys.map((key) => (
                <Table.Th key={key} miw={90}>
                  {key}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {preview.map(({ row, email, data, known, error }) => (
              <Table.Tr key={row}>
                <Table.Td>{row}</Table.Td>
                <Table.Td>
                  <Status tone={error ? 'failed' : known ? 'moving' : 'done'}>
                    {error ? words.bad : known ? words.updates : words.creates}
                  </Status>
                </Table.Td>
                <Table.Td style={CELL}>
                  {email}
                  {error && (
                    <Text size="xs" c={ERROR_TEXT}>
                      {error}
                    </Text>
                  )}
                </Table.Td>
                {visibleKeys.map((key) => (
                  <Table.Td key={key} style={CELL}>
                    <TypedValue value={Object.hasOwn(data, key) ? data[key] : undefined} />
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </CardSection>
  );
}

/** The first rows while the file is checked. */
export function GrayFirstRows() {
  return (
    <CardSection title={words.preview} className={classes.table}>
      <GrayRows columns={COLUMNS} caption={words.preview} count={5} />
    </CardSection>
  );
}

const COLUMNS = [words.row, words.status, words.email].map((name) => ({ name, cell: () => null }));

const CELL = { overflowWrap: 'anywhere', maxWidth: 240 } as const;

function TypedValue({ value }: { value: unknown }) {
  if (value === undefined) return null;
  if (typeof value === 'number')
    return (
      <Text span ff="monospace" size="sm" c={NUMBER_TEXT}>
        {String(value)}
      </Text>
    );
  if (typeof value === 'boolean') return <>{value ? text.contacts.data.yes : text.contacts.data.no}</>;
  const valueText = String(value);
  return <>{valueText.length > CELL_MAX_CHARS ? `${valueText.slice(0, CELL_MAX_CHARS)} …` : valueText}</>;
}
