import { ActionIcon, Button, Group, NumberInput, Paper, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { PanelGroup } from '../../parts/editor-frame.tsx';
import { text } from '../../text/text.ts';
import {
  chooseVariantName,
  createFirstVariants,
  createVariant,
  VARIANTS_MAX,
  type VariantDraft,
} from './campaign-draft.ts';
import type { Editing } from './editing.ts';

const words = text.campaigns;

/** The variants of the email, which has no variants or two to five. A variant's own body is edited on the canvas. */
export function Variants({ onOwnBody, ...editing }: Editing & { onOwnBody: (key: string) => void }) {
  const { draft, change, isReadOnly } = editing;
  const { variants } = draft;
  const set = (changed: VariantDraft) =>
    change({ variants: variants.map((one) => (one.key === changed.key ? changed : one)) });
  // A single variant is the same as no variants.
  const remove = (key: string) =>
    change({ variants: variants.length > 2 ? variants.filter((one) => one.key !== key) : [] });
  return (
    <PanelGroup>
      <Title order={2} size="h5">
        {words.variants}
      </Title>
      <Text size="xs" c="dimmed">
        {words.variantsHelp}
      </Text>
      {variants.map((variant, n) => (
        <VariantForm
          key={variant.key}
          n={n}
          variant={variant}
          editing={editing}
          onChange={set}
          onRemove={remove}
          onOwnBody={onOwnBody}
        />
      ))}
      <div>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          disabled={isReadOnly || variants.length >= VARIANTS_MAX}
          onClick={() =>
            change({
              variants:
                variants.length === 0
                  ? createFirstVariants()
                  : [...variants, createVariant(chooseVariantName(variants))],
            })
          }
        >
          {variants.length === 0 ? words.addVariants : words.addVariant}
        </Button>
      </div>
    </PanelGroup>
  );
}

function VariantForm({
  n,
  variant,
  editing: { draft, fault, isReadOnly },
  onChange,
  onRemove,
  onOwnBody,
}: {
  n: number;
  variant: VariantDraft;
  editing: Editing;
  onChange: (variant: VariantDraft) => void;
  onRemove: (key: string) => void;
  onOwnBody: (key: string) => void;
}) {
  const renderField = (name: 'name' | 'subject' | 'preheader' | 'from', label: string, above?: string) => (
    <TextInput
      label={label}
      placeholder={above}
      value={variant[name]}
      onChange={(event) => onChange({ ...variant, [name]: event.currentTarget.value })}
      error={fault(`variants.${n}.${name}`)}
      readOnly={isReadOnly}
    />
  );
  return (
    <Paper withBorder p="sm" component="fieldset" aria-label={`${words.variant} ${variant.name}`}>
      <Group justify="space-between" mb={4}>
        <Title order={3} size="h6">
          {words.variant} {variant.name}
        </Title>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={words.removeVariant(variant.name)}
          onClick={() => onRemove(variant.key)}
          disabled={isReadOnly}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
      <Stack gap="sm">
        {renderField('name', words.variantName)}
        <NumberInput
          label={words.weight}
          description={words.weightHelp}
          min={0.01}
          value={variant.weight}
          onChange={(weight) => onChange({ ...variant, weight: Number(weight) || 1 })}
          error={fault(`variants.${n}.weight`)}
          readOnly={isReadOnly}
        />
        {renderField('subject', words.ownSubject, draft.subject || words.sameAsMain)}
        {renderField('preheader', words.ownPreheader, draft.preheader || words.sameAsMain)}
        {renderField('from', words.ownFrom, draft.from || words.sameAsMain)}
        <Switch
          label={words.ownBody}
          checked={variant.body !== undefined}
          disabled={isReadOnly}
          onChange={({ currentTarget: { checked } }) => {
            onChange({ ...variant, body: checked ? draft.body : undefined });
            onOwnBody(checked ? variant.key : '');
          }}
        />
      </Stack>
    </Paper>
  );
}
