import { Button, FileButton, Paper, Stack, Text } from '@mantine/core';
import { IconFileSpreadsheet } from '@tabler/icons-react';
import { type DragEvent, useState } from 'react';
import { ActionButton, useWhyNot } from '../../../parts/action-button.tsx';
import { BAD_TEXT } from '../../../parts/tones.ts';
import { text } from '../../../text/text.ts';

const words = text.contacts.import;
/** The API's size limit of a file. */
const MAX_BYTES = 5 * 1024 * 1024;

/** Accepts a CSV file that is dropped or selected. */
export function DropFile({ onFile }: { onFile: (file: File) => void }) {
  const whyNot = useWhyNot('contacts:edit');
  const [over, setOver] = useState(false);
  const [tooLarge, setTooLarge] = useState(false);
  const take = (file: File | null | undefined) => {
    if (!file || whyNot) return;
    setTooLarge(file.size > MAX_BYTES);
    if (file.size <= MAX_BYTES) onFile(file);
  };
  const drag = (event: DragEvent, isOver: boolean) => {
    event.preventDefault();
    setOver(isOver);
  };
  return (
    <Paper
      withBorder
      p="xl"
      style={{ borderStyle: 'dashed', borderWidth: 2 }}
      bg={over ? 'var(--mantine-primary-color-light)' : undefined}
      onDragOver={(event) => drag(event, true)}
      onDragLeave={(event) => drag(event, false)}
      onDrop={(event) => {
        drag(event, false);
        take(event.dataTransfer.files[0]);
      }}
    >
      <Stack align="center" gap="xs" py="lg">
        <IconFileSpreadsheet size={40} stroke={1.4} aria-hidden />
        <Text fw={600}>{words.drop}</Text>
        <Text size="sm" c="dimmed">
          {words.or}
        </Text>
        {whyNot ? (
          <ActionButton needs="contacts:edit">{words.choose}</ActionButton>
        ) : (
          <FileButton accept=".csv,.tsv,.txt,text/csv" onChange={take}>
            {(props) => <Button {...props}>{words.choose}</Button>}
          </FileButton>
        )}
        {tooLarge && (
          <Text size="sm" c={BAD_TEXT} role="alert">
            {words.tooLarge}
          </Text>
        )}
      </Stack>
    </Paper>
  );
}
