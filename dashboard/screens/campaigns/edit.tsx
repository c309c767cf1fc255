import { Alert, Button, Group, Stack, Stepper, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { ApiFailure } from '../../api/client.ts';
import { queryFor, useWrite } from '../../api/queries.ts';
import { ActionButton, useWhyNot } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Conflict } from '../../parts/record-edit/conflict.tsx';
import { isStale, type RecordEdit, useRecordEdit } from '../../parts/record-edit/use-record-edit.ts';
import { tellDone } from '../../parts/tell.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { AudienceStep } from './audience-step.tsx';
import { type CampaignDraft, changesOfDraft, draftOfCampaign, hasAudience } from './campaign-draft.ts';
import { fieldAsText } from './campaign-fields.ts';
import { CampaignMenu } from './campaign-menu.tsx';
import { ContentStep } from './content-step.tsx';
import type { Editing } from './editing.ts';
import { ReviewStep } from './review-step.tsx';
import { WhenStep } from './when-step.tsx';
import { CAMPAIGN_OPERATIONS, type Campaign, type CampaignEditorStep, STEPS } from './words.ts';

const words = text.campaigns;

/**
 * The editor of an unsent campaign, in four steps. The step is in the address. A campaign that has started redirects
 * to its report.
 */
export function EditCampaign() {
  const { campaignId } = useParams({ from: '/shell/campaigns/$campaignId/edit' });
  const campaign = useQuery(queryFor('getCampaign', { params: { id: campaignId } }));
  return (
    <QueryView of={campaign}>
      {(found) =>
        found.status === 'DRAFT' || found.status === 'SCHEDULED' ? (
          <Editor key={found.id} campaign={found} />
        ) : (
          <Navigate to="/campaigns/$campaignId" params={{ campaignId }} replace />
        )
      }
    </QueryView>
  );
}

function Editor({ campaign }: { campaign: Campaign }) {
  const { step = 'content' } = useSearch({ from: '/shell/campaigns/$campaignId/edit' });
  const { edit, ...editing } = useEditing(campaign);
  const shown = { content: ContentStep, audience: AudienceStep, review: ReviewStep, when: WhenStep }[step];
  const Shown = shown;
  return (
    <>
      <PageHead
        title={campaign.name}
        back={{ to: '/campaigns', label: words.title }}
        subtitle={
          <Group gap="xs">
            <WordBadge kind="campaign" value={campaign.status} />
            <Text size="sm" aria-live="polite">
              {editing.isUnsaved ? words.unsaved : ''}
              {editing.isUnsaved && !edit.isKept && ` ${text.parts.notKept}`}
            </Text>
          </Group>
        }
        actions={
          <>
            <ActionButton
              needs="campaigns:edit"
              variant="default"
              loading={editing.isSaving}
              disabled={!editing.isUnsaved}
              whyNot={edit.hasConflict ? text.parts.conflict.settleFirst : undefined}
              onClick={() => void editing.save().then((done) => done && tellDone(words.saved))}
            >
              {words.save}
            </ActionButton>
            <CampaignMenu campaign={campaign} />
          </>
        }
      />
      <Stack>
        <Conflict edit={edit} labels={words.fieldNames} show={fieldAsText} />
        {edit.isRestored && (
          <Alert color="blue" p="xs">
            <Group justify="space-between">
              {words.draftKept}
              <Button size="compact-sm" variant="default" onClick={edit.discard}>
                {words.discardDraft}
              </Button>
            </Group>
          </Alert>
        )}
        <Stepper
          active={STEPS.indexOf(step)}
          onStepClick={(n) => editing.goTo(STEPS[n] ?? 'content')}
          size="sm"
          allowNextStepsSelect
          aria-label={words.stepsLabel}
          styles={{ steps: { flexWrap: 'wrap', gap: 8 } }}
        >
          {STEPS.map((name) => (
            <Stepper.Step key={name} label={words.steps[name]} aria-current={name === step ? 'step' : undefined} />
          ))}
        </Stepper>
        {editing.failure && <Failed error={editing.failure} />}
        <Shown {...editing} />
        {step !== 'when' && <Next step={step} editing={editing} />}
      </Stack>
    </>
  );
}

function Next({ step, editing }: { step: Exclude<CampaignEditorStep, 'when'>; editing: Editing }) {
  const next = STEPS[STEPS.indexOf(step) + 1] ?? 'when';
  return (
    <Group>
      <Button onClick={() => editing.goTo(next)} loading={editing.isSaving}>
        {editing.isUnsaved ? words.saveAndNext(words.steps[next]) : words.continueTo(words.steps[next])}
      </Button>
    </Group>
  );
}

function useEditing(campaign: Campaign): Editing & { edit: RecordEdit<CampaignDraft> } {
  const navigate = useNavigate();
  const isReadOnly = useWhyNot('campaigns:edit') !== undefined;
  const saved = useMemo(() => draftOfCampaign(campaign), [campaign]);
  const queries = useQueryClient();
  const write = useWrite('updateCampaign', { changes: CAMPAIGN_OPERATIONS });
  const edit = useRecordEdit({ name: `campaign:${campaign.id}`, stored: saved, isSaving: write.isPending });
  const draft = edit.fields;
  const save = async () => {
    if (edit.hasConflict) return false;
    const sent = hasAudience(draft) ? draft : { ...draft, ...audienceOf(saved) };
    try {
      const body = { ...changesOfDraft(sent, saved), updatedAt: campaign.updatedAt };
      const stored = await write.mutateAsync({ params: { id: campaign.id }, body });
      edit.saved(sent, draftOfCampaign(stored));
      return stored.updatedAt;
    } catch (error) {
      // The editor shows an error of the API. Any other error is a bug of the dashboard.
      if (!(error instanceof ApiFailure)) throw error;
      if (isStale(error)) {
        edit.refuse();
        await queries.invalidateQueries({ queryKey: ['getCampaign'] });
      }
      return false;
    }
  };
  const open = (step: CampaignEditorStep) =>
    void navigate({ to: '/campaigns/$campaignId/edit', params: { campaignId: campaign.id }, search: { step } });
  return {
    campaign,
    draft,
    change: (part) => {
      write.reset();
      edit.change(part);
    },
    save,
    isSaving: write.isPending,
    isUnsaved: edit.isTouched,
    fault: (field) => write.error?.fields.find((one) => one.field === field)?.message,
    failure: isStale(write.error) ? null : write.error,
    isReadOnly,
    goTo: (step) => {
      if (!edit.isTouched || isReadOnly) open(step);
      else void save().then((done) => done && open(step));
    },
    edit,
  };
}

/** An incomplete audience cannot be stored. The stored one stays, and this browser keeps the draft. */
function audienceOf({ audienceType, segmentId, condition }: CampaignDraft) {
  return { audienceType, segmentId, condition };
}
