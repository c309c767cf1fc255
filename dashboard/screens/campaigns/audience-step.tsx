import { Paper, Radio, Select, Stack, Text, Title } from '@mantine/core';
import { ConditionBuilder } from '../../parts/condition-builder/condition-builder.tsx';
import { mapFaultsToRows, NO_FAULTS } from '../../parts/condition-builder/faults.ts';
import { text } from '../../text/text.ts';
import { Preview, usePreview } from '../segments/preview.tsx';
import { AudienceEstimate } from './audience-estimate.tsx';
import type { CampaignDraft } from './campaign-draft.ts';
import { listSegmentChoices, useSegments, useTopics } from './choices.ts';
import type { Editing } from './editing.ts';

const words = text.campaigns;
const TYPES = ['ALL', 'SEGMENT', 'FILTERED'] as const;
const WHAT = { ALL: words.allContactsHelp, SEGMENT: words.segmentHelp, FILTERED: words.conditionHelp };

/** The audience of the campaign. */
export function AudienceStep(editing: Editing) {
  const { draft, change, isReadOnly, fault } = editing;
  const segments = useSegments();
  const topics = useTopics();
  return (
    <Stack>
      <Paper withBorder p="md" component={Stack}>
        <Radio.Group
          label={words.audience}
          value={draft.audienceType}
          onChange={(type) => change({ audienceType: type as CampaignDraft['audienceType'] })}
        >
          <Stack gap="xs" mt="xs">
            {TYPES.map((type) => (
              <Radio
                key={type}
                value={type}
                label={words.audienceTypes[type]}
                description={WHAT[type]}
                disabled={isReadOnly}
              />
            ))}
          </Stack>
        </Radio.Group>
        {draft.audienceType === 'SEGMENT' && (
          <Select
            label={words.segment}
            placeholder={words.segmentChoose}
            required
            searchable
            data={listSegmentChoices(segments)}
            value={draft.segmentId}
            onChange={(segmentId) => change({ segmentId })}
            error={fault('segmentId')}
            readOnly={isReadOnly}
            maw={480}
          />
        )}
        {draft.audienceType === 'FILTERED' ? (
          <Condition {...editing} />
        ) : (
          <AudienceEstimate segmentId={draft.audienceType === 'ALL' ? undefined : draft.segmentId} />
        )}
      </Paper>
      <Paper withBorder p="md">
        <Title order={2} size="h5" mb={4}>
          {words.topic}
        </Title>
        <Text size="sm" c="dimmed" mb="xs">
          {words.topicHelp}
        </Text>
        <Select
          aria-label={words.topic}
          placeholder={words.noTopic}
          data={topics.map(({ id, name }) => ({ value: id, label: name }))}
          value={draft.topicId}
          onChange={(topicId) => change({ topicId })}
          clearable
          clearButtonProps={{ 'aria-label': words.noTopic }}
          readOnly={isReadOnly}
          maw={480}
        />
      </Paper>
    </Stack>
  );
}

function Condition({ draft, change, failure }: Editing) {
  const preview = usePreview(draft.condition, true);
  const refused = failure ? mapFaultsToRows(draft.condition, failure.fields, 'audienceFilter') : NO_FAULTS;
  return (
    <>
      <ConditionBuilder
        value={draft.condition}
        onChange={(condition) => change({ condition })}
        faults={failure ? refused : preview.faults}
      />
      <Preview {...preview} />
    </>
  );
}
