import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { PageHead } from '../../../parts/page-head.tsx';
import { text } from '../../../text/text.ts';
import { DropFile } from './drop-file.tsx';
import { ImportPreview } from './import-preview.tsx';

const words = text.contacts.import;

/** Imports a file: select it, map its columns, check the preview, and start the import. */
export function ImportContacts() {
  const [file, setFile] = useState<File>();
  return (
    <>
      <PageHead
        title={words.title}
        back={{ to: '/contacts', label: text.contacts.title }}
        subtitle={
          file && (
            <Text size="sm" inherit style={{ overflowWrap: 'anywhere' }}>
              {file.name}
            </Text>
          )
        }
        actions={
          file && (
            <Group gap="xs">
              <Button variant="default" onClick={() => setFile(undefined)}>
                {words.another}
              </Button>
            </Group>
          )
        }
      />
      {file ? (
        <ImportPreview key={`${file.name} ${file.size} ${file.lastModified}`} file={file} />
      ) : (
        <DropFile onFile={setFile} />
      )}
    </>
  );
}
