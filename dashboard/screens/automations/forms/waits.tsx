import { Checkbox, Chip, Group, NumberInput, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { text } from '../../../text/text.ts';
import type { AnyStepConfig } from '../graph/graph.ts';
import { EventNameInput } from '../new-automation.tsx';
import { AutomaticReplies } from './automatic-replies.tsx';
import { EventFilters } from './event-filters.tsx';
import { asText, type FormProps, undefinedIfEmpty, withoutFields } from './form.ts';

const t = text.automations;
const UNITS = ['seconds', 'minutes', 'hours', 'days', 'weeks'];
const UNIT_CHOICES = UNITS.map((value) => ({ value, label: t.unitNames[value] ?? value }));
const UNIT_SECONDS: Record<string, number> = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400, weeks: 604_800 };
const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7];
const HOUR = /^\d{1,2}:\d{2}$/;

type DelayType = 'span' | 'hour' | 'instant';
const FIRST_CONFIG: Record<DelayType, AnyStepConfig> = {
  span: { amount: 1, unit: 'days' },
  hour: { until: '09:00' },
  instant: { until: '{{data.renewsAt}}' },
};

function getDelayType({ until, days, timezone }: AnyStepConfig): DelayType {
  if (until === undefined) return 'span';
  return HOUR.test(asText(until)) || days !== undefined || timezone !== undefined ? 'hour' : 'instant';
}

/** The fields of a step's config that `DelayForm` shows. */
export const DELAY_FIELDS = ['amount', 'unit', 'until', 'days', 'timezone'];

export function DelayForm(form: FormProps) {
  const { config, replace, readOnly } = form;
  const delayType = getDelayType(config);
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label={t.waitHow}
        size="xs"
        value={delayType}
        disabled={readOnly}
        onChange={(next) => replace({ ...withoutFields(config, DELAY_FIELDS), ...FIRST_CONFIG[next as DelayType] })}
        data={[
          { value: 'span', label: t.forSpan },
          { value: 'hour', label: t.untilHour },
          { value: 'instant', label: t.untilInstant },
        ]}
      />
      {delayType === 'span' && (
        <Span
          label={t.amount}
          amount={typeof config.amount === 'number' ? config.amount : ''}
          unit={asText(config.unit)}
          onAmount={(amount) => form.set({ amount: amount === '' ? undefined : Number(amount) })}
          onUnit={(unit) => form.set({ unit })}
          readOnly={readOnly}
          amountFault={form.faultAt('amount')}
          unitFault={form.faultAt('unit')}
        />
      )}
      {delayType === 'hour' && <Hour {...form} />}
      {delayType === 'instant' && (
        <TextInput
          label={t.instant}
          description={t.instantHint}
          value={asText(config.until)}
          onChange={({ currentTarget: { value } }) => form.set({ until: value })}
          disabled={readOnly}
          error={form.faultAt('until')}
        />
      )}
    </Stack>
  );
}

/** A length of time, as an amount and its unit. */
function Span({
  label,
  amount,
  unit,
  onAmount,
  onUnit,
  readOnly,
  amountFault,
  unitFault,
}: {
  label: string;
  /** An empty text if there is no amount. */
  amount: number | string;
  unit: string;
  onAmount: (amount: number | string) => void;
  onUnit: (unit: string) => void;
  readOnly: boolean;
  amountFault: string | undefined;
  unitFault?: string | undefined;
}) {
  return (
    <Group grow align="flex-start">
      <NumberInput
        label={label}
        min={0}
        allowNegative={false}
        value={amount}
        onChange={onAmount}
        disabled={readOnly}
        error={amountFault}
      />
      <Select
        label={t.unit}
        data={UNIT_CHOICES}
        allowDeselect={false}
        value={unit}
        onChange={(next) => next !== null && onUnit(next)}
        disabled={readOnly}
        error={unitFault}
      />
    </Group>
  );
}

function Hour({ config, set, faultAt, readOnly }: FormProps) {
  const days = Array.isArray(config.days) ? (config.days as number[]) : ALL_DAYS;
  return (
    <>
      <TextInput
        label={t.hour}
        placeholder="09:00"
        value={asText(config.until)}
        onChange={({ currentTarget: { value } }) => set({ until: value, days })}
        disabled={readOnly}
        error={faultAt('until')}
      />
      <div>
        <Text size="sm" fw={500} mb={4}>
          {t.days}
        </Text>
        <Chip.Group multiple value={days.map(String)} onChange={(chosen) => set({ days: chosen.map(Number).sort() })}>
          <Group gap={4}>
            {t.summary.days.map((name, index) => (
              <Chip key={name} value={String(index + 1)} size="xs" disabled={readOnly}>
                {name}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        {faultAt('days') && (
          <Text size="xs" c="red">
            {faultAt('days')}
          </Text>
        )}
      </div>
      <TextInput
        label={t.zone}
        description={t.zoneHint}
        placeholder="Europe/Berlin"
        value={asText(config.timezone)}
        onChange={({ currentTarget: { value } }) => set({ timezone: undefinedIfEmpty(value) })}
        disabled={readOnly}
        error={faultAt('timezone')}
      />
    </>
  );
}

/** The fields of a step's config that `WaitForm` shows. */
export const WAIT_FIELDS = ['eventName', 'timeout', 'filters', 'includeAutomatic'];

export function WaitForm({ config, set, faultAt, faults, readOnly }: FormProps) {
  const timeout = typeof config.timeout === 'number' ? config.timeout : undefined;
  return (
    <Stack gap="sm">
      <EventNameInput
        label={t.waitEvent}
        value={asText(config.eventName)}
        onChange={(eventName) => set({ eventName })}
        disabled={readOnly}
        error={faultAt('eventName')}
      />
      <AutomaticReplies
        eventName={asText(config.eventName)}
        at="wait"
        checked={config.includeAutomatic === true}
        onChange={(checked) => set({ includeAutomatic: checked || undefined })}
        readOnly={readOnly}
      />
      <Checkbox
        label={t.withTimeout}
        checked={timeout !== undefined}
        disabled={readOnly}
        onChange={({ currentTarget: { checked } }) => set({ timeout: checked ? 86_400 : undefined })}
      />
      {timeout !== undefined && <TimeLimit seconds={timeout} set={set} faultAt={faultAt} readOnly={readOnly} />}
      <EventFilters
        eventName={asText(config.eventName)}
        value={config.filters}
        onChange={(filters) => set({ filters })}
        faults={faults.filter(({ field }) => field === 'filters' || field?.startsWith('filters.'))}
        readOnly={readOnly}
      />
    </Stack>
  );
}

/**
 * The time limit of a wait. The unit stays while the amount is typed: chosen again after each key, it would turn 7 days
 * into weeks.
 */
function TimeLimit({
  seconds,
  set,
  faultAt,
  readOnly,
}: { seconds: number } & Pick<FormProps, 'set' | 'faultAt' | 'readOnly'>) {
  const [span, setSpan] = useState(() => toSpan(seconds));
  const change = (part: Partial<typeof span>) => {
    const next = { ...span, ...part };
    setSpan(next);
    // An empty amount is stored as 0, which the API refuses.
    set({ timeout: Number(next.amount) * getUnitSeconds(next.unit) });
  };
  return (
    <Span
      label={t.timeout}
      {...span}
      onAmount={(amount) => change({ amount })}
      onUnit={(unit) => change({ unit })}
      readOnly={readOnly}
      amountFault={faultAt('timeout')}
    />
  );
}

/** Splits seconds into an amount and the largest unit that divides them. */
function toSpan(seconds: number): { amount: number | string; unit: string } {
  if (seconds === 0) return { amount: '', unit: 'days' };
  const unit = UNITS.findLast((one) => seconds % getUnitSeconds(one) === 0) ?? 'seconds';
  return { amount: seconds / getUnitSeconds(unit), unit };
}

function getUnitSeconds(unit: string): number {
  return UNIT_SECONDS[unit] ?? 1;
}
