import { Button, FileButton, Grid, List, Paper, Stack, Text, Title } from '@mantine/core';
import { IconFileSpreadsheet } from '@tabler/icons-react';
import { type DragEvent, useState } from 'react';
import { ActionButton, useMissingPermissionText } from '../../../parts/action-button.tsx';
import { CardSection } from '../../../parts/card-section.tsx';
import { ERROR_TEXT } from '../../../parts/tones.ts';
import { text } from '../../../text/text.ts';
import classes from './import.module.css';

const words = text.contacts.import;
/** The API's size limit of a file. */
const MAX_BYTES = 5 * 1024 * 1024;

/** Accepts a CSV file that is dropped or selected, and names the requirements. */
export function DropFile({ onFile }: { onFile: (file: File) => void }) {
  const whyNot = useMissingPermissionText('contacts:edit');
  const [over, setOver] = useState(false);
  const [tooLarge, setTooLarge] = useState(false);
  const acceptFile = (file: File | null | undefined) => {
    if (!file || whyNot) return;
    setTooLarge(file.size > MAX_BYTES);
    if (file.size <= MAX_BYTES) onFile(file);
  };
  const drag = (event: DragEvent, isOver: boolean) => {
    event.preventDefault();
    setOver(isOver);
  };
  return (
    <Grid gutter="lg">
      <Grid.Col span={{ base: 12, md: 7.5 }}>
        <Paper
          className={classes.drop}
          data-over={over || undefined}
          onDragOver={(event) => drag(event, true)}
          onDragLeave={(event) => drag(event, false)}
          onDrop={(event) => {
            drag(event, false);
            acceptFile(event.dataTransfer.files[0]);
          }}
        >
          <IconFileSpreadsheet size={40} stroke={1.25} color="var(--color-accent)" aria-hidden />
          <Title order={2} size="h4" mt="sm">
            {words.drop}
          </Title>
          <Text size="sm" c="dimmed" mb="md">
            {words.or}
          </Text>
          {whyNot ? (
            <ActionButton needs="contacts:edit">{words.choose}</ActionButton>
          ) : (
            <FileButton accept=".csv,.tsv,.txt,text/csv" onChange={acceptFile}>
              {(props) => (
                <Button variant="filled" {...props}>
                  {words.choose}
                </Button>
              )}
            </FileButton>
          )}
          {tooLarge && (
            <Text size="sm" c={ERROR_TEXT} role="alert" mt="sm">
              {words.tooLarge}
            </Text>
          )}
        </Paper>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4.5 }}>
        <CardSection title={words.about}>
          <Stack className="card-block" gap="sm">
            <List size="sm" spacing={6}>
              {words.limits.map((limit) => (
                <List.Item key={limit}>{limit}</List.Item>
              ))}
            </List>
            <Text size="sm">{words.example}</Text>
            <pre className={classes.example}>{words.exampleCsv}</pre>
          </Stack>
        </CardSection>
      </Grid.Col>
    </Grid>
  );
}
