import { List, Text } from '@mantine/core';
import { text } from '../../../text/text.ts';

const words = text.contacts.import;
const SHOWN = 5;

/** Lists the first rows that are imported although one of their values cannot be used. */
export function ImportWarnings({ warnings }: { warnings: readonly { row: number; email: string; warning: string }[] }) {
  if (warnings.length === 0) return null;
  return (
    <details>
      <Text component="summary" size="sm" mt="sm">
        {words.warnings}
      </Text>
      <List size="sm" mt={4}>
        {warnings.slice(0, SHOWN).map(({ row, email, warning }) => (
          <List.Item key={row} style={{ overflowWrap: 'anywhere' }}>
            {words.warningOf(row, email)} {warning}
          </List.Item>
        ))}
      </List>
    </details>
  );
}

/** Lists the API's notes about columns that it recognized by their names, such as columns of consent. */
export function ImportNotes({ notes = [] }: { notes?: readonly string[] | undefined }) {
  if (notes.length === 0) return null;
  return (
    <List size="sm" mt="sm">
      {notes.map((note) => (
        <List.Item key={note} style={{ overflowWrap: 'anywhere' }}>
          {note}
        </List.Item>
      ))}
    </List>
  );
}
