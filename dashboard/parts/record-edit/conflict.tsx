import { Alert, Button, Group, Paper, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { text } from '../../text/text.ts';
import type { RecordEdit } from './use-record-edit.ts';

const words = text.parts.conflict;

/**
 * Shows the saved changes of another user beside this user's changes, field by field, and lets the user choose. A
 * choice saves nothing.
 * @param p.labels name of each field on the screen
 * @param p.show a field as text
 */
export function Conflict<Fields extends object>({
  edit,
  labels,
  show,
  title = words.title,
  children,
}: {
  edit: Pick<RecordEdit<Fields>, 'differences' | 'settle'>;
  labels: Record<keyof Fields, string>;
  show: (name: keyof Fields, value: Fields[keyof Fields]) => string;
  title?: string;
  /** Buttons that choose for all fields. */
  children?: ReactNode;
}) {
  const [choices, setChoices] = useState<Partial<Record<keyof Fields, 'mine' | 'theirs'>>>({});
  const { differences } = edit;
  if (differences.length === 0 && children === undefined) return null;
  const isChosen = differences.every((one) => !('mine' in one) || choices[one.name] !== undefined);
  return (
    <Alert color="orange" title={title} role="alert">
      <Stack gap="sm">
        <Text size="sm">{differences.some((one) => 'mine' in one) ? words.choose : words.theirsOnly}</Text>
        {differences.map((one) => (
          <Radio.Group
            key={String(one.name)}
            label={labels[one.name]}
            value={choices[one.name] ?? null}
            onChange={(choice) => setChoices({ ...choices, [one.name]: choice as 'mine' | 'theirs' })}
          >
            <SimpleGrid cols={{ base: 1, sm: 'mine' in one ? 2 : 1 }} mt={4}>
              {'mine' in one && (
                <Side value="mine" label={words.mine} content={show(one.name, one.mine as Fields[keyof Fields])} />
              )}
              <Side
                {...('mine' in one && { value: 'theirs' })}
                label={words.theirs}
                content={show(one.name, one.theirs)}
              />
            </SimpleGrid>
          </Radio.Group>
        ))}
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            disabled={!isChosen}
            onClick={() => {
              edit.settle(selectConflictChoices(choices, differences));
              setChoices({});
            }}
          >
            {words.useChoices}
          </Button>
          {children}
        </Group>
      </Stack>
    </Alert>
  );
}

/** Returns only the choices for fields that both users changed. Other choices may be left from an earlier conflict. */
function selectConflictChoices<Fields extends object>(
  choices: Partial<Record<keyof Fields, 'mine' | 'theirs'>>,
  differences: RecordEdit<Fields>['differences'],
) {
  const selected: typeof choices = {};
  for (const one of differences) if ('mine' in one) selected[one.name] = choices[one.name];
  return selected;
}

function Side({ value, label, content }: { value?: string; label: string; content: string }) {
  return (
    <Paper withBorder p="xs" miw={0}>
      {value === undefined ? (
        <Text size="sm" fw={500}>
          {label}
        </Text>
      ) : (
        <Radio value={value} label={label} />
      )}
      <Text
        component="pre"
        size="sm"
        m={0}
        mt={4}
        mah={200}
        tabIndex={0}
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', overflowY: 'auto', fontFamily: 'inherit' }}
      >
        {content === '' ? text.parts.none : content}
      </Text>
    </Paper>
  );
}
