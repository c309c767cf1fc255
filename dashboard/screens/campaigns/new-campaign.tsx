import { Autocomplete, Group, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { queryFor, useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { LayoutGallery } from '../../parts/email-editor/layout-gallery.tsx';
import { createLayoutContent, isTemplateLayout } from '../../parts/email-editor/layouts.ts';
import { Failed } from '../../parts/failed.tsx';
import { FormSection } from '../../parts/form-section.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { text } from '../../text/text.ts';
import { AudienceEstimate } from './audience-estimate.tsx';
import { listSegmentChoices, useSegments, useSenders, useTemplates } from './choices.ts';
import { CAMPAIGN_OPERATIONS } from './words.ts';

const words = text.campaigns;
/** Fields of the API that the form shows with their errors. */
const SHOWN_FIELDS = ['name', 'from', 'segmentId'];

/**
 * Creates a draft: its name, sender, audience and layout. The steps of the editor fill in the rest. If
 * the URL names a segment, the form starts with this segment as the audience.
 */
export function NewCampaign() {
  const navigate = useNavigate();
  const { segment } = useSearch({ from: '/shell/campaigns/new' });
  const senders = useSenders();
  const [name, setName] = useState('');
  const [typedFrom, setFrom] = useState<string>();
  const [audience, setAudience] = useState<Audience>(
    segment ? { audienceType: 'SEGMENT', segmentId: segment } : { audienceType: 'ALL', segmentId: null },
  );
  const { layout, choose, template, content } = useLayout();
  const write = useWrite('createCampaign', { changes: CAMPAIGN_OPERATIONS });
  const from = typedFrom ?? template?.from ?? senders[0] ?? '';
  const whyNot = findMissingField({ name, from, audience });
  const fault = (field: string) => write.error?.fields.find((one) => one.field === field)?.message;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (whyNot !== undefined || !content) return;
    write.mutate(
      { body: { ...content, name: name.trim(), from, ...toAudienceBody(audience) } },
      {
        onSuccess: ({ data }) =>
          void navigate({ to: '/campaigns/$campaignId/edit', params: { campaignId: data.id }, replace: true }),
      },
    );
  };
  return (
    <>
      <PageHead title={words.new} subtitle={words.newHelp} back={{ to: '/campaigns', label: words.title }} />
      <form onSubmit={submit}>
        <FormSection title={words.details} what={words.detailsHelp}>
          <TextInput
            label={words.name}
            placeholder={words.nameHint}
            description={words.nameHelp}
            required
            autoFocus
            maxLength={255}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fault('name')}
          />
          <Autocomplete
            label={words.from}
            description={words.fromHelp}
            required
            data={senders}
            value={from}
            onChange={setFrom}
            error={fault('from')}
          />
        </FormSection>
        <FormSection title={words.audience} what={words.audienceHelp}>
          <AudienceChoice value={audience} onChange={setAudience} error={fault('segmentId')} />
        </FormSection>
        <FormSection title={words.layout} what={words.layoutHelp}>
          <LayoutGallery label={words.layout} templates={useTemplates()} value={layout} onChange={choose} />
        </FormSection>
        {write.error && !SHOWN_FIELDS.some(fault) && <Failed error={write.error} />}
        <Group className="save-bar" justify="space-between">
          <Text size="sm" c="dimmed" flex="1 1 240px">
            {words.nextSteps}
          </Text>
          <ActionButton
            needs="campaigns:edit"
            type="submit"
            loading={write.isPending}
            disabled={!content}
            whyNot={whyNot}
          >
            {words.create}
          </ActionButton>
        </Group>
      </form>
    </>
  );
}

/** Returns the chosen layout, and its content once it is known. */
function useLayout() {
  const { can } = useSession();
  const [layout, choose] = useState('newsletter');
  const isBuiltIn = isTemplateLayout(layout);
  const { data: template } = useQuery({
    ...queryFor('getTemplate', { params: { id: layout } }),
    enabled: !isBuiltIn && can('templates:view'),
  });
  const { subject, body, preheader = null, fromName = null } = template ?? {};
  const templateContent =
    subject !== undefined && body !== undefined ? { subject, body, preheader, fromName } : undefined;
  return { layout, choose, template, content: isBuiltIn ? createLayoutContent(layout) : templateContent };
}

interface Audience {
  audienceType: 'ALL' | 'SEGMENT';
  segmentId: string | null;
}

function findMissingField({
  name,
  from,
  audience,
}: {
  name: string;
  from: string;
  audience: Audience;
}): string | undefined {
  if (name.trim() === '') return words.nameMissing;
  if (from.trim() === '') return words.fromMissing;
  return audience.audienceType === 'SEGMENT' && audience.segmentId === null ? words.segmentMissing : undefined;
}

function toAudienceBody({ audienceType, segmentId }: Audience) {
  return audienceType === 'SEGMENT' && segmentId !== null
    ? { audienceType, segmentId }
    : { audienceType: 'ALL' as const };
}

function AudienceChoice({
  value,
  onChange,
  error,
}: {
  value: Audience;
  onChange: (value: Audience) => void;
  error: string | undefined;
}) {
  const segments = useSegments();
  return (
    <>
      <Radio.Group
        aria-label={words.audience}
        value={value.audienceType}
        onChange={(type) => onChange({ ...value, audienceType: type as Audience['audienceType'] })}
      >
        <Stack gap="xs">
          <Radio value="ALL" label={words.audienceTypes.ALL} description={words.allContactsHelp} />
          <Radio value="SEGMENT" label={words.audienceTypes.SEGMENT} description={words.segmentHelp} />
        </Stack>
      </Radio.Group>
      {value.audienceType === 'SEGMENT' && (
        <Select
          aria-label={words.segment}
          placeholder={words.segmentChoose}
          nothingFoundMessage={words.noSegments}
          searchable
          data={listSegmentChoices(segments)}
          value={value.segmentId}
          onChange={(segmentId) => onChange({ ...value, segmentId })}
          error={error}
        />
      )}
      <AudienceEstimate segmentId={value.audienceType === 'ALL' ? undefined : value.segmentId} />
    </>
  );
}
