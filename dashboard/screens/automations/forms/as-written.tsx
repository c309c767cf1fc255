import { Alert, Stack, Text } from '@mantine/core';
import { JsonValue } from '../../../parts/json-editor/json-value.tsx';
import { text } from '../../../text/text.ts';

const t = text.automations;

/** A setting that no form can show completely: shown as JSON and left unchanged. */
export function AsWritten({
  label,
  value,
  onChange,
  error,
  disabled,
}: {
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
  error?: string | undefined;
  disabled: boolean;
}) {
  return (
    <Stack gap={6}>
      <Alert color="yellow" p="xs">
        <Text size="xs">{t.asWritten}</Text>
      </Alert>
      <JsonValue label={label} value={value} onChange={onChange} error={error} disabled={disabled} />
    </Stack>
  );
}
