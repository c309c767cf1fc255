import { ActionIcon, Button, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import {
  type DraftCondition,
  isComplete,
  newCondition,
  toCondition,
  toConditionDraft,
} from '../../../parts/condition-builder/draft.ts';
import { mapFaultsToRows } from '../../../parts/condition-builder/faults.ts';
import { parseStoredCondition } from '../../../parts/condition-builder/stored.ts';
import { formatShare } from '../../../parts/count-link.tsx';
import { text } from '../../../text/text.ts';
import { getSplitBranches } from '../graph/graph.ts';
import { ConditionField } from './condition-field.tsx';
import { asObject, type FormProps } from './form.ts';
import { RawSetting } from './raw-setting.tsx';

const t = text.automations;

/**
 * The form of a condition. The canvas uses the condition only when all rows are complete; incomplete rows stay in the
 * form.
 */
export function ConditionForm({ config, replace, faults, faultAt, readOnly }: FormProps) {
  const [draft, setDraft] = useState<DraftCondition | undefined>(() => readStoredCondition(config));
  if (!draft) {
    return (
      <RawSetting
        label={t.conditionLabel}
        value={config}
        onChange={(next) => replace(asObject(next) ?? {})}
        disabled={readOnly}
        error={faultAt('groups', 'logic', 'operator', 'conditions', 'field')}
      />
    );
  }
  const fields = faults.flatMap(({ field, message }) =>
    field === undefined || !field.startsWith('groups') ? [] : [{ field: `config.${field}`, message }],
  );
  const change = (next: DraftCondition) => {
    setDraft(next);
    if (isComplete(next)) replace({ ...toCondition(next) });
  };
  return (
    <ConditionField
      legend={t.conditionLabel}
      readOnly={readOnly}
      value={draft}
      onChange={change}
      scope="step"
      faults={mapFaultsToRows(draft, fields, 'config')}
    />
  );
}

/** Reads the condition of a step. Undefined if the builder would lose part of it. */
function readStoredCondition(config: FormProps['config']): DraftCondition | undefined {
  if (Object.keys(config).length === 0) return newCondition();
  const condition = parseStoredCondition(config);
  return condition && toConditionDraft(condition);
}

/** The fields of a step's config that `SplitForm` shows. */
export const SPLIT_FIELDS = ['branches'];

export function SplitForm({ config, set, faultAt, readOnly }: FormProps) {
  const branches = getSplitBranches(config);
  const totalWeight = branches.reduce((sum, { weight }) => sum + weight, 0);
  const change = (index: number, to: Partial<{ name: string; weight: number }>) =>
    set({ branches: branches.map((branch, at) => (at === index ? { ...branch, ...to } : branch)) });
  return (
    <Stack gap="sm">
      <Text size="sm" fw={500}>
        {t.branches}
      </Text>
      {branches.map(({ name, weight }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the index identifies a branch, because the user may change its name
        <Group key={index} align="flex-end" gap="xs" wrap="nowrap">
          <TextInput
            label={t.branchName}
            value={name}
            onChange={({ currentTarget: { value } }) => change(index, { name: value })}
            disabled={readOnly}
            error={faultAt(`branches.${index}.name`)}
            style={{ flex: 1 }}
          />
          <NumberInput
            label={t.weight}
            value={weight}
            min={0}
            w={84}
            onChange={(value) => change(index, { weight: Number(value) })}
            disabled={readOnly}
            error={faultAt(`branches.${index}.weight`)}
          />
          <Text size="xs" c="dimmed" w={44} pb={10}>
            {formatShare(weight, totalWeight)}
          </Text>
          <ActionIcon
            variant="subtle"
            color="gray"
            mb={4}
            aria-label={t.removeBranch(name)}
            disabled={readOnly || branches.length <= 2}
            onClick={() => set({ branches: branches.filter((_, at) => at !== index) })}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      {faultAt('branches') && (
        <Text size="xs" c="red">
          {faultAt('branches')}
        </Text>
      )}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        disabled={readOnly || branches.length >= 20}
        onClick={() => set({ branches: [...branches, { name: chooseBranchName(branches), weight: 1 }] })}
      >
        {t.addBranch}
      </Button>
    </Stack>
  );
}

function chooseBranchName(branches: { name: string }[]): string {
  const usedNames = new Set(branches.map(({ name }) => name));
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  return [...letters].find((letter) => !usedNames.has(letter)) ?? `Branch ${branches.length + 1}`;
}
