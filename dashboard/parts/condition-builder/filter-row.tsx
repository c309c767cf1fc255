import { ActionIcon, Box, Group, Select, Text, Tooltip } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { text } from '../../text/text.ts';
import { useBuilder } from './builder-context.ts';
import { findFieldChoice } from './choices.ts';
import classes from './condition-builder.module.css';
import { type DraftFilter, listOperators, type RowPart, withField, withOperator, withType } from './draft.ts';
import { FieldSelect } from './field-select.tsx';
import { findFieldKind, getOperatorInput, type Operator, type ValueType } from './language.ts';
import { getOperatorLabel } from './sentence.ts';
import { ValueInput } from './value-input.tsx';

const { conditions } = text;
/** Negative operators. The row says that they also match contacts without the field, which users do not expect. */
const NEGATIVE: readonly Operator[] = ['notEquals', 'notContains', 'notIn'];
const TYPES = Object.entries(conditions.types).map(([value, label]) => ({ value, label }));

/** One filter: field, comparison, value. An error of the API is shown below the control of the invalid part. */
export function FilterRow({
  filter,
  n,
  onChange,
  onRemove,
}: {
  filter: DraftFilter;
  /** Number of the row, from 1, for screen readers. */
  n: number;
  onChange: (filter: DraftFilter) => void;
  /** Undefined if the row cannot be removed. */
  onRemove: (() => void) | undefined;
}) {
  const { scope, choices, faults, freshKey } = useBuilder();
  const rowFaults = faults.rows.get(filter.key) ?? [];
  const faultOf = (part: RowPart) => rowFaults.find((fault) => fault.part === part)?.message;
  const kind = findFieldKind(filter.field, filter.operator, scope);
  const fieldChoice = findFieldChoice(filter, choices, scope);
  const knownType = fieldChoice?.type;
  const isFree = kind === 'data' || kind === 'context' || kind === 'payload';
  const need = getOperatorInput(filter.operator);
  // If the type of the field's values is unknown, or the filter's value has another type, the user sees the type and
  // may change it.
  const asksType = isFree && (need === 'one' || need === 'list') && knownType !== filter.type;
  const contactValues = useContactValues(filter, kind === 'data');
  const values = fieldChoice?.values ?? contactValues;
  return (
    <Box className={classes.row} role="group" aria-label={conditions.row(n)}>
      <Box className={classes.field}>
        <FieldSelect
          filter={filter}
          choices={choices}
          scope={scope}
          label={conditions.field(n)}
          error={faultOf('field')}
          autoFocus={freshKey === filter.key}
          onChoose={(choice) => onChange(withField(filter, choice))}
        />
      </Box>
      <Select
        className={classes.operator}
        aria-label={conditions.operator(n)}
        data={listOperators(filter, scope).map((value) => ({ value, label: getOperatorLabel(value, filter.type) }))}
        value={filter.operator}
        onChange={(value) => value && onChange(withOperator(filter, value as Operator))}
        allowDeselect={false}
        disabled={filter.field === ''}
        error={faultOf('operator')}
      />
      <Box className={classes.value}>
        {filter.field !== '' && (
          <Group gap="xs" wrap="nowrap" align="flex-start" grow={!asksType}>
            <Box flex={1} miw={0}>
              <ValueInput
                filter={filter}
                n={n}
                values={values}
                error={faultOf('value')}
                unitError={faultOf('unit')}
                onChange={onChange}
              />
            </Box>
            {asksType && (
              <Tooltip label={conditions.typeWhy} multiline maw={260}>
                <Select
                  aria-label={conditions.type(n)}
                  data={TYPES}
                  value={filter.type}
                  onChange={(type) => type && onChange(withType(filter, type as ValueType, scope))}
                  allowDeselect={false}
                  w={104}
                />
              </Tooltip>
            )}
          </Group>
        )}
        {isFree && NEGATIVE.includes(filter.operator) && (
          <Text size="xs" c="dimmed" mt={2}>
            {conditions.lacksToo}
          </Text>
        )}
      </Box>
      <Tooltip label={conditions.removeFilter(n)}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={conditions.removeFilter(n)}
          onClick={onRemove}
          disabled={onRemove === undefined}
        >
          <IconX size={16} />
        </ActionIcon>
      </Tooltip>
    </Box>
  );
}

/**
 * Returns up to 100 of the most frequent values of a field of contacts' data, if the filter compares with text. Empty
 * for a path below a field, which the API does not list, and if the role may not see contacts.
 */
function useContactValues({ field, operator, type }: DraftFilter, isData: boolean): string[] {
  const { can } = useSession();
  const need = getOperatorInput(operator);
  const hasValues = isData && type === 'text' && (need === 'one' || need === 'list') && can('contacts:view');
  const valuesQuery = queryFor('listContactFieldValues', { params: { field }, query: { limit: 100 } });
  const { data } = useQuery({
    ...valuesQuery,
    enabled: hasValues && field.length <= 105,
    staleTime: 60_000,
    retry: false,
  });
  return hasValues ? [...new Set((data?.values ?? []).filter((value) => typeof value === 'string'))] : [];
}
