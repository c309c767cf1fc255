import { Checkbox, Group, Paper, Radio, Select, Stack, TextInput } from '@mantine/core';
import { text } from '../../text/text.ts';
import { NEW_WINDOW, type WindowDraft } from './campaign-draft.ts';
import type { Editing } from './editing.ts';

const words = text.campaigns;

/** The hours in which the campaign may send: the project's, no limit, or its own. */
export function WindowSettings({ draft: { window }, change, isReadOnly, fault }: Editing) {
  const kind = window === undefined ? 'project' : window === null ? 'none' : 'own';
  const choose = (next: string) =>
    change({ window: next === 'project' ? undefined : next === 'none' ? null : NEW_WINDOW });
  return (
    <Paper withBorder p="md">
      <Radio.Group label={words.window} value={kind} onChange={choose}>
        <Stack gap="xs" mt="xs">
          {(['project', 'none', 'own'] as const).map((value) => (
            <Radio key={value} value={value} label={words.windows[value]} disabled={isReadOnly} />
          ))}
        </Stack>
      </Radio.Group>
      {window && <OwnWindow window={window} onChange={(ownWindow) => change({ window: ownWindow })} fault={fault} />}
    </Paper>
  );
}

function OwnWindow({
  window,
  onChange,
  fault,
}: {
  window: WindowDraft;
  onChange: (window: WindowDraft) => void;
  fault: Editing['fault'];
}) {
  const { from, to, days = [], timezone } = window;
  const zone = (next: string | null) => {
    const { timezone: _, ...rest } = window;
    onChange(next === 'contact' ? { ...rest, timezone: 'contact' } : rest);
  };
  return (
    <Stack mt="sm" gap="sm">
      <Group>
        <TextInput
          type="time"
          label={words.windowFrom}
          value={from}
          onChange={(event) => onChange({ ...window, from: event.currentTarget.value })}
          error={fault('sendingWindow.from')}
        />
        <TextInput
          type="time"
          label={words.windowTo}
          value={to}
          onChange={(event) => onChange({ ...window, to: event.currentTarget.value })}
          error={fault('sendingWindow.to')}
        />
        <Select
          label={words.windowZone}
          data={[
            { value: 'project', label: words.windowZones.project },
            { value: 'contact', label: words.windowZones.contact },
            ...(timezone && timezone !== 'contact' ? [{ value: timezone, label: timezone }] : []),
          ]}
          value={timezone ?? 'project'}
          onChange={zone}
          allowDeselect={false}
        />
      </Group>
      <Checkbox.Group
        label={words.windowDays}
        value={days.map(String)}
        onChange={(chosen) => onChange({ ...window, days: chosen.map(Number).sort() })}
        error={fault('sendingWindow.days')}
      >
        <Group mt={4}>
          {words.days.map((day, n) => (
            <Checkbox key={day} value={String(n + 1)} label={day} />
          ))}
        </Group>
      </Checkbox.Group>
    </Stack>
  );
}
