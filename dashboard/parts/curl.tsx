import { Anchor, Box, Code, Group, SegmentedControl, Text } from '@mantine/core';
import { useState } from 'react';
import { text } from '../text/text.ts';
import { AppLink } from './app-link.tsx';
import { CopyButton } from './copy-button.tsx';
import type { CurlRequest } from './curl-request.ts';
import { toTypescriptCall } from './typescript-of.ts';

/**
 * Returns the curl command for a request. The key is a variable of the reader's shell, so the page contains no
 * secret.
 */
export function toCurlCommand({ method, path, body }: CurlRequest, origin = window.location.origin): string {
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoteShell(`${origin}${path}`)}`];
  lines.push(`  -H "Authorization: Bearer $TIDINGS_KEY"`);
  if (body !== undefined) {
    lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quoteShell(JSON.stringify(body))}`);
  }
  return lines.join(' \\\n');
}

/** Quotes any text for a POSIX shell. */
function quoteShell(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

/** Shows a request as code to copy: curl and, if an operation of the API matches, a call of the TypeScript client. */
export function Curl(request: CurlRequest) {
  const [language, setLanguage] = useState<'curl' | 'typescript'>('curl');
  const typescript = toTypescriptCall(request, window.location.origin);
  const code = (language === 'typescript' && typescript) || toCurlCommand(request);
  const { languages } = text.developers.asCode;
  return (
    <Box w="100%">
      <Group justify="space-between" mb={4} wrap="nowrap">
        <Text size="xs" c="dimmed">
          {text.parts.byCurl}
        </Text>
        <Group gap={4} wrap="nowrap">
          {typescript && (
            <SegmentedControl
              size="xs"
              aria-label={text.parts.byCurl}
              value={language}
              onChange={(next) => setLanguage(next as typeof language)}
              data={[
                { value: 'curl', label: languages.curl },
                { value: 'typescript', label: languages.typescript },
              ]}
            />
          )}
          <CopyButton value={code} />
        </Group>
      </Group>
      <Code block tabIndex={0} style={{ overflowX: 'auto' }}>
        {code}
      </Code>
      <Text size="xs" c="dimmed" mt={4}>
        {text.parts.keyHint} <AppLink to="/developers">{text.parts.keys}</AppLink>.{' '}
        <Anchor href="/docs" target="_blank" rel="noreferrer" inherit>
          {text.developers.reference}
        </Anchor>
      </Text>
    </Box>
  );
}
