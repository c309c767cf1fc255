import { Alert, Button, Group, Stack, Stepper, Text } from '@mantine/core';
import { useState } from 'react';
import { PageHead } from '../../../parts/page-head.tsx';
import { text } from '../../../text/text.ts';
import { DropFile } from './drop-file.tsx';
import { TryOut } from './try-out.tsx';

const words = text.contacts.import;

/** Imports a file: select it, map its columns, check the preview, and start the import. */
export function ImportContacts() {
  const [file, setFile] = useState<File>();
  return (
    <>
      <PageHead title={words.title} back={{ to: '/contacts', label: text.contacts.title }} />
      <Stepper active={file ? 1 : 0} size="sm" mb="lg" iconSize={28} allowNextStepsSelect={false}>
        <Stepper.Step label={words.steps.file} />
        <Stepper.Step label={words.steps.columns} />
        <Stepper.Step label={words.steps.import} />
      </Stepper>
      {file ? (
        <Stack>
          <Group justify="space-between" gap="xs">
            <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
              {file.name}
            </Text>
            <Button variant="default" size="xs" onClick={() => setFile(undefined)}>
              {words.another}
            </Button>
          </Group>
          <TryOut key={`${file.name} ${file.size} ${file.lastModified}`} file={file} />
        </Stack>
      ) : (
        <Stack>
          <DropFile onFile={setFile} />
          <Alert color="gray">
            <Text size="sm">{words.limits}</Text>
            <Text size="sm">{words.lost}</Text>
          </Alert>
        </Stack>
      )}
    </>
  );
}
