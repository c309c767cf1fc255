import { Select, Stack, TextInput } from '@mantine/core';
import { text } from '../../../text/text.ts';
import { type FormProps, orNone, textOf } from './form.ts';
import { JsonField } from './json-field.tsx';

const t = text.automations;
const choicesOf = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));

export function WebhookForm({ config, set, faultAt, readOnly }: FormProps) {
  return (
    <Stack gap="sm">
      <TextInput
        label={t.url}
        description={t.urlHint}
        value={textOf(config.url)}
        onChange={({ currentTarget: { value } }) => set({ url: value })}
        disabled={readOnly}
        error={faultAt('url')}
      />
      <Select
        label={t.method}
        data={['POST', 'GET', 'PUT', 'PATCH', 'DELETE']}
        allowDeselect={false}
        value={textOf(config.method) || 'POST'}
        onChange={(method) => set({ method: method ?? 'POST' })}
        disabled={readOnly}
      />
      <JsonField
        label={t.headers}
        description={t.headersHint}
        value={config.headers}
        onChange={(headers) => set({ headers })}
        disabled={readOnly}
        error={faultAt('headers')}
      />
      <JsonField
        label={t.body}
        description={t.bodyHint}
        kind="any"
        value={config.body}
        onChange={(body) => set({ body })}
        disabled={readOnly}
        error={faultAt('body')}
      />
      <Select
        label={t.onFailure}
        data={choicesOf(t.onFailureWords)}
        allowDeselect={false}
        value={textOf(config.onFailure) || 'CONTINUE'}
        onChange={(onFailure) => set({ onFailure: onFailure ?? 'CONTINUE' })}
        disabled={readOnly}
      />
    </Stack>
  );
}

export function UpdateForm({ config, set, faultAt, readOnly }: FormProps) {
  const subscribed = typeof config.subscribed === 'boolean' ? String(config.subscribed) : 'keep';
  return (
    <Stack gap="sm">
      <JsonField
        label={t.updates}
        description={t.updatesHint}
        value={config.updates}
        onChange={(updates) => set({ updates: updates ?? {} })}
        disabled={readOnly}
        error={faultAt('updates')}
      />
      <Select
        label={t.subscription}
        data={choicesOf(t.subscriptionWords)}
        allowDeselect={false}
        value={subscribed}
        onChange={(next) => set({ subscribed: next === 'keep' ? undefined : next === 'true' })}
        disabled={readOnly}
      />
    </Stack>
  );
}

export function ExitForm({ config, set, faultAt, readOnly }: FormProps) {
  return (
    <TextInput
      label={t.exitReason}
      description={t.exitReasonHint}
      value={textOf(config.reason)}
      maxLength={200}
      onChange={({ currentTarget: { value } }) => set({ reason: orNone(value) })}
      disabled={readOnly}
      error={faultAt('reason')}
    />
  );
}
