import {
  ActionIcon,
  Alert,
  Box,
  Button,
  Divider,
  Group,
  List,
  Paper,
  SegmentedControl,
  Stack,
  Text,
  Tooltip,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { text } from '../../text/text.ts';
import type { EventField } from '../event-data/event-fields.ts';
import { type Builder, BuilderContext, useBuilder } from './builder-context.ts';
import classes from './condition-builder.module.css';
import { type DraftCondition, type DraftFilter, type DraftGroup, newCondition, newFilter, newGroup } from './draft.ts';
import { type ConditionFaults, NO_FAULTS } from './faults.ts';
import { FilterRow } from './filter-row.tsx';
import type { ConditionScope } from './language.ts';
import { useFieldChoices } from './use-field-choices.ts';

const { conditions } = text;

/**
 * Builds a condition of the filter language (docs/filters.md): groups of filters, of which any or all must match. All
 * filters of a group must match. The builder can add one level of groups within a group; deeper nesting is shown and
 * kept. Check `isComplete` before sending; `mapFaultsToRows` maps the API's errors to rows.
 * @param p.scope the place in which the condition is used (`ConditionScope`)
 * @param p.ofEvent known fields of the event's data, for the scope `wait`
 */
export function ConditionBuilder({
  value,
  onChange,
  scope = 'audience',
  ofEvent = NO_FIELDS,
  faults = NO_FAULTS,
}: {
  value: DraftCondition;
  onChange: (value: DraftCondition) => void;
  scope?: ConditionScope;
  ofEvent?: readonly EventField[];
  faults?: ConditionFaults;
}) {
  const choices = useFieldChoices(scope, ofEvent);
  const [freshKey, markFresh] = useState<string>();
  const builder: Builder = useMemo(
    () => ({ scope, choices, faults, freshKey, markFresh }),
    [scope, choices, faults, freshKey],
  );
  return (
    <BuilderContext.Provider value={builder}>
      <Box className={classes.builder}>
        {faults.other.length > 0 && (
          <Alert color="red" mb="sm" role="alert">
            <List size="sm">
              {faults.other.map(({ field, message }) => (
                <List.Item key={`${field} ${message}`}>{message}</List.Item>
              ))}
            </List>
          </Alert>
        )}
        <Groups value={value} onChange={onChange} depth={1} label={conditions.logic} />
      </Box>
    </BuilderContext.Provider>
  );
}

const NO_FIELDS: readonly EventField[] = [];

function Groups({
  value: { logic, groups },
  onChange,
  depth,
  label,
}: {
  value: DraftCondition;
  onChange: (value: DraftCondition) => void;
  depth: number;
  label: string;
}) {
  const { markFresh } = useBuilder();
  const change = (changed: DraftGroup) =>
    onChange({ logic, groups: groups.map((group) => (group.key === changed.key ? changed : group)) });
  const add = () => {
    const group = newGroup();
    markFresh(group.filters[0]?.key ?? '');
    onChange({ logic, groups: [...groups, group] });
  };
  return (
    <Stack gap="sm">
      {groups.length > 1 && (
        <SegmentedControl
          aria-label={label}
          size="xs"
          value={logic}
          onChange={(next) => onChange({ logic: next === 'AND' ? 'AND' : 'OR', groups })}
          data={[
            { value: 'OR', label: conditions.anyGroup },
            { value: 'AND', label: conditions.allGroups },
          ]}
          style={{ alignSelf: 'flex-start' }}
        />
      )}
      {groups.map((group, at) => (
        <Box key={group.key}>
          {at > 0 && <Divider label={logic === 'AND' ? conditions.both : conditions.alternative} mb="sm" />}
          <GroupEditor
            group={group}
            n={at + 1}
            depth={depth}
            onChange={change}
            onRemove={
              groups.length > 1
                ? () => onChange({ logic, groups: groups.filter(({ key }) => key !== group.key) })
                : undefined
            }
          />
        </Box>
      ))}
      <Button variant="default" size="xs" leftSection={<IconPlus size={14} />} onClick={add} style={START}>
        {conditions.addGroup}
      </Button>
    </Stack>
  );
}

const START = { alignSelf: 'flex-start' } as const;

function GroupEditor({
  group,
  n,
  depth,
  onChange,
  onRemove,
}: {
  group: DraftGroup;
  n: number;
  depth: number;
  onChange: (group: DraftGroup) => void;
  onRemove: (() => void) | undefined;
}) {
  const { markFresh } = useBuilder();
  const { filters, nested } = group;
  const change = (changed: DraftFilter) =>
    onChange({ ...group, filters: filters.map((filter) => (filter.key === changed.key ? changed : filter)) });
  const add = () => {
    const filter = newFilter();
    markFresh(filter.key);
    onChange({ ...group, filters: [...filters, filter] });
  };
  const remove = (key: string) => {
    const remaining = filters.filter((filter) => filter.key !== key);
    // An empty group would match all contacts, so removing its last row removes the group.
    if (remaining.length > 0 || nested) onChange({ ...group, filters: remaining });
    else onRemove?.();
  };
  const isOnly = filters.length === 1 && !nested && !onRemove;
  return (
    <Paper withBorder p="sm" component="section" aria-label={conditions.group(n)}>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Text size="sm" c="dimmed">
          {conditions.allOf}
        </Text>
        {onRemove && (
          <Tooltip label={conditions.removeGroup(n)}>
            <ActionIcon variant="subtle" color="gray" aria-label={conditions.removeGroup(n)} onClick={onRemove}>
              <IconTrash size={16} />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
      <Stack gap="sm">
        {filters.map((filter, at) => (
          <FilterRow
            key={filter.key}
            filter={filter}
            n={at + 1}
            onChange={change}
            onRemove={isOnly ? undefined : () => remove(filter.key)}
          />
        ))}
        {nested && (
          <Nested
            value={nested}
            depth={depth + 1}
            onChange={(next) => onChange({ ...group, nested: next })}
            onRemove={() => onChange(withoutNested(group))}
          />
        )}
        <Group gap="xs">
          <Button variant="subtle" size="xs" leftSection={<IconPlus size={14} />} onClick={add}>
            {conditions.addFilter}
          </Button>
          {!nested && depth === 1 && (
            <Button
              variant="subtle"
              color="gray"
              size="xs"
              onClick={() => onChange({ ...group, nested: newCondition() })}
            >
              {conditions.nest}
            </Button>
          )}
        </Group>
      </Stack>
    </Paper>
  );
}

function Nested({
  value,
  depth,
  onChange,
  onRemove,
}: {
  value: DraftCondition;
  depth: number;
  onChange: (value: DraftCondition) => void;
  onRemove: () => void;
}) {
  return (
    <Box pl="sm" style={{ borderInlineStart: '2px solid var(--mantine-color-default-border)' }}>
      <Group justify="space-between" mb="xs">
        <Text size="sm" c="dimmed">
          {conditions.nestedGroup}
        </Text>
        <Button variant="subtle" color="gray" size="compact-xs" onClick={onRemove}>
          {conditions.removeNested}
        </Button>
      </Group>
      <Groups value={value} onChange={onChange} depth={depth} label={conditions.nestedGroup} />
    </Box>
  );
}

/** Removes the nested group. If the group has no other row, it gets an empty one. */
function withoutNested({ key, filters }: DraftGroup): DraftGroup {
  return { key, filters: filters.length > 0 ? filters : [newFilter()] };
}
