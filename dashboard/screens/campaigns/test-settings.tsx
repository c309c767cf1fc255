import { Group, NumberInput, Paper, Select, Switch, Text, Title } from '@mantine/core';
import { text } from '../../text/text.ts';
import { NEW_TEST } from './campaign-draft.ts';
import type { Editing } from './editing.ts';

const words = text.campaigns;

/**
 * Settings of an A/B test of variants. With a test, a share of the audience gets the variants first. The rest of the
 * audience then gets the variant that won.
 */
export function TestSettings({ draft: { test }, change, isReadOnly, fault }: Editing) {
  const number = (field: 'share' | 'waitMinutes' | 'minimum', label: string, range: { min: number; max?: number }) =>
    test && (
      <NumberInput
        label={label}
        {...range}
        value={test[field]}
        onChange={(value) => change({ test: { ...test, [field]: Number(value) || 0 } })}
        error={fault(`test.${field}`)}
        readOnly={isReadOnly}
        w={150}
      />
    );
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h5" mb="xs">
        {words.abTitle}
      </Title>
      <Switch
        label={words.ab}
        description={words.abOff}
        checked={test !== undefined}
        disabled={isReadOnly}
        onChange={(event) => change({ test: event.currentTarget.checked ? NEW_TEST : undefined })}
      />
      {test && (
        <>
          <Group mt="sm" align="flex-end">
            {number('share', words.share, { min: 2, max: 100 })}
            <Select
              label={words.metric}
              data={(['opens', 'clicks'] as const).map((value) => ({ value, label: words.metrics[value] }))}
              value={test.metric}
              onChange={(metric) => change({ test: { ...test, metric: metric === 'clicks' ? 'clicks' : 'opens' } })}
              allowDeselect={false}
              readOnly={isReadOnly}
              w={220}
            />
            {number('waitMinutes', words.wait, { min: 0 })}
            {number('minimum', words.minimum, { min: 0 })}
          </Group>
          <Text size="sm" c="dimmed" mt={4}>
            {words.minimumHelp}
          </Text>
        </>
      )}
    </Paper>
  );
}
