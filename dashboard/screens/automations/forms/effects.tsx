import { Select, Stack, TextInput } from '@mantine/core';
import { DataFields } from '../../../parts/data-fields/data-fields.tsx';
import type { RowType } from '../../../parts/data-fields/rows.ts';
import { JsonValue } from '../../../parts/json-editor/json-value.tsx';
import { text } from '../../../text/text.ts';
import { asObject, asText, type FormProps, undefinedIfEmpty } from './form.ts';
import { HeaderRows } from './header-rows.tsx';
import { toHeaderRows } from './headers.ts';
import { RawSetting } from './raw-setting.tsx';
import { useContactFields, useStepVariables } from './variables.ts';

const t = text.automations;
const choicesOf = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));

/** The fields of a step's config that `WebhookForm` shows. */
export const WEBHOOK_FIELDS = ['url', 'method', 'headers', 'body', 'onFailure'];

export function WebhookForm({ config, set, faultAt, readOnly, eventName }: FormProps) {
  const headers = toHeaderRows(config.headers);
  const variables = useStepVariables(eventName);
  return (
    <Stack gap="sm">
      <TextInput
        label={t.url}
        description={t.urlHint}
        value={asText(config.url)}
        onChange={({ currentTarget: { value } }) => set({ url: value })}
        disabled={readOnly}
        error={faultAt('url')}
      />
      <Select
        label={t.method}
        data={['POST', 'GET', 'PUT', 'PATCH', 'DELETE']}
        allowDeselect={false}
        value={asText(config.method) || 'POST'}
        onChange={(method) => set({ method: method ?? 'POST' })}
        disabled={readOnly}
      />
      {headers ? (
        <HeaderRows
          first={headers}
          onChange={(next) => set({ headers: next })}
          faultAt={(name) => (name === '' ? undefined : faultAt(`headers.${name}`))}
          readOnly={readOnly}
        />
      ) : (
        <RawSetting
          label={t.headers}
          value={config.headers}
          onChange={(next) => set({ headers: next })}
          disabled={readOnly}
          error={faultAt('headers')}
        />
      )}
      <JsonValue
        label={t.body}
        description={t.bodyHint}
        value={config.body}
        variables={variables}
        onChange={(body) => set({ body })}
        disabled={readOnly}
        error={faultAt('body')}
      />
      <Select
        label={t.onFailure}
        data={choicesOf(t.onFailureWords)}
        allowDeselect={false}
        value={asText(config.onFailure) || 'CONTINUE'}
        onChange={(onFailure) => set({ onFailure: onFailure ?? 'CONTINUE' })}
        disabled={readOnly}
      />
    </Stack>
  );
}

const UPDATE_TYPES: readonly RowType[] = ['text', 'number', 'boolean', 'date', 'list', 'variable', 'nothing', 'json'];

/** The fields of a step's config that `UpdateForm` shows. */
export const UPDATE_FIELDS = ['updates', 'subscribed'];

export function UpdateForm({ config, set, faultAt, readOnly, eventName }: FormProps) {
  const subscribed = typeof config.subscribed === 'boolean' ? String(config.subscribed) : 'keep';
  const updates = config.updates === undefined ? {} : asObject(config.updates);
  const knownFields = useContactFields();
  const variables = useStepVariables(eventName);
  return (
    <Stack gap="sm">
      {updates ? (
        <DataFields
          label={t.updates}
          description={t.updatesHint}
          value={updates}
          onChange={(next) => set({ updates: next })}
          types={UPDATE_TYPES}
          known={knownFields}
          variables={variables}
          disabled={readOnly}
          error={faultAt('updates')}
        />
      ) : (
        <RawSetting
          label={t.updates}
          value={config.updates}
          onChange={(next) => set({ updates: next ?? {} })}
          disabled={readOnly}
          error={faultAt('updates')}
        />
      )}
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

/** The fields of a step's config that `ExitForm` shows. */
export const EXIT_FIELDS = ['reason'];

export function ExitForm({ config, set, faultAt, readOnly }: FormProps) {
  return (
    <TextInput
      label={t.exitReason}
      description={t.exitReasonHint}
      value={asText(config.reason)}
      maxLength={200}
      onChange={({ currentTarget: { value } }) => set({ reason: undefinedIfEmpty(value) })}
      disabled={readOnly}
      error={faultAt('reason')}
    />
  );
}
