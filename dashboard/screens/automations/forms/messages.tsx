import { Button, Checkbox, Group, SegmentedControl, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { getRows, listQueryFor, queryFor } from '../../../api/queries.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { ScaledFrame } from '../../../parts/email-editor/scaled-frame.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { text } from '../../../text/text.ts';
import { SendTest } from '../../templates/send-test.tsx';
import { type Template, toTemplateForm } from '../../templates/template-fields.ts';
import { asObject, asText, type FormProps, undefinedIfEmpty } from './form.ts';
import classes from './messages.module.css';

const t = text.automations;

/** Returns the first 100 templates. The nodes of the canvas show their names. */
export function useTemplates() {
  return useQuery({ ...queryFor('listTemplates', { query: { pageSize: 100 } }), staleTime: 30_000 });
}

/** The fields of a step's config that `EmailForm` shows. */
export const EMAIL_FIELDS = ['templateId', 'from', 'recipient'];

export function EmailForm({ config, set, faultAt, readOnly }: FormProps) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, 250);
  const allTemplates = useTemplates();
  // While the input shows the name of the chosen template, its text is not a search.
  const isChosen = allTemplates.data && getRows(allTemplates.data).some(({ name }) => name === search);
  const query = { pageSize: 50, ...(search && !isChosen && { search }) };
  const templates = useQuery(listQueryFor('listTemplates', { query }));
  const templateId = asText(config.templateId) || null;
  const from = typeof config.from === 'object' && config.from ? Reflect.get(config.from, 'email') : config.from;
  const recipient = (config.recipient ?? { type: 'CONTACT' }) as { type: string; customEmail?: string };
  const choices = (templates.data ? getRows(templates.data) : []).map(({ id, name }) => ({ value: id, label: name }));
  const isListed = templateId === null || choices.some(({ value }) => value === templateId);
  const template = useQuery({
    ...queryFor('getTemplate', { params: { id: templateId ?? '' } }),
    enabled: templateId !== null,
    staleTime: 30_000,
  });
  return (
    <Stack gap="sm">
      <Select
        label={t.template}
        placeholder={t.chooseTemplate}
        data={
          isListed ? choices : [...choices, { value: templateId, label: template.data?.name ?? t.summary.template }]
        }
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
      {templateId && (
        <QueryView of={template} height={PREVIEW_HEIGHT}>
          {(loaded) => <TemplatePreview template={loaded} />}
        </QueryView>
      )}
      <TextInput
        label={t.from}
        description={t.fromHint}
        value={asText(from)}
        onChange={({ currentTarget: { value } }) => set({ from: changeSenderAddress(config.from, value) })}
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
    </Stack>
  );
}

/** Returns the sender with another address and the same name. */
function changeSenderAddress(from: unknown, email: string): unknown {
  const stored = asObject(from);
  return stored && email !== '' ? { ...stored, email } : undefinedIfEmpty(email);
}

/** The height of the email preview in the panel, in pixels. */
const PREVIEW_HEIGHT = 168;
/** The width of the screen that the preview shows, in pixels. */
const PREVIEW_SCREEN = 640;

/** Shows a template with its subject, rendered without a contact. */
function TemplatePreview({ template }: { template: Template }) {
  const { id, subject, body, preheader } = template;
  const [isTestOpen, testDialog] = useDisclosure();
  const previewQuery = queryFor('previewTemplate', { body: { subject, body, preheader } });
  const preview = useQuery({ ...previewQuery, staleTime: 60_000, retry: false });
  return (
    <Stack gap="sm" component="section" aria-label={t.emailPreview}>
      <QueryView of={preview} height={PREVIEW_HEIGHT}>
        {(rendered) => (
          <>
            <ScaledFrame html={rendered.html} screen={PREVIEW_SCREEN} height={PREVIEW_HEIGHT} title={t.emailPreview} />
            <dl className={classes.facts}>
              <dt>{t.subject}</dt>
              <dd>{rendered.subject}</dd>
              {rendered.preheader && (
                <>
                  <dt>{t.preheader}</dt>
                  <dd>{rendered.preheader}</dd>
                </>
              )}
            </dl>
          </>
        )}
      </QueryView>
      <Group grow gap="xs">
        <Button variant="default" component={Link} to={`/templates/${id}`}>
          {t.editEmail}
        </Button>
        <ActionButton
          needs="email:send"
          variant="default"
          whyNot={template.from ? undefined : text.templates.testNoFrom}
          onClick={testDialog.open}
        >
          {text.campaigns.test}
        </ActionButton>
      </Group>
      <SendTest fields={toTemplateForm(template)} opened={isTestOpen} onClose={testDialog.close} />
    </Stack>
  );
}

/** The fields of a step's config that `SmsForm` shows. */
export const SMS_FIELDS = ['body', 'from', 'transactional'];

export function SmsForm({ config, set, faultAt, readOnly }: FormProps) {
  return (
    <Stack gap="sm">
      <Textarea
        label={t.smsBody}
        description={t.smsHint}
        autosize
        minRows={3}
        maxRows={10}
        value={asText(config.body)}
        onChange={({ currentTarget: { value } }) => set({ body: undefinedIfEmpty(value) })}
        disabled={readOnly}
        error={faultAt('body')}
      />
      <TextInput
        label={t.smsFrom}
        description={t.smsFromHint}
        value={asText(config.from)}
        onChange={({ currentTarget: { value } }) => set({ from: undefinedIfEmpty(value) })}
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
