import { Anchor, Checkbox, SegmentedControl, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { listIn, queryFor, steadyResponseOf } from '../../../api/queries.ts';
import { MailFrame } from '../../../parts/mail-frame.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { text } from '../../../text/text.ts';
import { type FormProps, groupOf, orNone, textOf } from './form.ts';

const t = text.automations;

/** Returns templates, whose names the nodes show. */
export function useTemplates() {
  return useQuery({ ...queryFor('listTemplates', { query: { pageSize: 100 } }), staleTime: 30_000 });
}

export function MailForm({ config, set, faultAt, readOnly }: FormProps) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, 250);
  const named = useTemplates();
  // The input shows the chosen name, which is not a search.
  const isChosen = named.data && listIn(named.data).some(({ name }) => name === search);
  const query = { pageSize: 50, ...(search && !isChosen && { search }) };
  const templates = useQuery(steadyResponseOf('listTemplates', { query }));
  const templateId = textOf(config.templateId) || null;
  const from = typeof config.from === 'object' && config.from ? Reflect.get(config.from, 'email') : config.from;
  const recipient = (config.recipient ?? { type: 'CONTACT' }) as { type: string; customEmail?: string };
  const choices = (templates.data ? listIn(templates.data) : []).map(({ id, name }) => ({ value: id, label: name }));
  const known = templateId === null || choices.some(({ value }) => value === templateId);
  return (
    <Stack gap="sm">
      <Select
        label={t.template}
        placeholder={t.chooseTemplate}
        data={known ? choices : [...choices, { value: templateId, label: t.summary.template }]}
        value={templateId}
        onChange={(next) => set({ templateId: next ?? undefined })}
        searchable
        onSearchChange={setTyped}
        filter={({ options }) => options}
        nothingFoundMessage={t.noTemplateFound}
        clearable
        disabled={readOnly}
        error={faultAt('templateId')}
      />
      <TextInput
        label={t.from}
        description={t.fromHint}
        value={textOf(from)}
        onChange={({ currentTarget: { value } }) => set({ from: senderWith(config.from, value) })}
        disabled={readOnly}
        error={faultAt('from')}
      />
      <div>
        <Text size="sm" fw={500} mb={4} id="recipient-label">
          {t.recipient}
        </Text>
        <SegmentedControl
          aria-labelledby="recipient-label"
          size="xs"
          value={recipient.type}
          disabled={readOnly}
          onChange={(type) => set({ recipient: type === 'CONTACT' ? undefined : { type, customEmail: '' } })}
          data={[
            { value: 'CONTACT', label: t.toContact },
            { value: 'CUSTOM', label: t.toCustom },
          ]}
        />
      </div>
      {recipient.type === 'CUSTOM' && (
        <TextInput
          label={t.customEmail}
          description={t.customHint}
          value={recipient.customEmail ?? ''}
          onChange={({ currentTarget: { value } }) => set({ recipient: { ...recipient, customEmail: value } })}
          disabled={readOnly}
          error={faultAt('recipient')}
        />
      )}
      {templateId && <TemplateLook id={templateId} />}
    </Stack>
  );
}

/** Returns the sender with another address and the same name. */
function senderWith(from: unknown, email: string): unknown {
  const stored = groupOf(from);
  return stored && email !== '' ? { ...stored, email } : orNone(email);
}

/** Shows a template as it looks when rendered for no particular contact. */
function TemplateLook({ id }: { id: string }) {
  const template = useQuery({ ...queryFor('getTemplate', { params: { id } }), staleTime: 30_000 });
  const { subject = '', body = '', preheader } = template.data ?? {};
  const asked = queryFor('previewTemplate', { body: { subject, body, preheader } });
  const preview = useQuery({ ...asked, enabled: template.data !== undefined, staleTime: 60_000, retry: false });
  return (
    <div>
      <Text size="sm" fw={500}>
        {t.mailPreview}
      </Text>
      <Anchor component={Link} to={`/templates/${id}`} size="xs">
        {t.editTemplate}
      </Anchor>
      <QueryView of={template} height={200}>
        {() => (
          <QueryView of={preview} height={200}>
            {(shown) => (
              <>
                <Text size="xs" c="dimmed" my={4}>
                  {t.subject}: {shown.subject}
                </Text>
                {shown.preheader && (
                  <Text size="xs" c="dimmed" my={4}>
                    {t.preheader}: {shown.preheader}
                  </Text>
                )}
                <MailFrame html={shown.html} height={300} />
              </>
            )}
          </QueryView>
        )}
      </QueryView>
    </div>
  );
}

export function SmsForm({ config, set, faultAt, readOnly }: FormProps) {
  return (
    <Stack gap="sm">
      <Textarea
        label={t.smsBody}
        description={t.smsHint}
        autosize
        minRows={3}
        maxRows={10}
        value={textOf(config.body)}
        onChange={({ currentTarget: { value } }) => set({ body: orNone(value) })}
        disabled={readOnly}
        error={faultAt('body')}
      />
      <TextInput
        label={t.smsFrom}
        description={t.smsFromHint}
        value={textOf(config.from)}
        onChange={({ currentTarget: { value } }) => set({ from: orNone(value) })}
        disabled={readOnly}
        error={faultAt('from')}
      />
      <Checkbox
        label={t.transactional}
        checked={config.transactional === true}
        disabled={readOnly}
        onChange={({ currentTarget: { checked } }) => set({ transactional: checked || undefined })}
      />
    </Stack>
  );
}
