import { Chip, Group, Input, NumberInput, SegmentedControl, Select, Stack, Switch, TextInput } from '@mantine/core';
import { text } from '../../../text/text.ts';
import type { FieldsProps } from './fields-props.ts';
import type { ProjectDraft, WindowZone } from './project-draft.ts';
import { ZONES } from './zones.ts';

const words = text.settings.project;
const CLOCKS = (['project', 'contact', 'zone'] as const).map((value) => ({ value, label: words.clocksOf[value] }));

/** Time zone, sending window, and the frequency cap of marketing email. */
export function WindowFields({ draft, set, fault }: FieldsProps) {
  return (
    <>
      <Select
        label={words.timezone}
        description={words.timezoneHelp}
        data={ZONES.includes(draft.timezone) ? ZONES : [draft.timezone, ...ZONES]}
        value={draft.timezone}
        onChange={(timezone) => timezone && set({ timezone })}
        searchable
        allowDeselect={false}
        limit={100}
        error={fault('timezone')}
      />
      <Switch
        label={words.window}
        description={words.windowHelp}
        checked={draft.window.isOn}
        onChange={(event) => set({ window: { ...draft.window, isOn: event.currentTarget.checked } })}
      />
      {draft.window.isOn && <Window draft={draft} set={set} fault={fault} />}
      <Switch
        label={words.cap}
        description={words.capHelp}
        checked={draft.cap.isOn}
        onChange={(event) => set({ cap: { ...draft.cap, isOn: event.currentTarget.checked } })}
      />
      {draft.cap.isOn && (
        <Group pl="xl" align="flex-end">
          <NumberInput
            label={words.capMax}
            value={draft.cap.max}
            onChange={(max) => set({ cap: { ...draft.cap, max: toNumberInput(max) } })}
            min={1}
            max={1000}
            allowDecimal={false}
            error={fault('frequencyCap.max')}
            w={120}
          />
          <NumberInput
            label={words.capDays}
            value={draft.cap.days}
            onChange={(days) => set({ cap: { ...draft.cap, days: toNumberInput(days) } })}
            min={1}
            max={365}
            allowDecimal={false}
            error={fault('frequencyCap.days')}
            w={150}
          />
        </Group>
      )}
    </>
  );
}

function Window({ draft, set, fault }: Pick<FieldsProps, 'draft' | 'set' | 'fault'>) {
  const { window } = draft;
  const change = (changes: Partial<ProjectDraft['window']>) => set({ window: { ...window, ...changes } });
  return (
    <Stack pl="xl" gap="sm">
      <Group align="flex-start">
        <TextInput
          label={words.from}
          type="time"
          value={window.from}
          onChange={(event) => change({ from: event.currentTarget.value })}
          error={fault('sendingWindow.from')}
        />
        <TextInput
          label={words.to}
          type="time"
          value={window.to}
          onChange={(event) => change({ to: event.currentTarget.value })}
          description={window.to < window.from ? words.overnight : undefined}
          error={fault('sendingWindow.to')}
        />
      </Group>
      <Input.Wrapper label={words.days} labelElement="div" error={fault('sendingWindow.days')}>
        <Chip.Group multiple value={window.days} onChange={(days) => change({ days })}>
          <Group gap={6} mt={4} role="group" aria-label={words.days}>
            {words.weekdays.map((day, n) => (
              <Chip key={day} value={String(n + 1)} size="xs">
                {day}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </Input.Wrapper>
      <Input.Wrapper label={words.clocks} labelElement="div">
        <SegmentedControl
          aria-label={words.clocks}
          data={CLOCKS}
          value={window.clocks}
          onChange={(clocks) => change({ clocks: clocks as WindowZone })}
          size="xs"
        />
      </Input.Wrapper>
      {window.clocks === 'zone' && (
        <Select
          label={words.zone}
          data={ZONES}
          value={window.zone || draft.timezone}
          onChange={(zone) => zone && change({ zone })}
          searchable
          allowDeselect={false}
          limit={100}
          error={fault('sendingWindow.timezone')}
          maw={360}
        />
      )}
    </Stack>
  );
}

/** Returns the number in a number input, or an empty string if the input has no number. */
export function toNumberInput(value: string | number): number | '' {
  return value === '' || !Number.isFinite(Number(value)) ? '' : Number(value);
}
