import { ActionIcon, Autocomplete, Button, Group, Input, Stack, TextInput, Tooltip } from '@mantine/core';
import { IconPencil, IconPlus, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { text } from '../../../text/text.ts';
import { findHeaderFaults, type HeaderRow, newHeader, toHeaders } from './headers.ts';

const t = text.automations;
const USUAL = ['Authorization', 'X-Api-Key', 'Content-Type', 'Accept', 'User-Agent'];

/** Shows headers, one row each. A secret value is masked, and stays until the user types another one. */
export function HeaderRows({
  first,
  onChange,
  faultAt,
  readOnly,
}: {
  /** Initial rows. */
  first: HeaderRow[];
  onChange: (headers: Record<string, string> | undefined) => void;
  /** The API's error of a header. */
  faultAt: (name: string) => string | undefined;
  readOnly: boolean;
}) {
  const [rows, setRows] = useState(first);
  const faults = findHeaderFaults(rows);
  const write = (next: HeaderRow[]) => {
    setRows(next);
    onChange(toHeaders(next));
  };
  const change = (key: string, changes: Partial<HeaderRow>) =>
    write(rows.map((row) => (row.key === key ? { ...row, ...changes } : row)));
  return (
    <Stack gap={6} role="group" aria-label={t.headers}>
      <div>
        <Input.Label labelElement="div">{t.headers}</Input.Label>
        <Input.Description>{t.headersHint}</Input.Description>
      </div>
      {rows.map(({ key, name, value, storedName }, index) => {
        const fault = faults.get(key);
        return (
          <Group key={key} gap={6} wrap="nowrap" align="flex-start" role="group" aria-label={t.header(index + 1)}>
            <Autocomplete
              aria-label={t.headerName(index + 1)}
              placeholder={t.headerNamePlaceholder}
              data={USUAL}
              value={name}
              onChange={(typed) => change(key, { name: typed.trim() })}
              disabled={readOnly}
              error={fault && fault !== 'renamed' ? t.headerFaults[fault] : undefined}
              style={{ flex: 1, minWidth: 0 }}
            />
            <TextInput
              aria-label={t.headerValue(index + 1)}
              placeholder={t.headerValuePlaceholder}
              value={value}
              maxLength={2_000}
              readOnly={storedName !== undefined}
              variant={storedName === undefined ? 'default' : 'filled'}
              onChange={(event) => change(key, { value: event.currentTarget.value })}
              disabled={readOnly}
              error={fault === 'renamed' ? t.headerFaults.renamed : faultAt(name)}
              rightSection={
                storedName !== undefined && !readOnly && <Rewrite onClick={() => write(rewriteRow(rows, key))} />
              }
              style={{ flex: 1, minWidth: 0 }}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={t.removeHeader(name || String(index + 1))}
              disabled={readOnly}
              onClick={() => write(rows.filter((row) => row.key !== key))}
            >
              <IconX size={16} />
            </ActionIcon>
          </Group>
        );
      })}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        disabled={readOnly}
        onClick={() => write([...rows, newHeader()])}
        style={{ alignSelf: 'flex-start' }}
      >
        {t.addHeader}
      </Button>
    </Stack>
  );
}

function Rewrite({ onClick }: { onClick: () => void }) {
  return (
    <Tooltip label={t.rewriteHeader}>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t.rewriteHeader} onClick={onClick}>
        <IconPencil size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

/** Returns the rows with an input for a new value instead of the stored one. */
function rewriteRow(rows: readonly HeaderRow[], key: string): HeaderRow[] {
  return rows.map(({ storedName, ...row }) => {
    if (row.key === key) return { ...row, value: '' };
    return storedName === undefined ? row : { ...row, storedName };
  });
}
