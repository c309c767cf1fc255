import { Alert, Stack, Text } from '@mantine/core';
import { JsonValue } from '../../../parts/json-editor/json-value.tsx';
import { text } from '../../../text/text.ts';

const t = text.automations;

/** Shows a setting that the form cannot edit without losing a part of it. The setting is shown as read-only JSON. */
export function RawSetting({
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
        <Text size="xs">{t.tooComplex}</Text>
      </Alert>
      <JsonValue label={label} value={value} onChange={onChange} error={error} disabled={disabled} />
    </Stack>
  );
}
