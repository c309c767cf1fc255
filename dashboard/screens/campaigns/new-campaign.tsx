import { Autocomplete, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { queryFor, useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';
import { isTemplateStart, startOf } from '../../parts/mail-editor/starts.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { text } from '../../text/text.ts';
import { contentChoices, useSenders, useTemplates } from './choices.ts';
import { CAMPAIGN_OPERATIONS } from './words.ts';

const words = text.campaigns;
/** Creates a draft. The steps of the editor fill in the rest. */
export function NewCampaign() {
  const navigate = useNavigate();
  const senders = useSenders();
  const templates = useTemplates();
  const { can } = useSession();
  const [name, setName] = useState('');
  const [typedFrom, setFrom] = useState<string>();
  const [templateId, setTemplate] = useState<string | null>(null);
  const isStart = templateId === null || isTemplateStart(templateId);
  const template = useQuery({
    ...queryFor('getTemplate', { params: { id: templateId ?? '' } }),
    enabled: !isStart && can('templates:view'),
  });
  const write = useWrite('createCampaign', { changes: CAMPAIGN_OPERATIONS });
  const from = typedFrom ?? template.data?.from ?? senders[0] ?? '';
  const isReady = name.trim() !== '' && from !== '' && (isStart || template.data !== undefined);
  const fault = (field: string) => write.error?.fields.find((one) => one.field === field)?.message;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    const { preheader = null, fromName = null } = template.data ?? {};
    const { subject, body } = template.data ?? startOf(isTemplateStart(templateId) ? templateId : 'blank');
    write.mutate(
      { body: { name: name.trim(), from, subject, body, preheader, fromName, audienceType: 'ALL' } },
      {
        onSuccess: ({ data }) =>
          void navigate({ to: '/campaigns/$campaignId/edit', params: { campaignId: data.id }, replace: true }),
      },
    );
  };
  return (
    <>
      <PageHead title={words.new} back={{ to: '/campaigns', label: words.title }} />
      <form onSubmit={submit}>
        <Stack maw={560}>
          <Text c="dimmed">{words.newWhat}</Text>
          <TextInput
            label={words.name}
            description={words.nameWhat}
            required
            maxLength={255}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fault('name')}
            data-autofocus
          />
          <Autocomplete
            label={words.from}
            description={words.fromWhat}
            required
            data={senders}
            value={from}
            onChange={setFrom}
            error={fault('from')}
          />
          <Select
            label={words.template}
            placeholder={words.noTemplate}
            data={contentChoices(templates)}
            value={templateId}
            onChange={setTemplate}
            searchable
            clearable
            clearButtonProps={{ 'aria-label': words.noTemplate }}
          />
          {write.error && !['name', 'from'].some(fault) && <Failed error={write.error} />}
          <Group>
            <ActionButton needs="campaigns:edit" type="submit" loading={write.isPending} disabled={!isReady}>
              {words.create}
            </ActionButton>
          </Group>
        </Stack>
      </form>
    </>
  );
}
